"""What every law is made of: its name, how it says that it is broken, and how a mesh is looked for.

Nothing here knows what any law says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from itertools import count
from typing import NoReturn, Protocol

import hypothesis
from hypothesis import Phase, given
from hypothesis.database import ExampleDatabase
from hypothesis.errors import Flaky, HypothesisException

from mesh_core.canonical import canonical_json
from mesh_core.model.mesh import Mesh
from mesh_core.model.resolution import Resolution
from mesh_core.testing.laws.smaller import smallest
from mesh_core.testing.strategies.dice import Dice, thrown
from mesh_core.testing.strategies.of_meshes import THROWS, any_mesh
from mesh_core.wire.data import mesh_to_data

Resolver = Callable[[Mesh], Resolution]
"""What is checked: a mesh in, the outcome of each of its nodes out."""

Look = Callable[[Mesh, Dice], None]
"""A law for one mesh; what else there is to choose, the dice choose. Raises `AssertionError`."""


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


_MORE = 400
"""So many throws for what a law chooses beside the mesh: another mesh, or a document of it."""


def _case(dice: Dice) -> tuple[Mesh, bytes]:
    return any_mesh(dice.part(THROWS)), dice.rest()


def keep(law: Law, look: Look, settings: hypothesis.settings | None) -> None:
    """Look at meshes until one breaks the law; then show the smallest of it that still does.

    With these settings, or with those of the loaded profile and no deadline, since a law may resolve
    dozens of meshes for one example. A resolver that answers one mesh now so and now so is no accident
    of the test: it breaks the law, and that of determinism beside it.
    """
    seen: list[tuple[Mesh, bytes]] = []

    def holds(case: tuple[Mesh, bytes]) -> None:
        seen[:] = [case]
        look(case[0], Dice(case[1]))

    test = _settings(law, settings)(given(case=thrown(THROWS + _MORE, _case))(holds))
    try:
        test()
    except Flaky as error:
        raise AssertionError(f"{law} is broken: one mesh is resolved in two ways") from error
    except Exception as error:
        if not seen or isinstance(error, HypothesisException):
            raise
        raise _shown_small(error, *seen[0], look) from None


def _settings(law: Law, settings: hypothesis.settings | None) -> hypothesis.settings:
    """A mesh is made smaller by taking things away from it, which is quicker than what hypothesis does."""
    chosen = settings or hypothesis.settings(deadline=None)
    return hypothesis.settings(
        chosen,
        phases=[phase for phase in chosen.phases if phase not in (Phase.shrink, Phase.explain)],
        report_multiple_bugs=False,
        database=chosen.database and _OfLaw(law, chosen.database),
    )


class _OfLaw(ExampleDatabase):
    """What broke one law, in a database of failures: to hypothesis all the laws are one test."""

    def __init__(self, law: Law, database: ExampleDatabase) -> None:
        super().__init__()
        self._suffix, self._database = law.encode(), database

    def save(self, key: bytes, value: bytes) -> None:
        self._database.save(key + self._suffix, value)

    def fetch(self, key: bytes) -> Iterable[bytes]:
        return self._database.fetch(key + self._suffix)

    def delete(self, key: bytes, value: bytes) -> None:
        self._database.delete(key + self._suffix, value)


def _shown_small(error: Exception, mesh: Mesh, more: bytes, look: Look) -> Exception:
    """The same error for the smallest mesh that has it."""

    def raised(smaller: Mesh) -> Exception | None:
        try:
            look(smaller, Dice(more))
        except type(error) as found:
            return found
        return None

    small = smallest(mesh, lambda smaller: raised(smaller) is not None)
    shown = raised(small) or error
    if not isinstance(error, AssertionError):
        shown.add_note(f"mesh: {canonical_json(mesh_to_data(small))}")
    return shown
