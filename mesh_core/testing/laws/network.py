"""What the laws of the overlay share: how one says that it is broken, and how a case is looked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

import hypothesis
from hypothesis import given

from mesh_core.canonical import canonical_json
from mesh_core.model.mesh import Mesh
from mesh_core.testing.strategies.dice import Dice, thrown
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
