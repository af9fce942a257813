"""What every law is made of: its name, how it says that it is broken, and how it is run.

Nothing here knows what any law says.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from itertools import count
from typing import NoReturn, Protocol

import hypothesis
from hypothesis.errors import Flaky

from mesh_core.canonical import canonical_json
from mesh_core.model.mesh import Mesh
from mesh_core.model.resolution import Resolution
from mesh_core.wire.data import mesh_to_data

Resolver = Callable[[Mesh], Resolution]
"""What is checked: a mesh in, the outcome of each of its nodes out."""


class Check(Protocol):
    """One law as a function of a resolver. Raises `AssertionError` where it is broken."""

    __name__: str

    def __call__(self, resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
        """Look for a mesh that breaks the law."""


class Law(StrEnum):
    """The laws of design, part 3, as a failure names them."""

    ORDER = "law 1 (Order)"
    DETERMINISM = "law 2 (Determinism)"
    MINIMALITY = "law 3 (Minimality)"
    SOUNDNESS = "law 4 (Soundness)"
    NO_SILENT_CHOICE = "law 5 (No silent choice of a machine)"
    VERDICTS_DO_NOT_CHOOSE = "law 6 (Verdicts do not choose)"
    LOCALITY = "law 7 (Locality)"
    ISOLATION = "law 8 (Isolation)"
    HARMLESS_PIN = "law 9 (Harmless pin)"
    MONOTONE_CAPABILITIES = "law 10 (Monotone capabilities)"


def broken(law: Law, what: str, *meshes: Mesh) -> NoReturn:
    """Raise the `AssertionError` of a law, with the meshes that show it as documents."""
    shown = [f"\n  mesh: {canonical_json(mesh_to_data(mesh))}" for mesh in meshes]
    raise AssertionError(f"{law} is broken: {what}{''.join(shown)}")


def whole(law: Law, resolve: Resolver) -> Resolver:
    """The resolver, held to answer every node of the mesh and no other: each law begins there."""

    def answering_every_node(mesh: Mesh) -> Resolution:
        resolution = resolve(mesh)
        asked = sorted(node.name for node in mesh.nodes)
        if [outcome.node for outcome in resolution.outcomes] != asked:
            broken(law, "not every node has one outcome", mesh)
        return resolution

    return answering_every_node


def nowhere(mesh: Mesh) -> str:
    """The name of a node that the mesh does not have."""
    return next(name for n in count() if mesh.node(name := f"nowhere{n}") is None)


def run(law: Law, test: Callable[[], None], settings: hypothesis.settings | None) -> None:
    """Run what `given` made, with these settings; or with those of the loaded profile and no deadline,
    since a law may resolve dozens of meshes for one example.

    A resolver that answers one mesh now so and now so is no accident of the test: it breaks the law,
    and that of determinism beside it.
    """
    chosen = settings or hypothesis.settings(deadline=None)
    try:
        chosen(test)()
    except Flaky as error:
        raise AssertionError(f"{law} is broken: one mesh is resolved in two ways") from error
