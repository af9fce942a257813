"""The kind `command`: check, apply, remove (design, part 8)."""

from pathlib import Path

import pytest

from mesh_adapters.host.attributes import faults_of
from mesh_adapters.host.commands import run
from mesh_adapters.host.kind import Acted, Context, Done, Failed, LeftAlone, Unobservable
from mesh_adapters.host.kinds.command import ShellCommand
from mesh_core import Resource
from mesh_core.reconcile import Act, Action, State
from tests.unit.host.fake_systemd import machine_with

KIND = ShellCommand()
HERE = machine_with(run)


def resource(**attributes: object) -> Resource:
    return Resource(kind="command", name="x", attributes_json=attributes)


def touching(place: Path, **more: object) -> Resource:
    return resource(**{"check": f"test -e {place}", "apply": f"touch {place}", **more})


def act(act: Act, resource: Resource) -> Acted:
    state = State(facts={"done": act is not Act.RESTORE})
    action = Action(
        act=act, identity="command:x", kind="command", position=0, observed=None, target=state, before=None
    )
    return KIND.act(action, resource, None, HERE)


def done(resource: Resource) -> object:
    return KIND.observe([resource], HERE)["command:x"]


def test_it_is_done_when_its_check_passes(tmp_path: Path) -> None:
    made = touching(tmp_path / "made")
    assert KIND.prepare(made, Context(data={})).wanted.state == State(facts={"done": True})
    assert done(made) == State(facts={"done": False})
    assert act(Act.MAKE, made) == Done()
    assert done(made) == State(facts={"done": True})


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    (tmp_path / "made").touch()
    assert act(Act.MAKE, touching(tmp_path / "made", apply="exit 9")) == Done()


def test_apply_that_fails_is_told_in_its_own_words(tmp_path: Path) -> None:
    failing = touching(tmp_path / "made", apply="echo no room >&2; exit 4")
    assert act(Act.MAKE, failing) == Failed(why="apply: no room")


def test_the_check_has_to_pass_after_apply() -> None:
    made = act(Act.MAKE, resource(check="echo still missing; exit 1", apply="true"))
    assert made == Failed(why="apply ended well, and check does not pass after it: still missing")


def test_remove_takes_it_off(tmp_path: Path) -> None:
    place = tmp_path / "made"
    place.touch()
    assert act(Act.RESTORE, touching(place, remove=f"rm {place}")) == Done()
    assert not place.exists()
    failed = act(Act.RESTORE, touching(place, remove="echo in use >&2; exit 1"))
    assert failed == Failed(why="remove: in use")


def test_without_remove_it_stays(tmp_path: Path) -> None:
    place = tmp_path / "made"
    place.touch()
    assert act(Act.RESTORE, touching(place)) == LeftAlone(
        why="command x has no 'remove', so what it did stays"
    )
    assert place.exists()


def test_each_has_its_time(tmp_path: Path) -> None:
    late = "it took longer than 0.3 s and was ended"
    hangs = "setsid sleep 60 & sleep 60"
    assert done(resource(check=hangs, apply="true", seconds=0.3)) == Unobservable(why=f"check: {late}")
    apply = touching(tmp_path / "made", apply=hangs, seconds=0.3)
    assert act(Act.MAKE, apply) == Failed(why=f"apply: {late}")
    remove = touching(tmp_path / "made", remove=hangs, seconds=0.3)
    assert act(Act.RESTORE, remove) == Failed(why=f"remove: {late}")


def test_under_a_root_nothing_is_run(tmp_path: Path) -> None:
    made = touching(tmp_path / "made")
    found = KIND.observe([made], machine_with(run, tmp_path))["command:x"]
    why = f"a command runs on the machine itself, and not under {tmp_path}"
    assert found == Unobservable(why=why, elsewhere=True)


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({"apply": "x"}, "check: missing; text for the shell"),
        ({"check": "x"}, "apply: missing; text for the shell"),
        ({"check": "x", "apply": ["x"]}, 'apply: found ["x"]; text for the shell'),
        ({"check": "x", "apply": "x", "seconds": -1}, "seconds: found -1; a number of seconds above 0"),
    ],
)
def test_what_it_cannot_use_is_refused(attributes: dict[str, object], told: str) -> None:
    assert [str(fault) for fault in faults_of(resource(**attributes), KIND)] == [told]
