"""What a run did to a tree, and what is there then."""

from __future__ import annotations

from mesh_adapters.host.applied import Applied
from mesh_adapters.host.kind import Acted, Failed, LeftAlone, StillNeeded
from mesh_core.reconcile import Act
from tests.integration.host.world import World, shown


def files(world: World) -> dict[str, str]:
    """The files under the root, with their content."""
    return {path: one[4].decode() for path, one in shown(world.root).items() if one[0] != "directory"}


def site_with(**more: str) -> dict[str, str]:
    return {
        "/opt/web/index.html": "1\n",
        "/opt/web/run": "#!/bin/sh\n",
        "/opt/web/static/a.css": "a\n",
    } | {f"/opt/web/{path}": content for path, content in more.items()}


def acts(applied: Applied) -> list[tuple[Act, type[Acted]]]:
    return [(event.action.act, type(event.acted)) for event in applied.events]


def why(applied: Applied) -> str:
    (event,) = applied.events
    assert isinstance(event.acted, Failed | LeftAlone | StillNeeded), event
    return event.acted.why


def why_of(applied: Applied) -> str:
    acted = applied.events[0].acted
    assert isinstance(acted, LeftAlone | StillNeeded)
    return acted.why


def nothing_is_left(world: World) -> None:
    """Of ours, anywhere: neither on the machine nor in what the host keeps for itself."""
    assert not [path for path in shown(world.root) if ".mesh-" in path]
    assert world.entries() == {}
    for kept in ("trees", "artifacts"):
        assert not [*(world.state / kept).glob("*")]
