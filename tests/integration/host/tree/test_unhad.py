"""What cannot be had, or is wrong, changes nothing; and nothing of it is kept (design, part 11).

> Everything that a module needs is fetched before its first resource is touched
"""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from mesh_adapters.host.kind import Brought, Failed
from mesh_adapters.host.kinds.tree import Tree
from mesh_adapters.host.machine import Machine
from mesh_core import Resource
from mesh_core.reconcile import Action
from tests.integration.host.tree.artifacts import NEXT, SITE, blob_at, made, made_of, put_into, tar_of
from tests.integration.host.tree.outcomes import files, site_with, why
from tests.integration.host.world import World, declaration, file, shown


def test_what_cannot_be_had_leaves_the_old_and_all_of_its_module(
    world: World, site: Resource, newer: Resource, layout: Path
) -> None:
    conf, other = file("/etc/web.conf", "1\n"), file("/etc/other")
    assert world.applied(declaration(1, [site, conf])).well
    blob_at(layout, made(NEXT).layer).unlink()
    applied = world.applied(declaration(2, [newer, file("/etc/web.conf", "2\n")], [other]))
    assert {event.action.identity for event in applied.failed} == {"path:/opt/web", "path:/etc/web.conf"}
    assert files(world) == site_with() | {"/etc/web.conf": "1\n", "/etc/other": "ours\n"}
    put_into(layout, made(NEXT))
    assert world.applied(declaration(2, [newer, file("/etc/web.conf", "2\n")], [other])).well


@pytest.mark.parametrize("which", ["manifest", "layer", "longer", "shorter"])
def test_wrong_bytes_are_not_unpacked(
    world: World, site: Resource, newer: Resource, layout: Path, which: str
) -> None:
    assert world.applied(declaration(1, [site])).well
    there = shown(world.root)
    place = blob_at(layout, made(NEXT).artifact if which == "manifest" else made(NEXT).layer)
    right = place.read_bytes()
    wrong = {"longer": right + b"\0" * 512, "shorter": right[:-512]}
    place.write_bytes(wrong.get(which, right[:-1] + bytes([right[-1] ^ 1])))
    applied = world.applied(declaration(2, [newer]))
    assert len(applied.failed) == 1
    assert "m0 is not touched" in why(applied)
    assert shown(world.root) == there
    assert not [*(world.state / "artifacts").glob(place.name)]


def test_what_was_damaged_in_the_cache_is_not_unpacked(world: World, site: Resource) -> None:
    """Between the two, the disk may have changed it."""

    class Damaging(Tree):
        def brings(self, action: Action, resource: Resource, machine: Machine) -> Brought | Failed:
            for place in (world.state / "artifacts").iterdir():
                place.write_bytes(place.read_bytes()[:-1] + b"!")
            return super().brings(action, resource, machine)

    damaging = World(world.folder, {**world.kinds, "tree": Damaging()})
    applied = damaging.applied(declaration(1, [site]))
    acted = applied.failed[0].acted
    assert isinstance(acted, Failed)
    assert "was damaged since it came" in acted.why
    assert "/opt/web" not in shown(world.root)
    assert world.applied(declaration(1, [site])).well


def test_the_cache_has_nothing_once_all_is_in_its_place(
    world: World, site: Resource, newer: Resource
) -> None:
    (world.state / "artifacts").mkdir(parents=True)
    (world.state / "artifacts" / ("0" * 64)).write_text("of an earlier run")
    also = Resource(kind="tree", path="/opt/also", attributes_json=site.attributes)
    assert world.applied(declaration(1, [site, also])).well
    assert [*(world.state / "artifacts").iterdir()] == []
    assert stat.S_IMODE((world.state / "trees").stat().st_mode) == 0o700
    assert world.applied(declaration(2, [newer])).well
    assert len([*(world.state / "trees").iterdir()]) == 1


def test_what_is_no_layer_is_refused_before_anything_is_there(world: World, layout: Path) -> None:
    wrong = made_of(tar_of(SITE)[:-5000].rstrip(b"\0") + b"\1" * 700)
    applied = world.applied(declaration(1, [wrong.tree("/web", put_into(layout, wrong))]))
    assert len(applied.failed) == 1
    assert shown(world.root) == {}


def test_a_failure_while_it_is_unpacked_leaves_nothing(
    world: World, site: Resource, newer: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert world.applied(declaration(1, [site])).well
    there = shown(world.root)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr("os.utime", full)
        applied = world.applied(declaration(2, [newer]))
    assert why(applied) == "/opt/web: No space left on device"
    assert shown(world.root) == there
    assert world.applied(declaration(2, [newer])).well
