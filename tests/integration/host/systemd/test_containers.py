"""Containers on a machine with real systemd and Podman (design, hazards: the machine).

> quadlets need Podman 4.4; Debian 12 has 4.3.1: a plain systemd unit that runs `podman run` by digest

The image is built in the machine, of nothing but a static busybox. Podman's cgroups are off there: a machine
of the lab may not raise the limits that its runtime raises for them.
"""

import os
import shutil
from pathlib import Path

import pytest

from tests.integration.host.systemd.node import Node, done, file, why
from tests.integration.lab.machine import LabMachine

BUSYBOX = Path("/bin/busybox")
STORAGE = b'[storage]\ndriver = "vfs"\nrunroot = "/run/containers"\ngraphroot = "/srv/containers"\n'
CONTAINERS = b'[containers]\ncgroups = "disabled"\n'
CONTAINERFILE = b"FROM scratch\nCOPY busybox /bin/busybox\nCOPY index.html /www/index.html\n"


@pytest.fixture(scope="module")
def image(machine: LabMachine) -> str:
    """The image, by its digest."""
    lacking = [name for name in ("podman", "busybox") if shutil.which(name) is None]
    if lacking:
        why = f"containers need {' and '.join(lacking)} (sh scripts/system_packages.sh)"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)
    machine.write("/etc/containers/storage.conf", STORAGE)
    machine.write("/etc/containers/containers.conf", CONTAINERS)
    return built(machine, "first")


def built(machine: LabMachine, says: str) -> str:
    machine.write("/srv/image/busybox", BUSYBOX.read_bytes(), mode=0o755)
    machine.write("/srv/image/index.html", says.encode())
    machine.write("/srv/image/Containerfile", CONTAINERFILE)
    machine.run(["podman", "build", "--quiet", "--tag", "localhost/lab/web", "/srv/image"])
    shown = ["podman", "image", "inspect", "--format", "{{.Digest}}", "localhost/lab/web"]
    return f"localhost/lab/web@{machine.run(shown).stdout.strip()}"


def web(image: str, port: int = 8085, **attributes: object) -> dict[str, object]:
    # As process 1 of the container, what has no trap for it would not hear that it is to end.
    script = f"trap exit TERM; busybox httpd -f -p 127.0.0.1:{port} -h /www & wait"
    run = ["/bin/busybox", "sh", "-c", script]
    return {
        "kind": "container",
        "name": "web",
        "image": image,
        "command": run,
        "network": "host",
        **attributes,
    }


def check(contains: str, port: int = 8085) -> dict[str, object]:
    return {"kind": "http", "url": f"http://127.0.0.1:{port}/", "contains": contains}


def containers(node: Node) -> list[str]:
    return node.machine.run(
        ["podman", "ps", "--all", "--format", "{{.Names}} {{.Image}}"]
    ).stdout.splitlines()


def test_it_runs_and_is_removed_with_its_unit(node: Node, image: str) -> None:
    said = node.told(web(image), checks=[check("first"), {"kind": "service", "name": "mesh-web"}])
    assert said["state"] == "applied", said
    assert done(said) == {"container:web": ("make", "done")}
    assert [c["passed"] for c in said["checks"]] == [True, True], said["checks"]
    assert node.state("mesh-web") == ("enabled", "active")
    assert containers(node) == [f"mesh-web {image}"]
    invocation = node.shown("mesh-web", "InvocationID")
    assert node.told(web(image))["changed"] is False
    assert node.shown("mesh-web", "InvocationID") == invocation

    said = node.told()
    assert done(said) == {"container:web": ("restore", "done")}
    assert containers(node) == []
    assert not node.machine.exists("/etc/systemd/system/mesh-web.service")
    assert node.shown("mesh-web", "LoadState", "ActiveState") == ["not-found", "inactive"]
    assert said["owned"] == {}


def test_another_image_takes_its_place(node: Node, image: str) -> None:
    node.told(web(image))
    other = built(node.machine, "second")
    assert other != image
    said = node.told(web(other), checks=[check("second")])
    assert done(said) == {"container:web": ("change", "done")}
    assert said["checks"][0]["passed"], said["checks"]
    assert containers(node) == [f"mesh-web {other}"]
    node.told()


def test_it_restarts_when_what_it_watches_changed_and_is_started_when_it_was_stopped(
    node: Node, image: str
) -> None:
    def resources(conf: str) -> list[dict[str, object]]:
        watching = web(image, volumes=["/etc/web.conf:/www/conf:ro"], restart_on=["/etc/web.conf"])
        return [file("/etc/web.conf", conf), watching]

    node.told(*resources("one"))
    first = node.shown("mesh-web", "InvocationID")
    conf = {"kind": "http", "url": "http://127.0.0.1:8085/conf", "contains": "two"}
    said = node.told(*resources("two"), checks=[conf])
    assert done(said)["container:web"] == ("refresh", "done")
    assert said["checks"][0]["passed"], said["checks"]
    assert node.shown("mesh-web", "InvocationID") != first
    node.machine.run(["systemctl", "stop", "mesh-web"])
    assert containers(node) == []
    assert done(node.told(*resources("two"))) == {"container:web": ("put-back", "done")}
    assert containers(node) == [f"mesh-web {image}"]
    node.told()


def test_texts_arrive_as_they_are(node: Node, image: str) -> None:
    odd = "a $HOME ${HOME} %n %% \"quoted\" 'single' back\\slash é\tand\nmore; $(id)"
    script = 'busybox printf "%s|%s" "$ODD" "$1" >/out/said; trap exit TERM; busybox sleep 1000 & wait'
    node.machine.run(["mkdir", "-p", "/srv/out"])
    said = node.told(
        web(
            image,
            command=["/bin/busybox", "sh", "-c", script, "sh", odd],
            environment={"ODD": odd},
            volumes=["/srv/out:/out"],
        )
    )
    assert said["state"] == "applied", said
    assert node.machine.read("/srv/out/said").decode() == f"{odd}|{odd}"
    node.told()


def test_one_that_fails_is_told_with_its_own_words(node: Node, image: str) -> None:
    words = "no database at 10.0.0.5"
    said = node.told(web(image, command=["/bin/busybox", "sh", "-c", f"echo {words}; exit 3"]))
    assert "mesh-web.service does not stay up" in why(said, "container:web")
    assert words in why(said, "container:web")
    said = node.told(web(image, command=["/bin/nothing-here"]))
    assert "nothing-here" in why(said, "container:web")
    assert done(node.told())["container:web"][1] == "done"
    assert not node.machine.exists("/etc/systemd/system/mesh-web.service")
    assert containers(node) == []


def test_an_image_that_cannot_be_had_leaves_everything_as_it_is(node: Node, image: str) -> None:
    missing = f"localhost:1/lab/none@sha256:{'1' * 64}"
    said = node.told(web(missing), file("/etc/beside", "x"))
    assert done(said) == {"container:web": ("make", "failed"), "path:/etc/beside": ("make", "failed")}
    assert "podman pull" in why(said, "container:web")
    assert "connection refused" in why(said, "container:web")
    assert not node.machine.exists("/etc/systemd/system/mesh-web.service")
    assert not node.machine.exists("/etc/beside")
    node.told()


def test_a_unit_of_somebody_else_is_left(node: Node, image: str) -> None:
    theirs = b"[Service]\nExecStart=/bin/sleep 1000\n"
    node.machine.write("/etc/systemd/system/mesh-web.service", theirs)
    for _ in range(2):
        said = node.told(web(image))
        assert "was there before the mesh" in why(said, "container:web")
    said = node.told()
    assert said["owned"] == {}
    assert node.machine.read("/etc/systemd/system/mesh-web.service") == theirs
    node.machine.run(["rm", "/etc/systemd/system/mesh-web.service"])
    node.machine.run(["systemctl", "daemon-reload"])


def test_what_a_crash_left_half_made_is_made_or_taken_off(node: Node, image: str) -> None:
    """The unit is written and nothing more was done; the journal has the intent."""
    first = node.told(web(image, command=["/bin/busybox", "sh", "-c", "exit 1"]))
    assert done(first)["container:web"] == ("make", "failed")
    node.machine.run(["systemctl", "disable", "--now", "mesh-web"])
    assert done(node.told())["container:web"] == ("restore", "done")
    assert not node.machine.exists("/etc/systemd/system/mesh-web.service")
    node.told(web(image, command=["/bin/busybox", "sh", "-c", "exit 1"]))
    node.machine.run(["systemctl", "disable", "--now", "mesh-web"])
    said = node.told(web(image))
    assert said["state"] == "applied", said
    assert said["owned"] == {"container:web": {"unit": "none", "enabled": False, "running": False}}
    node.told()
