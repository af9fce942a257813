"""A tree with a service that runs out of it, on a machine with real systemd (design, part 8)."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from tests.integration.host.systemd.node import DAEMON, Node, done, service, unit
from tests.integration.host.tree.artifacts import TIME, Made, Tree, made
from tests.integration.lab.machine import LabMachine
from tests.integration.lab.watch import eventually

LAYOUT = "/srv/registry"
PLACE = "/srv/site"
STARTED = "/run/started"
UNIT = DAEMON.replace("/bin/sleep 1000", f"{PLACE}/bin/run")


def of_version(number: int) -> Tree:
    program = f"#!/bin/sh\ncat {PLACE}/version >>{STARTED}\nexec sleep 1000\n"
    return {"bin": None, "bin/run*": program, "version": f"{number}\n", f"only-{number}/a": "a\n"}


ONE, TWO = made(of_version(1)), made(of_version(2))


@pytest.fixture
def site(node: Node) -> Iterator[Node]:
    """A machine with a registry that is a folder, and an empty directory where the tree is to be."""
    put_into(node.machine, ONE, TWO)
    node.machine.run(["sh", "-c", f"mkdir {PLACE} && chown 1000:1001 {PLACE} && chmod 2710 {PLACE}"])
    yield node
    node.told()
    node.machine.run(["rm", "-rf", LAYOUT, PLACE, STARTED])


def put_into(machine: LabMachine, *artifacts: Made) -> None:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for digest, content in {d: c for one in artifacts for d, c in one.blobs.items()}.items():
            info = tarfile.TarInfo(f"blobs/sha256/{digest.removeprefix('sha256:')}")
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    machine.run(["mkdir", "-p", LAYOUT])
    machine.run(["tar", "-x", "-C", LAYOUT], input=packed.getvalue())


def web(artifact: Made) -> list[Mapping[str, Any]]:
    return [
        {"kind": "tree", "path": PLACE, "artifact": artifact.artifact, "from": f"oci:{LAYOUT}"},
        unit("site", UNIT),
        service("site", restart_on=[PLACE]),
    ]


def there(machine: LabMachine) -> dict[str, str]:
    """What is in the tree, each with its mode and owners."""
    said = machine.run(["find", PLACE, "-printf", "%P:%m %U:%G\n"]).stdout
    return dict(line.split(":", 1) for line in said.splitlines())


def is_started(node: Node, *versions: int) -> bool:
    expected = "".join(f"{number}\n" for number in versions)
    return node.machine.run(["cat", STARTED], check=False).stdout == expected


def nothing_lies_about(machine: LabMachine) -> None:
    kept = ["find", "/var/lib/mesh-host/artifacts", "/var/lib/mesh-host/trees", "/srv"]
    said = machine.run([*kept, "-mindepth", "1", "-not", "-path", f"{LAYOUT}*"]).stdout.splitlines()
    assert said == [PLACE]


def test_its_service_runs_out_of_it_and_all_comes_back_when_it_goes(site: Node) -> None:
    said = site.told(*web(ONE))
    assert said["state"] == "applied", said
    assert done(said) == {
        f"path:{PLACE}": ("make", "done"),
        "path:/etc/systemd/system/site.service": ("make", "done"),
        "service:site": ("make", "done"),
    }
    assert site.state("site") == ("enabled", "active")
    eventually(lambda: is_started(site, 1))
    assert there(site.machine) == {
        "": "755 0:0",
        "bin": "755 0:0",
        "bin/run": "755 0:0",
        "only-1": "755 0:0",
        "only-1/a": "644 0:0",
        "version": "644 0:0",
    }
    assert site.machine.run(["stat", "-c", "%Y", f"{PLACE}/version"]).stdout == f"{TIME}\n"

    said = site.told()
    assert done(said)[f"path:{PLACE}"] == ("restore", "done")
    assert said["owned"] == {}
    assert there(site.machine) == {"": "2710 1000:1001"}
    assert site.shown("site", "LoadState", "ActiveState") == ["not-found", "inactive"]
    nothing_lies_about(site.machine)


def test_its_service_is_restarted_by_another_artifact_and_by_nothing_that_is_added(site: Node) -> None:
    site.told(*web(ONE))
    eventually(lambda: is_started(site, 1))
    invocation = site.shown("site", "InvocationID")
    site.machine.write(f"{PLACE}/uploads/theirs", b"theirs\n", mode=0o600, uid=1000, gid=1001)
    assert site.told(*web(ONE))["changed"] is False
    assert site.shown("site", "InvocationID") == invocation

    assert done(site.told(*web(TWO))) == {
        f"path:{PLACE}": ("change", "done"),
        "service:site": ("refresh", "done"),
    }
    eventually(lambda: is_started(site, 1, 2))
    assert site.shown("site", "InvocationID") != invocation
    paths = there(site.machine)
    assert "only-1" not in paths
    assert paths["only-2/a"] == "644 0:0"
    assert paths["uploads/theirs"] == "600 1000:1001"


def test_its_service_is_restarted_once_what_somebody_edited_is_put_back(site: Node) -> None:
    site.told(*web(ONE))
    eventually(lambda: is_started(site, 1))
    site.machine.write(f"{PLACE}/version", b"by hand\n")
    said = site.told(*web(ONE))
    assert done(said) == {f"path:{PLACE}": ("put-back", "done"), "service:site": ("refresh", "done")}
    eventually(lambda: is_started(site, 1, 1))
    assert site.told(*web(ONE))["changed"] is False
    assert is_started(site, 1, 1)


def test_what_cannot_be_had_leaves_the_service_alone(site: Node) -> None:
    site.told(*web(ONE))
    eventually(lambda: is_started(site, 1))
    invocation = site.shown("site", "InvocationID")
    paths = there(site.machine)
    place = f"{LAYOUT}/blobs/sha256/{TWO.layer.removeprefix('sha256:')}"
    site.machine.write(place, b"not what its digest says")
    said = site.told(*web(TWO))
    assert said["state"] == "failed"
    assert there(site.machine) == paths
    assert site.shown("site", "InvocationID", "ActiveState") == [*invocation, "active"]
    put_into(site.machine, TWO)
    assert done(site.told(*web(TWO)))["service:site"] == ("refresh", "done")
    eventually(lambda: is_started(site, 1, 2))
