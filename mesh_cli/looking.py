"""The mesh that a command looks at without changing it: a document, or the store."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mesh_cli import reading
from mesh_cli.exits import Exit, Stop
from mesh_cli.wiring import now, opened_store, settled

if TYPE_CHECKING:
    from mesh_core.analysis.ladder import Whose
    from mesh_core.analysis.material import Settled
    from mesh_core.analysis.state_of_modules import StateOfModule
    from mesh_core.analysis.state_of_nodes import StateOfNode
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.sent import Standing
    from mesh_core.ports import Store
    from mesh_core.push import Outcome


def mesh_of(file: str | None, store: Path | None) -> tuple[Mesh, Mapping[str, tuple[str, ...]]]:
    """The mesh to look at, and what was last declared on its nodes."""
    if file is not None and store is not None:
        raise Stop(Exit.USAGE, "two-meshes", "--file and --store are two meshes; give one")
    if file is not None:
        from mesh_core.network.addresses import give_addresses

        return give_addresses(reading.mesh_document(file).mesh).mesh, {}
    with opened_store(store) as opened:
        return opened.mesh(), opened.declared()


def other_networks(store: Store, outcomes: Mapping[str, Outcome]) -> frozenset[str]:
    """The nodes that would be told of another network than they were sent last, and of nothing else."""
    from mesh_core.push import Send

    going = {name: one.body for name, one in outcomes.items() if isinstance(one, Send)}
    found = set()
    for name, _, body in store.newest(going):
        was, wanted = json.loads(body), json.loads(going[name])
        differs = {part: was.get(part) != wanted.get(part) for part in ("network", "modules")}
        if differs["network"] and not differs["modules"]:
            found.add(name)
    return frozenset(found)


class Standings(NamedTuple):
    """A mesh, its resolution, and how it stands with its nodes."""

    mesh: Mesh
    found: Settled
    states: dict[str, StateOfNode]
    standings: Mapping[str, Standing]

    def planned(self, module: str) -> list[str]:
        """The nodes that are to have a module."""
        return [plan.node for plan in self.found.resolution.plans if module in plan.members]

    def whose(self) -> Whose:
        """Which modules each node is to have, and who is refused."""
        from mesh_core.analysis.ladder import Whose

        meant = {outcome.node: outcome.members for outcome in self.found.resolution.outcomes}
        return Whose(meant=meant, refused=self.found.refused)


def how_it_stands(store: Store) -> Standings:
    """What is to be on every node, and how it stands with it now."""
    from mesh_cli.render.status import since
    from mesh_core.analysis.state_of_nodes import states_of_nodes
    from mesh_core.resolve import resolve

    mesh, standings = store.mesh(), store.standings()
    found = settled(mesh, resolve(mesh))
    states = states_of_nodes(mesh, found, standings, since(now()))
    return Standings(mesh=mesh, found=found, states=states, standings=standings)


def states_of_modules(
    store: Store, mesh: Mesh, standings: Mapping[str, Standing] | None = None
) -> dict[str, StateOfModule]:
    """How it stands with every module of a mesh that was just read from this store, with these standings."""
    from mesh_core.analysis.state_of_modules import Records
    from mesh_core.analysis.state_of_modules import states_of_modules as states

    records = Records(
        current=store.current(),
        heads=store.heads(),
        held=store.held(),
        open_builds=store.open_builds(),
    )
    return states(mesh, records, (store.standings() if standings is None else standings).values())
