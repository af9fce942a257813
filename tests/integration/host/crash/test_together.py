"""Files that are put in their places together: one that fails is told alone (design, part 8)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mesh_adapters.host.kind import Failed
from tests.integration.host.world import World, declaration, directory, file, shown


def fails_for(monkeypatch: pytest.MonkeyPatch, name: str, at: str) -> None:
    """Let one operation fail, as a disk does, on what is called so."""
    real = getattr(os, name)

    def failing(*places: object, **more: object) -> object:
        if str(places[0]).endswith(at):
            raise OSError(5, "Input/output error")
        return real(*places, **more)

    monkeypatch.setattr(os, name, failing)


def test_a_file_that_cannot_get_its_name_is_reported_and_tried_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = declaration(1, [file("/a"), file("/b"), file("/c")])
    with monkeypatch.context() as broken:
        fails_for(broken, "rename", ".mesh-host-b")
        applied = world.applied(told)
    outcome = {event.action.identity: event.acted for event in applied.events}
    assert outcome["path:/b"] == Failed(why="/b: Input/output error")
    assert not isinstance(outcome["path:/a"], Failed)
    assert not isinstance(outcome["path:/c"], Failed)
    assert shown(world.root).keys() == {"/a", "/c"}, "nothing lies beside them"
    assert world.entries()["path:/b"].owned.in_flight
    assert world.applied(told).well
    assert shown(world.root).keys() == {"/a", "/b", "/c"}
    assert not any(entry.owned.in_flight for entry in world.entries().values())


def test_two_ways_to_one_place_end_with_the_later(world: World) -> None:
    (world.root / "usr").mkdir()
    (world.root / "lib").symlink_to("usr")
    assert world.applied(declaration(1, [file("/lib/a"), file("/usr/a", content="the other\n")])).well
    assert (world.root / "usr/a").read_text() == "the other\n"


def test_a_file_has_its_name_before_its_directory_is_given_away(world: World) -> None:
    told = [file("/d/a"), directory("/d", mode="0500"), file("/e")]
    assert world.applied(declaration(1, told)).well
    assert Path(world.root / "d/a").exists()
    assert world.unchanged(declaration(1, told)) is not None
