"""Killed at any step, the next run makes it true, and nothing lies beside it (design, part 8).

> a crash at any step converges on the next run, and everything it made is owned or gone
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from attrs import field, frozen

from mesh_adapters.host.applied import Applied
from mesh_adapters.host.artifacts import swapping
from mesh_core import Resource
from tests.integration.host.crash.dying import dies_at
from tests.integration.host.tree.artifacts import NEXT, SITE, Tree, made, put_into
from tests.integration.host.world import PRIVILEGED, Shown, World, declaration, file, shown

NOTHING = declaration(100)
SMALL: Tree = {"index.html": "3\n"}
INSIDE = file("/opt/web/site.conf", "conf\n")


@frozen(kw_only=True)
class Scenario:
    """What was there, what was applied to it and done since; and what is applied now, each by its trees."""

    before: Callable[[World], None] = field(default=lambda world: None)
    first: tuple[Tree, ...] = ()
    since: Callable[[World], None] = field(default=lambda world: None)
    now: Tree | None
    inside: bool = False
    theirs: tuple[str, ...] = ()
    """What a person has there that stays, whatever comes."""


def an_empty_directory(world: World) -> None:
    world.folder_at("/opt/web", mode=0o700)
    if PRIVILEGED:
        os.chown(world.root / "opt/web", 1000, 1000)


def additions(world: World) -> None:
    for path in ("static/mine", "uploads/one", "uploads/two", "top"):
        world.put(f"/opt/web/{path}", "theirs\n", owner=1000)
    world.put("/opt/web/index.html", "edited\n")


ADDED = ("/opt/web/static/mine", "/opt/web/uploads/one", "/opt/web/uploads/two", "/opt/web/top")
SCENARIOS = {
    "first": Scenario(now=SITE),
    "first-over-an-empty-directory": Scenario(before=an_empty_directory, now=SITE),
    "update": Scenario(first=(SITE,), now=NEXT),
    "update-to-a-part": Scenario(first=(SITE,), now={"index.html": "1\n"}),
    "update-with-additions": Scenario(first=(SITE,), since=additions, now=NEXT, theirs=ADDED),
    "additions-held": Scenario(first=(SITE, NEXT), since=additions, now=SMALL, theirs=ADDED),
    "inside": Scenario(first=(SITE,), now=NEXT, inside=True),
    "removal": Scenario(first=(SITE,), now=None),
    "restore": Scenario(before=an_empty_directory, first=(SITE, NEXT), now=None),
}


@frozen(kw_only=True)
class Begun:
    """The machine as it is before the run that is killed."""

    world: World
    before: dict[str, Shown]
    since: dict[str, Shown]
    now: bytes
    after: dict[str, Shown]
    """As it is when nothing was killed."""


@pytest.fixture
def _cannot_exchange(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system that has no such thing."""
    monkeypatch.setattr(swapping, "exchanged", lambda one, other: False)


def told(generation: int, tree: Tree | None, layout: Path, *, inside: bool) -> bytes:
    if tree is None:
        return declaration(generation, [file("/kept")])
    web = made(tree).tree("/opt/web", put_into(layout, made(tree)))
    resources: list[Resource] = [file("/kept"), web, *([INSIDE] if inside else [])]
    return declaration(generation, resources)


def begin(scenario: Scenario, world: World, layout: Path) -> Begun:
    scenario.before(world)
    before = shown(world.root)
    for generation, tree in enumerate(scenario.first, 1):
        assert world.applied(told(generation, tree, layout, inside=scenario.inside)).well
    scenario.since(world)
    now = told(50, scenario.now, layout, inside=scenario.inside)
    once = world.copy(world.folder.parent / "unkilled")
    assert once.applied(now).well
    return Begun(world=world, before=before, since=shown(world.root), now=now, after=shown(once.root))


def killed_at_each_step(begun: Begun, folder: Path) -> Iterator[tuple[str, World]]:
    """The step, and the machine after a run was killed there: not a copy of it, which has other inodes.

    Of the journal's own steps only those behind each of its transactions, as the others are tested elsewhere.
    """
    names: list[str] = []
    counted = begun.world.copy(folder / "counted")
    assert isinstance(counted.apply(begun.now, names.append), Applied)
    shutil.rmtree(counted.folder)
    for number, expected in enumerate(names, 1):
        if not expected.startswith(("tree", "after")):
            continue
        world = begun.world.copy(folder / f"at-{number}")
        name = dies_at(number, partial(world.apply, begun.now))
        assert name == expected
        yield name, world
        shutil.rmtree(world.folder)


def is_one_or_the_other(world: World, begun: Begun) -> None:
    """It is there as it was, or as it is to be: never some of this and some of that, and theirs in both."""
    there = within(shown(world.root))
    if there:
        assert there in (within(begun.since), within(begun.after))
    else:  # before the first, and between two renames
        assert "/opt/web" not in shown(world.root) or "/opt/web" in begun.before


def within(there: dict[str, Shown]) -> dict[str, Shown]:
    return {path: one for path, one in there.items() if path.startswith("/opt/web/")}


def nothing_lies_about(world: World) -> None:
    assert not [path for path in shown(world.root) if ".mesh-" in path]
    for folder in (world.state / "trees").glob("*"):
        assert {place.name for place in folder.iterdir()} <= {"now", "seen"}


def converges(world: World, begun: Begun) -> None:
    applied = world.applied(begun.now)
    assert applied.well, applied
    assert shown(world.root) == begun.after
    nothing_lies_about(world)
    assert not [*(world.state / "artifacts").glob("*")]
    assert not any(entry.owned.in_flight for entry in world.entries().values())
    assert world.unchanged(begun.now) is not None
    assert world.applied(begun.now).events == ()


def is_taken_off(world: World, begun: Begun, scenario: Scenario, *, edited: bool) -> None:
    """Everything is as it was; of a person's, what they added is left, and what they edited may be."""
    assert world.applied(NOTHING).well
    there = shown(world.root)
    added = {path: begun.since[path] for path in scenario.theirs}
    above = {str(parent) for path in added for parent in Path(path).parents if path != "/"}
    may = above | ({"/opt/web/index.html"} if edited and added else set())
    assert {path: one for path, one in there.items() if path not in may} == {
        path: one for path, one in (begun.before | added).items() if path not in may
    }
    nothing_lies_about(world)
    assert scenario.theirs or not [*(world.state / "trees").glob("*")]
    assert not [entry for entry in world.entries().values() if not entry.owned.brought]


@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_any_step_it_converges(name: str, world: World, folder: Path, layout: Path) -> None:
    scenario = SCENARIOS[name]
    begun = begin(scenario, world, layout)
    steps = set()
    for step, killed in killed_at_each_step(begun, folder):
        steps.add(step)
        if scenario.now is not None:
            is_one_or_the_other(killed, begun)
        converges(killed, begun)
        is_taken_off(killed, begun, scenario, edited=False)
    expected = {"tree intended", "tree unpacked", "tree whole", "tree swapped", "tree emptied"}
    assert expected <= steps if scenario.now is not None else "tree item gone" in steps


@pytest.mark.parametrize("name", SCENARIOS)
def test_killed_at_any_step_it_can_be_taken_off(name: str, world: World, folder: Path, layout: Path) -> None:
    scenario = SCENARIOS[name]
    begun = begin(scenario, world, layout)
    for _, killed in killed_at_each_step(begun, folder):
        is_taken_off(killed, begun, scenario, edited=True)


@pytest.mark.usefixtures("_cannot_exchange")
@pytest.mark.parametrize("name", ["first-over-an-empty-directory", "update-with-additions"])
def test_where_two_cannot_be_exchanged(name: str, world: World, folder: Path, layout: Path) -> None:
    """Then there is a moment in which nothing is at the path, and the next run ends it."""
    scenario = SCENARIOS[name]
    begun = begin(scenario, world, layout)
    for number, (_, killed) in enumerate(killed_at_each_step(begun, folder)):
        is_one_or_the_other(killed, begun)
        if number % 2:
            converges(killed, begun)
        is_taken_off(killed, begun, scenario, edited=True)


@pytest.mark.parametrize("name", ["first-over-an-empty-directory", "update-with-additions"])
@pytest.mark.parametrize("then", ["again", "another", "nothing"])
def test_killed_again_while_it_goes_on(
    name: str, then: str, world: World, folder: Path, layout: Path
) -> None:
    """Or while it becomes something else, or goes."""
    scenario = SCENARIOS[name]
    begun = begin(scenario, world, layout)
    another = told(60, SMALL, layout, inside=False)
    content = {"again": begun.now, "another": another, "nothing": NOTHING}[then]
    for number, (step, killed) in enumerate(killed_at_each_step(begun, folder)):
        if not step.startswith("tree"):
            continue
        for again in range(9 + number % 4, 1000, 4):
            twice = killed.copy(folder / "twice")
            through = dies_at(again, partial(twice.apply, content)) is None
            is_taken_off(twice, begun, scenario, edited=True)
            shutil.rmtree(twice.folder)
            if through:
                break


def test_what_a_person_does_between_a_kill_and_the_next_run_is_kept(
    world: World, folder: Path, layout: Path
) -> None:
    begun = begin(SCENARIOS["update"], world, layout)
    for _, killed in killed_at_each_step(begun, folder):
        killed.put("/opt/web/mine", "theirs\n")
        assert killed.applied(begun.now).well
        assert {*shown(killed.root)} == {*begun.after, "/opt/web/mine"}
        nothing_lies_about(killed)
        assert killed.applied(NOTHING).well
        assert {*shown(killed.root)} == {"/opt", "/opt/web", "/opt/web/mine"}
