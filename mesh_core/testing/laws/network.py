"""What the laws of the overlay share: how one says that it is broken, and how a case is looked for.

And the one of them that is about resolution.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

import hypothesis
from attrs import evolve
from hypothesis import given

from mesh_core.canonical import canonical_json
from mesh_core.model.mesh import Mesh
from mesh_core.model.network import UNATTACHED
from mesh_core.testing.laws.law import Resolver
from mesh_core.testing.strategies.dice import Dice, thrown
from mesh_core.testing.strategies.of_meshes import THROWS, any_mesh
from mesh_core.testing.strategies.of_networks import ATTACHED_THROWS, any_attached
from mesh_core.wire.data import mesh_to_data

_T = TypeVar("_T")


def broken(law: str, what: str, *meshes: Mesh) -> NoReturn:
    """Raise the `AssertionError` of a law, with the meshes that show it as documents."""
    shown = [f"\n  mesh: {canonical_json(mesh_to_data(mesh))}" for mesh in meshes]
    raise AssertionError(f"the network ({law}) is broken: {what}{''.join(shown)}")


def look(
    throws: int,
    make: Callable[[Dice], _T],
    holds: Callable[[_T], None],
    settings: hypothesis.settings | None,
) -> None:
    """Look at cases until one breaks a law."""

    def holds_for(case: _T) -> None:
        holds(case)

    chosen = settings or hypothesis.settings(deadline=None)
    test = given(case=thrown(throws, make))(holds_for)
    hypothesis.settings(chosen, report_multiple_bugs=False)(test)()


def check_is_not_resolved(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """> `network` is the overlay, if there is one; resolution does not read it.

    Nor how nodes are attached to it. Raises `AssertionError`.
    """

    def holds(dice: Dice) -> None:
        mesh = any_mesh(dice.part(THROWS))
        bare = evolve(mesh, network=None, nodes=[evolve(node, network=UNATTACHED) for node in mesh.nodes])
        other = any_attached(dice, bare)
        resolution = resolve(bare)
        if resolve(mesh) != resolution or resolve(other) != resolution:
            broken("resolution", "what is on a node hangs on how it is attached", mesh, other)

    look(THROWS + ATTACHED_THROWS, lambda dice: dice, holds, settings)
