"""What comes out of a broker's queue, judged by itself: a new declaration, one that is known, or a refusal.

Pure. What takes a look at the machine (how much would go) is found later, by the work loop.
"""

from __future__ import annotations

from typing import TypeAlias

from attrs import frozen

from mesh_adapters.host.applying import Malformed, Refused
from mesh_core.explain.reported import malformed, set_aside, turned_down, unreadable
from mesh_core.ports.broker import SetAside
from mesh_core.reconcile import (
    EmptyWithoutWord,
    ForAnotherNode,
    NotTaken,
    SameGeneration,
    Taken,
    TooManyRemovals,
    why_not,
)
from mesh_core.wire.declaration import received
from mesh_core.wire.faults import WireError


@frozen(kw_only=True)
class New:
    """A declaration that is newer than what is kept here."""

    taken: Taken


@frozen(kw_only=True)
class Known:
    """One that is kept here came again."""

    taken: Taken


@frozen(kw_only=True)
class Refusal:
    """Something was not taken: its generation, where it told one, and why, in lines.

    `lasting` is whether it stays the answer to what was sent last, until something is taken. What only went
    astray (garbage, an older one, another node's) is told once.
    """

    generation: int | None = None
    why: tuple[str, ...]
    lasting: bool = False


Judged: TypeAlias = New | Known | Refusal


def judge(content: bytes | SetAside, node: str, newest: Taken | None) -> Judged:
    """What came for this node, where `newest` is kept already."""
    if isinstance(content, SetAside):
        return Refusal(why=(set_aside(content),))
    try:
        declaration, digest = received(content)
    except WireError as error:
        return refusal_of(Malformed(faults=tuple(error.faults)))
    except Exception as error:  # whatever a stranger's bytes bring about, they are no reason to end
        return Refusal(why=(unreadable(error),))
    if declaration.node != node:
        return refusal_of(ForAnotherNode(node=declaration.node, this=node), declaration.generation)
    last = newest if newest is not None and newest.node == node else None
    refused = why_not(declaration, digest, last)
    if refused is not None:
        return refusal_of(refused)
    taken = Taken(node=node, generation=declaration.generation, digest=digest)
    return Known(taken=taken) if taken == last else New(taken=taken)


def refusal_of(refused: Refused, generation: int | None = None) -> Refusal:
    """The refusal of what was looked at and not taken."""
    if isinstance(refused, Malformed):
        return Refusal(why=malformed(refused.faults))
    return Refusal(
        generation=_generation(refused, generation), why=turned_down(refused), lasting=_lasts(refused)
    )


def _generation(refused: NotTaken, otherwise: int | None) -> int | None:
    return otherwise if isinstance(refused, ForAnotherNode) else refused.generation


def _lasts(refused: NotTaken) -> bool:
    return isinstance(refused, SameGeneration | EmptyWithoutWord | TooManyRemovals)
