"""Killed at any step, the next run makes it true (design, part 8).

> keeps a journal of what it owns: intent before the act, fsynced; a crash at any step converges on the
> next run, and everything it made is owned or gone

Every operation on a file and on the journal names its steps. A child is killed at the first, the second, the
third, until one gets through; after each, another run goes on from what is on the disk.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from attrs import field, frozen

from mesh_core import Resource
from mesh_core.wire.declaration import read_declaration
from tests.integration.host.crash.dying import dies_at
from tests.integration.host.world import PRIVILEGED, Shown, World, declaration, directory, file, shown

NOTHING = declaration(100)


@frozen(kw_only=True)
class Scenario:
    """What was there, what was applied to it and what was done to it since; and what is applied now."""

    before: Callable[[World], None]
    first: tuple[tuple[list[Resource], ...], ...] = field(default=())
    since: Callable[[World], None] = field(default=lambda world: None)
    now: tuple[list[Resource], ...]
    left: tuple[str, ...] = field(default=())
    """What a person did that stays, also when all is taken off again."""
    edited: tuple[str, ...] = field(default=())
    """What a person did that stays where it is no longer declared before it was put back."""


def nothing(world: World) -> None:
    pass


def some_files(world: World) -> None:
    world.put("/etc/motd", "theirs\n", mode=0o600, owner=1000)
    world.put("/etc/empty", "")
    world.put("/etc/same", "ours\n")
    world.put("/etc/mode", "ours\n", mode=0o4711, owner=1001)
    world.link("/etc/link", "motd", owner=1002)
    world.link("/etc/dangling", "/nowhere")
    world.folder_at("/srv/theirs", mode=0o700)
    world.put("/srv/theirs/file", "theirs too\n", mode=0o640)


OVER_FILES = [
    file("/etc/motd"),
    file("/etc/empty", "no more\n", mode="0600"),
    file("/etc/same"),
    file("/etc/mode", mode="0640"),
    file("/etc/link", "a file\n"),
    file("/etc/dangling", "a file\n"),
    directory("/srv/theirs", mode="0755"),
    file("/srv/theirs/file", "ours\n"),
]
TREE = [
    file("/a/b/c/file", "deep\n"),
    directory("/a/b", mode="2775"),
    directory("/opt/x", mode="0700"),
    file("/opt/x/y/z", "z\n"),
]


def everything_is_edited(world: World) -> None:
    world.put("/etc/motd", "edited\n", mode=0o666)
    (world.root / "etc/link").unlink()
    (world.root / "etc/mode").chmod(0o777)
    (world.root / "opt/x").chmod(0o777)
    shutil.rmtree(world.root / "a")


def one_is_edited_and_one_is_new(world: World) -> None:
    world.put("/n/f", "edited\n")
    world.put("/n/theirs", "new\n")


SCENARIOS = {
    "first-over-files": Scenario(before=some_files, now=(OVER_FILES,)),
    "directories-with-missing-parents": Scenario(before=some_files, now=(TREE,)),
    "change": Scenario(
        before=some_files,
        first=((OVER_FILES, TREE),),
        now=(
            [file("/etc/motd", "other\n", mode="0600"), file("/etc/link", "other\n"), *OVER_FILES[2:4]],
            [*TREE[:1], directory("/a/b", mode="0711"), directory("/opt/x", mode="0711"), TREE[3]],
        ),
    ),
    "put-back": Scenario(
        before=some_files,
        first=((OVER_FILES, TREE),),
        since=everything_is_edited,
        now=(OVER_FILES, TREE),
        edited=("/etc/motd", "/etc/link", "/etc/mode", "/opt", "/opt/x"),
    ),
    "removal": Scenario(before=some_files, first=((TREE, [file("/etc/new")]),), now=([file("/etc/new")],)),
    "restore": Scenario(before=some_files, first=((OVER_FILES,),), now=([file("/etc/empty")],)),
    "moved-away-and-in": Scenario(
        before=some_files,
        first=((TREE,),),
        now=([file("/a/b/c/other", "o\n"), file("/opt/x/y/w", "w\n"), file("/a/d/e", "e\n")],),
    ),
    "another-kind": Scenario(
        before=some_files,
        first=(([directory("/x"), file("/x/in"), file("/y"), file("/etc/motd")],),),
        now=([file("/x"), directory("/y"), file("/y/in"), file("/etc/motd")],),
    ),
    "shared": Scenario(
        before=some_files,
        first=(([file("/etc/motd"), directory("/s")], [directory("/s"), file("/s/f")]),),
        now=([directory("/s"), file("/etc/motd")], [file("/s/g")], [file("/s/g"), file("/etc/motd")]),
    ),
    "edited-and-left": Scenario(
        before=some_files,
        first=(([file("/n/f"), file("/n/g"), file("/etc/motd")],),),
        since=one_is_edited_and_one_is_new,
        now=([file("/m")],),
        left=("/n", "/n/f", "/n/theirs"),
    ),
}


@frozen(kw_only=True)
class Begun:
    """The machine as it is before the run that is killed."""

    world: World
    before: dict[str, Shown]
    since: dict[str, Shown]
    now: bytes


def begin(scenario: Scenario, folder: Path) -> Begun:
    world = World(folder / "begun")
    scenario.before(world)
    before = shown(world.root)
    for generation, modules in enumerate(scenario.first, 1):
        assert world.applied(declaration(generation, *modules)).well
    scenario.since(world)
    now = declaration(len(scenario.first) + 1, *scenario.now)
    return Begun(world=world, before=before, since=shown(world.root), now=now)


def killed_at_each_step(begun: Begun, folder: Path) -> Iterator[tuple[str, World]]:
    """The step, and the machine after a run was killed there; each is gone when the next is asked for."""
    for number in range(1, 1000):
        world = begun.world.copy(folder / f"at-{number}")
        name = dies_at(number, partial(world.apply, begun.now))
        if name is None:
            return
        yield name, world
        shutil.rmtree(world.folder)
    raise AssertionError("a run never gets through")


def converges(world: World, begun: Begun, scenario: Scenario) -> None:
    """> a crash at any step converges on the next run, and everything it made is owned or gone"""
    applied = world.applied(begun.now)
    assert applied.well, (applied.failed, applied.troubles)
    is_declared(world, begun.now)
    owned_or_as_before(world, begun, scenario)
    with world.host() as host:
        assert not any(entry.owned.in_flight for entry in host.journal.entries())
    again = world.applied(begun.now)
    assert again.events == ()
    assert not again.changed
    assert world.unchanged(begun.now) is not None


def is_declared(world: World, content: bytes) -> None:
    there = shown(world.root)
    for module in read_declaration(content).modules:
        for resource in module.resources:
            type_, mode, user, _, bytes_ = there[str(resource.path)]
            given = resource.attributes
            assert type_ == resource.kind
            assert user == 0 or not PRIVILEGED
            assert mode == int(given.get("mode", "0644" if type_ == "file" else "0755"), 8)
            assert bytes_ == given.get("content", "").encode()


def owned_or_as_before(world: World, begun: Begun, scenario: Scenario) -> None:
    owned = {identity.removeprefix("path:") for identity in world.entries()}
    there = shown(world.root)
    assert owned <= there.keys()
    for path in there.keys() - owned - {*scenario.left}:
        assert there[path] == begun.before[path]
    for path in begun.before.keys() - there.keys():
        raise AssertionError(f"{path} is gone")


def is_taken_off(world: World, begun: Begun, scenario: Scenario) -> None:
    """Everything is as it was, byte for byte; what a person did is left."""
    applied = world.applied(NOTHING)
    assert applied.well, (applied.failed, applied.troubles)
    left = {path: begun.since[path] for path in scenario.left}
    assert shown(world.root) == begun.before | left
    brought = [entry for entry in world.entries().values() if not entry.owned.brought]
    assert brought == []
    assert scenario.left or not world.entries()
    assert world.kept() == 0


def is_let_go(world: World, begun: Begun, scenario: Scenario) -> None:
    """As `is_taken_off`, where the run that was killed may have put something back, or not."""
    assert world.applied(NOTHING).well
    there = shown(world.root)
    for path in scenario.edited:
        assert there.get(path) in (begun.before.get(path), begun.since.get(path))
    left = {path: begun.since[path] for path in scenario.left}
    expected = begun.before | left
    for path in there.keys() | expected.keys() - {*scenario.edited}:
        assert path in scenario.edited or there.get(path) == expected.get(path), path


@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_any_step_it_converges(name: str, folder: Path) -> None:
    scenario = SCENARIOS[name]
    begun = begin(scenario, folder)
    steps = []
    for step, world in killed_at_each_step(begun, folder):
        steps.append(step)
        other = world.copy(folder / "other")
        converges(world, begun, scenario)
        is_taken_off(world, begun, scenario)
        is_let_go(other, begun, scenario)
        shutil.rmtree(other.folder)
    kinds = {step.split(" ")[0] for step in steps}
    assert {"tidied", "after", "settled", "synced"} - kinds <= {"tidied"}
    assert len(steps) == len(named_steps(begun, folder))


def named_steps(begun: Begun, folder: Path) -> list[str]:
    names: list[str] = []
    begun.world.copy(folder / "counted").apply(begun.now, names.append)
    return names


@pytest.mark.parametrize("name", ["first-over-files", "change", "another-kind", "moved-away-and-in"])
def test_killed_again_while_it_goes_on(name: str, folder: Path) -> None:
    scenario = SCENARIOS[name]
    begun = begin(scenario, folder)
    for number in range(3, 1000, 9):
        once = begun.world.copy(folder / "once")
        if dies_at(number, partial(once.apply, begun.now)) is None:
            return
        for again in range(2 + number % 4, 1000, 11):
            twice = once.copy(folder / "twice")
            through = dies_at(again, partial(twice.apply, begun.now)) is None
            converges(twice, begun, scenario)
            is_taken_off(twice, begun, scenario)
            shutil.rmtree(twice.folder)
            if through:
                break
        shutil.rmtree(once.folder)


OTHERWISE = declaration(
    50,
    [
        file("/etc/motd", "quite another\n", mode="0640"),
        file("/etc/link", "another\n"),
        directory("/etc/dangling.d"),
        file("/a/b/c/file", "another\n", mode="0600"),
        directory("/opt/x", mode="0750"),
        file("/x", "a file again\n"),
        file("/y/in", "another\n"),
    ],
)


@pytest.mark.parametrize("name", ["first-over-files", "directories-with-missing-parents", "another-kind"])
def test_killed_while_it_becomes_something_else(name: str, folder: Path) -> None:
    """What a killed run made is the mesh's own, also when another declaration is killed after it."""
    scenario = SCENARIOS[name]
    begun = begin(scenario, folder)
    for number in range(5, 1000, 7):
        once = begun.world.copy(folder / "once")
        if dies_at(number, partial(once.apply, begun.now)) is None:
            return
        for again in range(1 + number % 6, 1000, 13):
            twice = once.copy(folder / "twice")
            through = dies_at(again, partial(twice.apply, OTHERWISE)) is None
            is_taken_off(twice, begun, scenario)
            shutil.rmtree(twice.folder)
            if through:
                break
        shutil.rmtree(once.folder)
