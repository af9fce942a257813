"""What somebody does while a run is at work, and what is found where something else was (design, part 8)."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.host.acting import Event
from mesh_adapters.host.applied import Applied
from mesh_adapters.host.applying import Decided, apply, decide
from mesh_adapters.host.kind import Failed, LeftAlone
from mesh_adapters.host.kinds.file import File
from mesh_core import Resource
from mesh_core.reconcile import Act
from tests.integration.host.crash.dying import dies_at
from tests.integration.host.world import World, declaration, directory, file, shown

NOTHING = declaration(99)


def applied_while(world: World, content: bytes, meanwhile: Callable[[], object]) -> Applied:
    """Somebody does something while the first action is on its way: all the others are decided already."""
    begun: list[str] = []

    def step(name: str) -> None:
        if name.startswith(("given ", "removed ", "owned ")):
            begun.append(name)
            if len(begun) == 1:
                meanwhile()

    with world.host(step) as host:
        decided = decide(content, host)
        assert isinstance(decided, Decided)
        applied = apply(decided, host)
    assert begun
    return applied


def outcome(applied: Applied, identity: str) -> Event:
    return next(event for event in applied.events if event.action.identity == identity)


def as_at_first(world: World, at_first: Mapping[str, object]) -> None:
    assert world.applied(NOTHING).well
    assert shown(world.root) == at_first
    assert world.entries() == {}
    assert world.kept() == 0


# What changes between the look and the act


def test_what_comes_before_it_is_made_is_remembered(world: World) -> None:
    applied = applied_while(
        world, declaration(1, [file("/first"), file("/f")]), lambda: world.put("/f", "new\n", mode=0o600)
    )
    assert applied.well
    assert shown(world.root)["/f"][4] == b"ours\n"
    assert world.applied(NOTHING).well
    assert [(path, one[1], one[4]) for path, one in shown(world.root).items()] == [("/f", 0o600, b"new\n")]


def test_what_is_edited_before_it_is_replaced_is_remembered_as_it_is_then(world: World) -> None:
    world.put("/f", "old\n")
    applied = applied_while(
        world, declaration(1, [file("/first"), file("/f")]), lambda: world.put("/f", "new\n", mode=0o640)
    )
    assert applied.well
    at_first = {"/f": ("file", 0o640, os.geteuid(), os.getegid(), b"new\n")}
    as_at_first(world, at_first)


def test_a_run_that_is_killed_after_that_remembers_it_too(world: World, folder: Path) -> None:
    world.put("/f", "old\n")
    told = declaration(1, [file("/first"), file("/f")])
    for number in range(1, 200):
        copy = world.copy(folder / str(number))

        def run(step: Callable[[str], None], copy: World = copy) -> None:
            def and_edit(name: str) -> None:
                if name == "given /first":
                    copy.put("/f", "new\n")
                step(name)

            copy.apply(told, and_edit)

        through = dies_at(number, run) is None
        now = shown(copy.root)["/f"][4]
        assert copy.applied(NOTHING).well
        there = shown(copy.root)
        assert there.keys() == {"/f"}
        assert there["/f"][4] == (b"old\n" if now == b"old\n" else b"new\n")
        if through:
            return
    raise AssertionError("it never gets through")


@pytest.mark.parametrize("before", [None, "theirs\n"])
def test_what_is_edited_before_it_is_taken_off_is_left(world: World, before: str | None) -> None:
    if before is not None:
        world.put("/f", before)
    assert world.applied(declaration(1, [file("/f"), file("/g")])).well
    applied = applied_while(world, declaration(2), lambda: world.put("/f", "edited\n"))
    event = outcome(applied, "path:/f")
    assert event.acted == LeftAlone(why="somebody else has just changed it")
    assert event in applied.drifted
    assert shown(world.root)["/f"][4] == b"edited\n"
    assert world.entries() == {}


def test_what_is_edited_before_it_is_changed_is_put_back_and_reported(world: World) -> None:
    assert world.applied(declaration(1, [file("/first"), file("/f")])).well
    told = declaration(2, [file("/first", "2\n"), file("/f", "2\n")])
    applied = applied_while(world, told, lambda: world.put("/f", "edited\n"))
    assert outcome(applied, "path:/f").action.act is Act.PUT_BACK
    assert outcome(applied, "path:/f") in applied.drifted
    assert shown(world.root)["/f"][4] == b"2\n"
    as_at_first(world, {})


def test_what_goes_before_it_is_taken_off_is_gone(world: World) -> None:
    assert world.applied(declaration(1, [file("/f"), file("/g")])).well
    applied = applied_while(world, declaration(2), lambda: (world.root / "f").unlink())
    assert applied.well
    assert world.entries() == {}


# What stands where something of ours was, or above it


def test_a_parent_that_became_a_file(world: World) -> None:
    told = declaration(1, [file("/d/f", "1\n")])
    assert world.applied(told).well
    shutil.rmtree(world.root / "d")
    world.put("/d", "a file\n")
    applied = world.applied(told)
    assert outcome(applied, "path:/d/f").acted == Failed(why="/d/f: a part of that path is no directory")
    assert shown(world.root).keys() == {"/d"}
    assert world.applied(NOTHING).well
    assert shown(world.root)["/d"][4] == b"a file\n"
    assert world.entries() == {}


def test_a_parent_that_became_a_link(world: World) -> None:
    """What is behind it is what is there; what somebody has there is left when it is no longer declared."""
    assert world.applied(declaration(1, [file("/d/f", "1\n")])).well
    shutil.rmtree(world.root / "d")
    world.put("/elsewhere/f", "theirs\n")
    world.link("/d", "/elsewhere")
    before = shown(world.root)
    applied = world.applied(declaration(2, [file("/other")]))
    assert outcome(applied, "path:/d/f").action.act is Act.LEAVE
    assert outcome(applied, "path:/d").action.act is Act.LEAVE
    as_at_first(world, before)


def test_a_directory_that_somebody_took_away_comes_again(world: World) -> None:
    told = declaration(1, [file("/a/b/f"), directory("/a"), file("/x")])
    assert world.applied(told).well
    shutil.rmtree(world.root / "a")
    assert world.applied(declaration(2, [file("/a/b/f"), directory("/a")])).well
    assert shown(world.root).keys() == {"/a", "/a/b", "/a/b/f"}
    as_at_first(world, {})


def test_a_directory_with_the_same_name_as_what_was_swept(world: World) -> None:
    """What came along is made again in the very run that lets go of what it came along with."""
    assert world.applied(declaration(1, [file("/a/f"), file("/x")])).well
    shutil.rmtree(world.root / "a")
    assert world.applied(declaration(2, [file("/a/g")])).well
    assert world.entries().keys() == {"path:/a", "path:/a/g"}
    as_at_first(world, {})


# What came along and is declared later, and the other way round


def test_what_came_along_and_is_declared_later(world: World) -> None:
    assert world.applied(declaration(1, [file("/a/b/f")])).well
    assert world.entries()["path:/a/b"].owned.brought
    assert world.applied(declaration(2, [directory("/a/b", mode="0700"), file("/a/b/f")])).well
    assert not world.entries()["path:/a/b"].owned.brought
    assert shown(world.root)["/a/b"][1] == 0o700
    assert world.applied(declaration(3, [file("/a/b/f")])).well
    assert world.entries()["path:/a/b"].owned.brought
    as_at_first(world, {})


def test_a_directory_that_is_needed_when_it_is_no_longer_declared(world: World) -> None:
    assert world.applied(declaration(1, [directory("/a"), file("/a/f")])).well
    applied = world.applied(declaration(2, [file("/a/f")]))
    assert applied.well
    assert world.entries()["path:/a"].owned.brought
    assert world.applied(declaration(2, [file("/a/f")])).events == ()
    as_at_first(world, {})


@pytest.mark.parametrize(
    "resources",
    [
        [file("/d/f"), directory("/d")],
        [file("/d/sub/f"), directory("/d")],
        [directory("/d"), file("/d/sub/f")],
        [directory("/d/e"), file("/d/f"), directory("/d")],
    ],
)
def test_whatever_the_order_of_declaring_nothing_stays(world: World, resources: list[Resource]) -> None:
    assert world.applied(declaration(1, resources)).well
    as_at_first(world, {})


def test_what_came_along_at_different_times_is_swept_from_the_inside(world: World) -> None:
    assert world.applied(declaration(1, [file("/0"), file("/1"), file("/a/x")])).well
    assert world.applied(declaration(2, [file("/a/b/y"), file("/1"), file("/a/x")])).well
    as_at_first(world, {})


def test_what_came_along_and_was_edited_is_left(world: World) -> None:
    assert world.applied(declaration(1, [file("/a/f"), file("/b/f")])).well
    (world.root / "a").chmod(0o700)
    shutil.rmtree(world.root / "b")
    world.put("/b", "theirs\n")
    applied = world.applied(declaration(2))
    assert applied.well
    assert {e.action.identity for e in applied.drifted} == {"path:/a", "path:/b"}
    assert {(path, one[0], one[1]) for path, one in shown(world.root).items()} == {
        ("/a", "directory", 0o700),
        ("/b", "file", 0o644),
    }
    assert world.entries() == {}


def test_a_second_apply_does_not_sweep_what_is_needed(world: World) -> None:
    assert world.applied(declaration(1, [file("/a/f"), file("/a/g")])).well
    applied = world.applied(declaration(2, [file("/a/f")]))
    assert [event.action.identity for event in applied.events] == ["path:/a/g"]


# What was there before


def test_what_was_so_before_comes_back_after_a_change(world: World) -> None:
    """It was adopted: nobody replaced it then, so its bytes were never read."""
    world.put("/f", "ours\n")
    at_first = shown(world.root)
    applied = world.applied(declaration(1, [file("/f")]))
    assert [event.action.act for event in applied.events] == [Act.ADOPT]
    assert world.applied(declaration(2, [file("/f", "other\n")])).well
    as_at_first(world, at_first)


def test_what_was_so_before_comes_back_after_an_edit_and_a_change(world: World) -> None:
    world.put("/f", "ours\n")
    at_first = shown(world.root)
    assert world.applied(declaration(1, [file("/f")])).well
    world.put("/f", "edited\n")
    assert world.applied(declaration(2, [file("/f", "other\n")])).well
    as_at_first(world, at_first)


def test_a_link_comes_back_after_changes_with_its_owner(world: World) -> None:
    world.link("/f", "somewhere", owner=1000)
    at_first = shown(world.root)
    for generation, content in enumerate(["1\n", "2\n", "3\n"], 1):
        assert world.applied(declaration(generation, [file("/f", content)])).well
    world.put("/f", "edited\n")
    assert world.applied(declaration(3, [file("/f", "3\n")])).well
    as_at_first(world, at_first)


def test_something_else_stands_there_and_is_taken_away_by_a_person(world: World) -> None:
    """A directory is in the way; the intent stands; then the directory goes: nothing was there before."""
    world.folder_at("/f")
    told = declaration(1, [file("/f")])
    assert not world.applied(told).well
    (world.root / "f").rmdir()
    assert world.applied(told).well
    as_at_first(world, {})


def test_something_else_stood_there_and_a_person_put_there_just_what_was_meant(world: World) -> None:
    """Nothing tells that from the host's own doing; what stood there does not come back."""
    world.folder_at("/f")
    world.put("/d", "in the way\n")
    told = declaration(1, [file("/f"), directory("/d", mode="0700")])
    assert len(world.applied(told).failed) == 2
    (world.root / "f").rmdir()
    (world.root / "d").unlink()
    world.put("/f", "ours\n", owner=0)
    world.folder_at("/d", mode=0o700)
    assert world.applied(told).well
    there = shown(world.root)
    applied = world.applied(NOTHING)
    assert {type(event.acted) for event in applied.events} == {LeftAlone}
    assert shown(world.root) == there
    assert world.entries() == {}


# Another kind at the same path


def test_a_file_becomes_a_directory_and_a_directory_a_file(world: World) -> None:
    world.put("/f", "theirs\n", mode=0o600)
    at_first = shown(world.root)
    assert world.applied(declaration(1, [file("/f"), directory("/d"), file("/d/in")])).well
    told = declaration(2, [directory("/d2"), file("/d"), file("/f2")])
    assert world.applied(told).well
    assert shown(world.root)["/d"][0] == "file"
    assert world.applied(declaration(3, [directory("/d"), file("/d/in")])).well
    assert world.applied(declaration(3, [directory("/d"), file("/d/in")])).events == ()
    as_at_first(world, at_first)


def test_another_kind_that_cannot_be_taken_off_is_trouble(world: World) -> None:
    assert world.applied(declaration(1, [file("/d/f")])).well
    world.put("/d/theirs", "x\n")
    applied = world.applied(declaration(2, [file("/d")]))
    assert not applied.well
    assert [(t.identity, t.why) for t in applied.troubles] == [
        ("path:/d", "there is a directory here that could not be taken off")
    ]
    assert shown(world.root).keys() == {"/d", "/d/theirs"}


def test_another_kind_in_place_of_what_came_along_where_nothing_else_goes(world: World) -> None:
    assert world.applied(declaration(1, [file("/d/f")])).well
    world.put("/d/theirs", "x\n")
    told = declaration(2, [file("/d")])
    assert not world.applied(told).well
    (world.root / "d/theirs").unlink()
    assert world.applied(told).well
    as_at_first(world, {})


def test_a_directory_is_needed_by_what_comes_into_it_as_another_kind(world: World) -> None:
    assert world.applied(declaration(1, [directory("/e/f"), directory("/e")])).well
    shutil.rmtree(world.root / "e/f")
    world.link("/e/f", "/nowhere")
    assert world.applied(declaration(2, [file("/e/f")])).well
    assert world.entries()["path:/e"].owned.brought
    assert world.applied(NOTHING).well
    assert shown(world.root).keys() == {"/e", "/e/f"}


# Other corners


@pytest.mark.parametrize("name", ["x" * 255, "é" * 120, "é" * 127, "x" * 244, "x" * 245])
def test_a_name_as_long_as_names_can_be(world: World, name: str) -> None:
    assert world.applied(declaration(1, [file(f"/{name}"), directory(f"/d/{name}")])).well
    assert shown(world.root).keys() == {f"/{name}", "/d", f"/d/{name}"}
    as_at_first(world, {})


class Whole(File):
    """A file that the journal remembers whole, as it does what is taken off by its attributes."""

    name = "whole"

    def remembered(self, resource: Resource) -> Resource:
        return resource


def test_a_resource_that_is_told_otherwise_and_comes_to_the_same_is_remembered_so(world: World) -> None:
    """What takes it off is what was told last."""
    world = evolve(world, kinds={"whole": Whole()})
    first, told = [
        Resource(kind="whole", path="/f", attributes_json={given: "ours\n"})
        for given in ("content", "template")
    ]
    assert world.applied(declaration(1, [first])).well
    assert world.applied(declaration(2, [told])).events == ()
    assert world.entries()["path:/f"].resource == told


def test_what_is_in_a_file_is_not_in_the_journal(world: World) -> None:
    """It would be there twice, and be read each time."""
    assert world.applied(declaration(1, [file("/f"), directory("/d", mode="0700")])).well
    remembered = {entry.resource for entry in world.entries().values()}
    assert remembered == {Resource(kind="file", path="/f"), Resource(kind="directory", path="/d")}


def test_what_a_killed_run_began_to_write_goes_also_where_it_is_declared_no_more(world: World) -> None:
    told = declaration(1, [file("/f"), directory("/d")])
    for number in range(1, 200):
        name = dies_at(number, lambda step: world.apply(told, step))
        assert name is not None
        if name.startswith("filled"):
            break
    (world.root / ".mesh-host-d").mkdir()
    assert ".mesh-host-f" in {path[1:] for path in shown(world.root)}
    as_at_first(world, {})


def test_the_limit_on_removals_counts_also_what_is_in_trouble(world: World) -> None:
    directories = [directory(f"/d{number}") for number in range(24)]
    files = [file(f"/f{number}") for number in range(6)]
    assert world.applied(declaration(1, [*directories, *files])).well
    unusable = [directory(f"/d{number}", colour="red") for number in range(24)]
    applied = world.applied(declaration(2, unusable, allow_removals=False))
    assert len(applied.troubles) == 24
    assert world.entries().keys() == {f"path:/d{number}" for number in range(24)}
