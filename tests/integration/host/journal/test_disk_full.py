"""A disk that is full while a file is written (hazards: the old file is whole)."""

from __future__ import annotations

from pathlib import Path

import pytest

from mesh_adapters.host.applied import Applied
from mesh_adapters.host.kind import Failed
from mesh_core import Resource
from tests.integration.host.crash.dying import in_a_child
from tests.integration.host.journal.test_damaged import limited
from tests.integration.host.world import World, declaration, directory, file, shown

LARGE = "ours\n" * 200_000
TEMPLATE = r"{{ 'ours\n' * 200000 }}"
SIZE = 500_000
"""Enough for the journal, too little for the file."""


def large(path: str) -> Resource:
    """A file that is large on the machine, and small in the declaration and in the journal."""
    return Resource(kind="file", path=path, attributes_json={"template": TEMPLATE})


@pytest.fixture
def world(folder: Path) -> World:
    made = World(folder / "machine")
    made.put("/etc/motd", "theirs\n", mode=0o600, owner=1000)
    return made


def test_the_old_file_is_whole_and_the_rest_is_applied(world: World) -> None:
    before = shown(world.root)
    told = declaration(1, [large("/etc/motd"), large("/srv/new")], [file("/ok"), directory("/d")])
    words: list[str] = []

    def apply() -> None:
        applied = world.apply(told)
        assert isinstance(applied, Applied)
        words.extend(e.acted.why for e in applied.failed if isinstance(e.acted, Failed))
        assert words == ["/etc/motd: File too large", "/srv/new: File too large"]
        assert not applied.well

    assert in_a_child(limited(SIZE, apply)) == ""
    there = shown(world.root)
    assert there["/etc/motd"] == before["/etc/motd"]
    assert there.keys() == before.keys() | {"/srv", "/ok", "/d"}
    assert world.applied(told).well
    assert shown(world.root)["/srv/new"][4] == LARGE.encode()
    assert world.applied(declaration(2)).well
    assert shown(world.root) == before


def test_what_was_there_before_cannot_come_back_yet(world: World) -> None:
    world.put("/etc/large", LARGE.replace("ours", "their"))
    before = shown(world.root)
    told = declaration(1, [file("/etc/large"), file("/etc/motd")])
    assert world.applied(told).well
    ours = shown(world.root)["/etc/large"]

    def apply() -> None:
        applied = world.apply(declaration(2))
        assert isinstance(applied, Applied)
        assert [e.action.identity for e in applied.failed] == ["path:/etc/large"]

    assert in_a_child(limited(SIZE, apply)) == ""
    assert shown(world.root) == before | {"/etc/large": ours}
    assert world.applied(declaration(2)).well
    assert shown(world.root) == before
