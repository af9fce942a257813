"""Whether a host takes a declaration at all (design, part 8).

> refuses one that is truncated, for another node, of an older generation, or of the same generation with
> another digest, changes nothing, and says so in a report

That it was truncated is found where it is read (`wire.declaration`).
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import frozen

from mesh_core.model.declaration import Declaration


@frozen(kw_only=True)
class Taken:
    """The declaration that a host took last."""

    node: str
    generation: int
    digest: str


@frozen(kw_only=True)
class ForAnotherNode:
    """It is for a node that this machine is not."""

    node: str
    this: str


@frozen(kw_only=True)
class OlderGeneration:
    """A newer one was taken before."""

    generation: int
    taken: int


@frozen(kw_only=True)
class SameGeneration:
    """Another one of the same generation was taken before."""

    generation: int


@frozen(kw_only=True)
class EmptyWithoutWord:
    """It says nothing at all, and not that this is meant."""

    generation: int


@frozen(kw_only=True)
class TooManyRemovals:
    """It would take off more than a host does without the word for that generation."""

    generation: int
    owned: int
    most: int
    going: tuple[str, ...]


NotTaken: TypeAlias = ForAnotherNode | OlderGeneration | SameGeneration | EmptyWithoutWord | TooManyRemovals
"""Why a declaration that is whole is not taken."""


def why_not(declaration: Declaration, digest: str, last: Taken | None) -> NotTaken | None:
    """Why a host that took `last` does not take this one; None where it does."""
    generation = declaration.generation
    if last is not None and declaration.node != last.node:
        return ForAnotherNode(node=declaration.node, this=last.node)
    if last is not None and generation < last.generation:
        return OlderGeneration(generation=generation, taken=last.generation)
    if last is not None and generation == last.generation and digest != last.digest:
        return SameGeneration(generation=generation)
    if not declaration.modules and not declaration.empty:
        return EmptyWithoutWord(generation=generation)
    return None
