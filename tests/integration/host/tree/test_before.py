"""What was there before a tree: an empty directory comes back, all else is left alone (design, part 8).

> What was there before it is remembered and put back or left
"""

from __future__ import annotations

import os

import pytest

from mesh_core import Resource
from tests.integration.host.tree.outcomes import files, nothing_is_left, site_with, why
from tests.integration.host.world import PRIVILEGED, World, declaration, shown


def test_an_empty_directory_is_used_and_comes_back_as_it_was(world: World, site: Resource) -> None:
    world.folder_at("/opt/web", mode=0o2710)
    if PRIVILEGED:
        os.chown(world.root / "opt/web", 1000, 1001)
        (world.root / "opt/web").chmod(0o2710)
    at_first = shown(world.root)
    assert world.applied(declaration(1, [site])).well
    assert files(world) == site_with()
    assert world.applied(declaration(2)).well
    assert shown(world.root) == at_first
    nothing_is_left(world)


def test_a_directory_with_things_in_it_is_not_replaced(world: World, site: Resource) -> None:
    world.put("/opt/web/theirs", "theirs\n")
    at_first = shown(world.root)
    content = declaration(1, [site])
    for _ in range(2):
        applied = world.applied(content)
        assert why(applied) == (
            "there is a directory at /opt/web with things in it; move it away, and apply again"
        )
        assert shown(world.root) == at_first
    (world.root / "opt/web").rename(world.root / "opt/old")
    assert world.applied(content).well
    assert files(world) == site_with() | {"/opt/old/theirs": "theirs\n"}
    assert world.applied(declaration(2)).well
    assert files(world) == {"/opt/old/theirs": "theirs\n"}


def test_the_very_same_files_that_a_person_put_there_are_theirs(world: World, site: Resource) -> None:
    for path, content in site_with().items():
        world.put(path, content)
    assert "with things in it" in why(world.applied(declaration(1, [site])))
    assert world.applied(declaration(2)).well
    assert files(world) == site_with()


@pytest.mark.parametrize("what", ["file", "link"])
def test_a_file_or_a_link_is_not_replaced(world: World, site: Resource, what: str) -> None:
    if what == "file":
        world.put("/opt/web", "theirs\n")
    else:
        world.folder_at("/opt")
        world.link("/opt/web", "/nowhere")
    at_first = shown(world.root)
    applied = world.applied(declaration(1, [site]))
    assert why(applied) == f"there is a {what} at /opt/web; move it away, and apply again"
    assert world.applied(declaration(2)).well
    assert shown(world.root) == at_first
