"""What the host remembers of a tree, and how it goes on where that is lost."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mesh_adapters.host.kind import Done
from mesh_core import Resource
from mesh_core.reconcile import Act
from tests.integration.host.tree.artifacts import SITE, made, put_into
from tests.integration.host.tree.outcomes import acts, files, site_with
from tests.integration.host.world import World, declaration


def test_records_of_what_somebody_took_away_do_not_stay_for_ever(world: World, layout: Path) -> None:
    one = made(SITE)
    source = put_into(layout, one)
    assert world.applied(declaration(1, [one.tree("/opt/one", source)])).well
    shutil.rmtree(world.root / "opt")
    assert world.applied(declaration(2)).well
    assert world.applied(declaration(3, [one.tree("/opt/two", source)])).well
    assert len([*(world.state / "trees").iterdir()]) == 1


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_a_tree_whose_record_is_lost_is_still_ours(world: World, site: Resource, how: str) -> None:
    content = declaration(1, [site])
    assert world.applied(content).well
    world.put("/opt/web/mine", "theirs\n")
    world.put("/opt/web/index.html", "edited\n")
    lose(world, how)
    assert acts(world.applied(content)) == [(Act.PUT_BACK, Done)]
    assert files(world) == site_with(mine="theirs\n")
    assert world.applied(content).events == ()


@pytest.mark.parametrize("how", ["gone", "damaged"])
def test_a_tree_whose_record_is_lost_is_left_when_it_goes(world: World, site: Resource, how: str) -> None:
    assert world.applied(declaration(1, [site])).well
    lose(world, how)
    applied = world.applied(declaration(2))
    assert acts(applied)[0][0] is Act.LEAVE
    assert files(world) == site_with()


def lose(world: World, how: str) -> None:
    for place in (world.state / "trees").glob("*/now"):
        if how == "gone":
            shutil.rmtree(place.parent)
        else:
            place.write_bytes(place.read_bytes().replace(b"index.html", b"index.htm_"))
