"""A tree, and what else is declared: inside of it, in its place, or because of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.host.kind import Context, Done, Failed, Prepared, StillNeeded
from mesh_adapters.host.kinds.file import File
from mesh_core import Resource
from mesh_core.reconcile import Act
from tests.integration.host.crash.dying import dies_at
from tests.integration.host.tree.artifacts import NEXT, blob_at, made, put_into
from tests.integration.host.tree.outcomes import acts, files, nothing_is_left, site_with
from tests.integration.host.world import World, declaration, directory, file, shown


def test_a_file_that_is_declared_inside_of_it(world: World, site: Resource, newer: Resource) -> None:
    inside = file("/opt/web/site.conf", "conf\n")
    assert world.applied(declaration(1, [site, inside])).well
    assert world.applied(declaration(1, [site, inside])).events == ()
    applied = world.applied(declaration(2, [newer, inside]))
    assert acts(applied) == [(Act.CHANGE, Done)]
    assert files(world)["/opt/web/site.conf"] == "conf\n"
    assert world.applied(declaration(3)).well
    assert shown(world.root) == {}
    nothing_is_left(world)


def test_what_holds_something_declared_goes_with_it(world: World, site: Resource) -> None:
    inside = file("/opt/web/site.conf", "conf\n")
    assert world.applied(declaration(1, [site, inside])).well
    applied = world.applied(declaration(2, [inside]))
    assert acts(applied)[0] == (Act.REMOVE, StillNeeded)
    assert files(world) == {"/opt/web/site.conf": "conf\n"}
    assert world.applied(declaration(3)).well
    assert shown(world.root) == {}
    nothing_is_left(world)


def test_it_comes_again_where_only_something_declared_was_left(world: World, site: Resource) -> None:
    inside = file("/opt/web/site.conf", "conf\n")
    assert world.applied(declaration(1, [site, inside])).well
    assert world.applied(declaration(2, [inside])).well
    assert world.applied(declaration(3, [site, inside])).well
    assert files(world) == site_with(**{"site.conf": "conf\n"})


def test_another_kind_at_the_path(world: World, site: Resource) -> None:
    assert world.applied(declaration(1, [site])).well
    assert world.applied(declaration(2, [file("/opt/web")])).well
    assert files(world) == {"/opt/web": "ours\n"}
    assert world.applied(declaration(3, [site])).well
    assert world.applied(declaration(4, [directory("/opt/web", mode="0700")])).well
    assert files(world) == {}
    assert world.applied(declaration(5)).well
    nothing_is_left(world)


class Watching(File):
    """As a service with `restart_on`, which is looked at without systemd here."""

    name = "watching"

    def prepare(self, resource: Resource, context: Context) -> Prepared:
        prepared = super().prepare(resource, context)
        return evolve(prepared, wanted=evolve(prepared.wanted, kind=self.name, watches=["path:/opt/web"]))


def test_what_watches_it_notices_another_artifact_and_an_edit_and_nothing_else(
    world: World, site: Resource, newer: Resource
) -> None:
    world = World(world.folder, {**world.kinds, "watching": Watching()})
    watcher = Resource(kind="watching", path="/watcher", attributes_json={"content": "x"})
    assert world.applied(declaration(1, [site, watcher])).well
    world.put("/opt/web/mine", "theirs\n")
    assert world.applied(declaration(1, [site, watcher])).events == ()
    for _ in range(2):
        applied = world.applied(declaration(2, [newer, watcher]))
        assert [(event.action.act, event.action.because) for event in applied.events][1:] == [
            (Act.REFRESH, ("path:/opt/web",))
        ]
        world.put("/opt/web/index.html", "edited\n")


@pytest.mark.parametrize("how", ["not to be had", "in the way"])
def test_what_watches_it_does_not_notice_one_that_did_not_come(
    world: World, site: Resource, newer: Resource, layout: Path, how: str
) -> None:
    world = World(world.folder, {**world.kinds, "watching": Watching()})
    watcher = Resource(kind="watching", path="/watcher", attributes_json={"content": "x"})
    assert world.applied(declaration(1, [site, watcher])).well
    if how == "not to be had":
        blob_at(layout, made(NEXT).layer).unlink()
    else:
        world.put("/opt/web/new", "theirs\n")
    for _ in range(2):
        applied = world.applied(declaration(2, [newer, watcher]))
        assert acts(applied) == [(Act.CHANGE, Failed), (Act.REFRESH, Failed)]
    assert acts(world.applied(declaration(3, [site, watcher]))) == [(Act.CONFIRM, Done)]
    put_into(layout, made(NEXT))
    (world.root / "opt/web/new").unlink(missing_ok=True)
    applied = world.applied(declaration(4, [newer, watcher]))
    assert acts(applied) == [(Act.CHANGE, Done), (Act.REFRESH, Done)]


def test_what_has_to_notice_something_since_earlier_is_not_held_up(
    world: World, site: Resource, newer: Resource
) -> None:
    world = World(world.folder, {**world.kinds, "watching": Watching()})
    watcher = Resource(kind="watching", path="/watcher", attributes_json={"content": "x"})
    assert world.applied(declaration(1, [site, watcher])).well
    killed: list[str] = []

    def step(name: str) -> None:
        killed.append(name)

    content = declaration(2, [newer, watcher])
    counted = world.copy(world.folder.parent / "counted")
    counted.apply(content, step)
    at = killed.index("tree emptied") + 2
    assert dies_at(at, partial(world.apply, content)) is not None
    world.put("/opt/web/index.html", "edited\n")
    assert acts(world.applied(content))[-1] == (Act.REFRESH, Done)
