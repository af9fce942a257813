"""A tree, and what else is declared: inside of it, in its place, or because of it."""

from __future__ import annotations

from attrs import evolve

from mesh_adapters.host.kind import Context, Done, Prepared, StillNeeded
from mesh_adapters.host.kinds.file import File
from mesh_core import Resource
from mesh_core.reconcile import Act
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
