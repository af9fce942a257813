"""What a person puts into a tree, or edits in it, is never lost (design, part 8).

> removes what it owns and the declaration no longer names, **and nothing else**
> what a person edited since is left and reported
"""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import pytest

from mesh_adapters.host.kind import Done, LeftAlone
from mesh_core import Resource
from mesh_core.reconcile import Act
from tests.integration.host.tree.artifacts import SITE, made, put_into
from tests.integration.host.tree.outcomes import acts, files, nothing_is_left, why, why_of
from tests.integration.host.world import World, declaration, shown


def test_what_was_added_is_nobodys_drift_and_stays_when_it_goes(world: World, site: Resource) -> None:
    content = declaration(1, [site])
    assert world.applied(content).well
    world.put("/opt/web/uploads/one", "theirs\n")
    world.put("/opt/web/static/mine", "theirs\n")
    assert world.unchanged(content) is not None
    applied = world.applied(declaration(2))
    assert acts(applied)[0] == (Act.REMOVE, LeftAlone)
    assert applied.drifted
    assert why_of(applied) == "/opt/web is not empty: static/mine, uploads was edited or added, and stays"
    assert files(world) == {"/opt/web/uploads/one": "theirs\n", "/opt/web/static/mine": "theirs\n"}
    assert "path:/opt/web" not in world.entries()
    assert "with things in it" in why(world.applied(declaration(3, [site])))


def test_what_was_edited_stays_when_it_goes_and_nothing_else(world: World, site: Resource) -> None:
    assert world.applied(declaration(1, [site])).well
    world.put("/opt/web/index.html", "edited\n")
    (world.root / "opt/web/run").chmod(0o700)
    applied = world.applied(declaration(2))
    assert why_of(applied) == "/opt/web is not empty: index.html, run was edited or added, and stays"
    assert files(world) == {"/opt/web/index.html": "edited\n", "/opt/web/run": "#!/bin/sh\n"}


def test_what_was_edited_in_a_directory_that_was_there_stays(world: World, site: Resource) -> None:
    world.folder_at("/opt/web", mode=0o700)
    assert world.applied(declaration(1, [site])).well
    world.put("/opt/web/index.html", "edited\n")
    assert why_of(world.applied(declaration(2))).endswith("index.html was edited or added, and stays")
    assert files(world) == {"/opt/web/index.html": "edited\n"}
    assert stat.S_IMODE((world.root / "opt/web").stat().st_mode) == 0o700


@pytest.mark.parametrize("edited", [False, True])
def test_what_was_added_is_carried_over_to_the_next_tree(
    world: World, site: Resource, newer: Resource, edited: bool
) -> None:
    assert world.applied(declaration(1, [site])).well
    theirs = {
        "/opt/web/uploads/one": "theirs\n",
        "/opt/web/static/deep/mine": "theirs\n",
        "/opt/web/new/mine": "theirs\n",
    }
    for path, content in theirs.items():
        world.put(path, content, owner=1000, mode=0o600)
    world.link("/opt/web/link", "/etc", owner=1000)
    if edited:
        world.put("/opt/web/index.html", "edited\n")
    before = shown(world.root)
    applied = world.applied(declaration(2, [newer]))
    assert acts(applied) == [(Act.PUT_BACK if edited else Act.CHANGE, Done)]
    acted = applied.events[0].acted
    assert isinstance(acted, Done)
    assert acted.notes[-1] == "not of the artifact, and stays: link, new, static/deep and 1 more"
    after = shown(world.root)
    for path in (*theirs, "/opt/web/link"):
        assert after[path] == before[path]
    expected = {
        "/opt/web/index.html": "2\n",
        "/opt/web/static/b.css": "b\n",
        "/opt/web/new/deep/er": "new\n",
    }
    assert files(world) == expected | theirs | {"/opt/web/link": "/etc"}
    assert not [path for path in after if ".mesh-" in path]
    assert world.applied(declaration(3)).well
    assert files(world) == theirs | {"/opt/web/link": "/etc"}


def test_a_directory_that_only_holds_what_was_added_goes_when_that_is_gone(
    world: World, layout: Path
) -> None:
    only = made({"index.html": "3\n"})
    bare = only.tree("/opt/web", put_into(layout, only))
    first = made(SITE).tree("/opt/web", put_into(layout, made(SITE)))
    assert world.applied(declaration(1, [first])).well
    world.put("/opt/web/static/mine", "theirs\n")
    assert world.applied(declaration(2, [bare])).well
    assert files(world) == {"/opt/web/index.html": "3\n", "/opt/web/static/mine": "theirs\n"}
    (world.root / "opt/web/static/mine").unlink()
    assert world.applied(declaration(3)).well
    assert shown(world.root) == {}
    nothing_is_left(world)


@pytest.mark.parametrize("path", ["new", "new/deep", "new/deep/er", "static/b.css", "static/b.css/x"])
def test_what_was_added_where_the_next_tree_has_something_is_in_the_way(
    world: World, site: Resource, newer: Resource, path: str
) -> None:
    assert world.applied(declaration(1, [site])).well
    world.put(f"/opt/web/{path}", "theirs\n")
    there = shown(world.root)
    content = declaration(2, [newer])
    applied = world.applied(content)
    assert "what is not of the one before: " in why(applied)
    assert "move it away" in why(applied)
    assert shown(world.root) == there
    place = world.root / "opt/web" / (path.removesuffix("/x"))
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    assert world.applied(content).well
    assert files(world)["/opt/web/index.html"] == "2\n"


def test_a_file_of_a_person_where_a_directory_of_ours_was(
    world: World, site: Resource, newer: Resource
) -> None:
    """It stands in the place of what was declared, as an edited file does."""
    assert world.applied(declaration(1, [site])).well
    shutil.rmtree(world.root / "opt/web/static")
    world.put("/opt/web/static", "a file now\n")
    assert acts(world.applied(declaration(2, [newer]))) == [(Act.PUT_BACK, Done)]
    assert files(world)["/opt/web/static/b.css"] == "b\n"
