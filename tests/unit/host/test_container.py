"""The kind `container`: its unit, and what it refuses (design, part 8)."""

import hashlib
from pathlib import Path

import pytest

from mesh_adapters.host.attributes import faults_of
from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.files import Files
from mesh_adapters.host.kind import Context, Done, Failed
from mesh_adapters.host.kinds.container import Container, unit_of
from mesh_adapters.host.machine import Machine
from mesh_core import Resource
from mesh_core.reconcile import Act, Action, Fact, State
from tests.unit.host.fake_systemd import ended, machine_with

KIND = Container(settled=0)
IMAGE = f"docker.io/library/caddy@sha256:{'a' * 64}"
UNIT = "etc/systemd/system/mesh-web.service"


def web(name: str = "web", **attributes: object) -> Resource:
    return Resource(kind="container", name=name, attributes_json={"image": IMAGE, **attributes})


def test_its_unit_runs_the_image_by_its_digest() -> None:
    resource = web(
        command=["serve", "--port=80"],
        environment={"B": "2", "A": "one two"},
        volumes=["/srv:/srv:ro"],
        ports=["8080:80"],
        network="lan",
    )
    assert unit_of(resource) == (
        "# Written by mesh-host for the container web. What is changed here is put back.\n"
        "[Unit]\nDescription=Container web\nWants=network-online.target\nAfter=network-online.target\n\n"
        "[Service]\nType=exec\n"
        "ExecStart=podman run --rm --replace --name=mesh-web --log-driver=none --network=lan "
        '"--env=A=one two" --env=B=2 --volume=/srv:/srv:ro --publish=8080:80 '
        f"{IMAGE} serve --port=80\n"
        "ExecStop=-podman stop --ignore --time=10 mesh-web\n"
        "ExecStopPost=-podman rm --force --ignore mesh-web\n"
        "Restart=always\nRestartSec=2\nTimeoutStopSec=60\nSuccessExitStatus=137 143\n\n"
        "[Install]\nWantedBy=multi-user.target\n"
    )


def test_no_text_leaves_its_word() -> None:
    words = ['a b"', "$HOME", "%n", "\\", "two\nlines\t.", "", "; rm", "{x}"]
    lines = unit_of(web(command=words)).splitlines()
    [start] = [line for line in lines if line.startswith("ExecStart=")]
    assert start.endswith(f'{IMAGE} "a b\\"" "$$HOME" "%%n" "\\\\" "two\\nlines\\t." "" "; rm" "{{x}}"')


@pytest.mark.parametrize(
    ("resource", "key", "wanted"),
    [
        (web(image="docker.io/library/caddy:2"), "image", "an image is named by its digest"),
        (web(image="docker.io/library/caddy"), "image", "an image is named by its digest"),
        (web(image=f"docker.io/library/caddy:2@sha256:{'a' * 64}"), "image", "a name without a tag"),
        (web(image=f"caddy@sha256:{'a' * 64}"), "image", "a registry"),
        (web(image=f"docker.io/library/caddy@sha256:{'a' * 63}"), "image", "a digest"),
        (web(image=f"--privileged/x@sha256:{'a' * 64}"), "image", "a registry"),
        (web("a b"), "name", "letters, digits"),
        (web("-x"), "name", "letters, digits"),
        (web(environment={"A=B": "x"}), "environment", "an object of names and texts"),
        (web(environment={"A": 1}), "environment", "an object of names and texts"),
        (web(environment={"A": "\0"}), "environment", "text without one"),
        (web(command=["a\x1bb"]), "command", "text without one"),
        (web(command=[]), "command", "a list of texts"),
        (web(port=["80:80"]), "port", "a container knows"),
        (Resource(kind="container", name="web"), "image", "an image by its digest"),
    ],
)  # fmt: skip
def test_what_it_cannot_use_is_refused(resource: Resource, key: str, wanted: str) -> None:
    [fault] = faults_of(resource, KIND)
    assert fault.key == key
    assert wanted in fault.wanted


def test_images_with_a_port_and_folders_are_images() -> None:
    for image in ("localhost/lab/web", "10.0.0.5:5000/a/b_c/d.e-f", "ghcr.io/x/y"):
        assert list(faults_of(web(image=f"{image}@sha256:{'0' * 64}"), KIND)) == []


def fetched(codes: dict[str, int]) -> tuple[Failed | None, list[str]]:
    asked: list[str] = []

    def run(command: Command) -> Ended:
        asked.append(command.argv[1])
        return ended(command, code=codes[command.argv[1]], errors="denied: no such image\n")

    return KIND.fetch([web(), web("other")], machine_with(run)), asked


def test_an_image_is_pulled_once_and_only_where_it_is_not_there() -> None:
    assert fetched({"image": 0}) == (None, ["image"])
    assert fetched({"image": 1, "pull": 0}) == (None, ["image", "pull"])
    failed, _ = fetched({"image": 1, "pull": 125})
    assert failed == Failed(why=f"podman pull {IMAGE}: denied: no such image")


def test_where_there_is_no_podman_yet_the_image_comes_later() -> None:
    assert fetched({"image": 127}) == (None, ["image"])


def under(root: Path) -> tuple[Machine, list[tuple[str, ...]]]:
    (root / "usr/lib/systemd").mkdir(parents=True)
    (root / "etc/systemd/system").mkdir(parents=True)
    asked: list[tuple[str, ...]] = []

    def run(command: Command) -> Ended:
        asked.append(tuple(word for word in command.argv if not word.startswith("--")))
        return ended(
            command, output="mesh-web.service enabled\n" if "list-unit-files" in command.argv else ""
        )

    machine = Machine(root=root, files=Files(root), privileged=False, run=run, kept=lambda _: b"")
    return machine, asked


def action(act: Act, observed: State, before: State, target: State) -> Action:
    return Action(
        act=act, identity="container:web", kind="container", position=0,
        observed=observed, target=target, before=before,
    )  # fmt: skip


def test_under_a_root_its_unit_is_written_and_enabled_and_taken_off_again(tmp_path: Path) -> None:
    machine, asked = under(tmp_path)
    prepared = KIND.prepare(web(), Context(data={}))
    wanted = KIND.on(machine, prepared.wanted.state)
    digest: Fact = hashlib.sha256(unit_of(web()).encode()).hexdigest()[:16]
    assert wanted.as_data() == {"unit": digest, "enabled": True}
    absent: dict[str, Fact] = {"unit": "none", "enabled": False}
    nothing = State(facts=absent)
    assert KIND.act(action(Act.MAKE, nothing, nothing, wanted), web(), prepared.content, machine) == Done()
    assert (tmp_path / UNIT).read_text() == unit_of(web())
    assert asked == [("systemctl", "enable", "mesh-web.service")]
    assert KIND.observe([web()], machine) == {"container:web": wanted}
    assert KIND.fetch([web()], machine) is None
    asked.clear()
    assert KIND.act(action(Act.RESTORE, wanted, nothing, nothing), web(), None, machine) == Done()
    assert not (tmp_path / UNIT).exists()
    assert ("systemctl", "disable", "mesh-web.service") in asked
    assert not any("daemon-reload" in argv or argv[0] == "podman" for argv in asked)


def test_a_unit_that_was_there_before_is_not_overwritten(tmp_path: Path) -> None:
    machine, asked = under(tmp_path)
    (tmp_path / UNIT).write_text("theirs")
    theirs = KIND.observe([web()], machine)["container:web"]
    assert isinstance(theirs, State)
    prepared = KIND.prepare(web(), Context(data={}))
    made = KIND.act(action(Act.MAKE, theirs, theirs, prepared.wanted.state), web(), prepared.content, machine)
    why = "/etc/systemd/system/mesh-web.service was there before the mesh; move it away, and apply again"
    assert made == Failed(why=why)
    assert (tmp_path / UNIT).read_text() == "theirs"
    assert not any("enable" in argv for argv in asked)
