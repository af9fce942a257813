"""What a change would do to whom: who would be refused, and whose answers would move (design, part 8)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from mesh_core.analysis.what_if import Move, moves_of
from mesh_core.change import Change, DropNode, PutNode, SetPin
from mesh_core.model.mesh import Mesh
from mesh_core.model.node import Pin
from mesh_core.model.resolution import Refusal, Resolution


@frozen(kw_only=True)
class LostPin:
    """A pin that goes with the node that it is at."""

    node: str
    pin: Pin


@frozen(kw_only=True)
class Consequences:
    """What a person has to know before a change is recorded.

    `refused` are the refusals of nodes that were not refused before. `moves` are the answers from one
    provider that would live elsewhere, and `meant` those of them that the change itself says. `mended` are
    the nodes that are refused no longer.
    """

    refused: tuple[Refusal, ...]
    moves: tuple[Move, ...]
    meant: tuple[Move, ...]
    lost_pins: tuple[LostPin, ...]
    mended: tuple[str, ...]

    @property
    def harmful(self) -> bool:
        """Whether it takes a person's word: a node would be refused, or somebody's data would move."""
        return bool(self.refused or self.moves)


def consequences(
    changes: Iterable[Change], before: Mesh, was: Resolution, will_be: Resolution
) -> Consequences:
    """What `changes` do to the mesh `before`, which resolves to `was` and will resolve to `will_be`."""
    changes = tuple(changes)
    said = _pins_said(changes)
    refused_before = {refusal.node for refusal in was.refusals}
    refused_after = {refusal.node for refusal in will_be.refusals}
    moves = [
        move
        for node, outcome in will_be.nodes.items()
        if node in was.nodes
        for move in moves_of(was.nodes[node].answers, outcome.answers, node)
    ]
    meant = [move for move in moves if _is_meant(move, said.get((move.node, move.provision)))]
    put = {change.node.name: change.node.pins for change in changes if isinstance(change, PutNode)}
    gone = {change.node for change in changes if isinstance(change, DropNode)}
    return Consequences(
        refused=tuple(r for r in will_be.refusals if r.node not in refused_before),
        moves=tuple(move for move in moves if move not in meant),
        meant=tuple(meant),
        lost_pins=tuple(
            LostPin(node=node.name, pin=pin)
            for node in before.nodes
            for pin in node.pins
            if pin.node in gone and node.name not in gone and pin not in put.get(node.name, ())
        ),
        mended=tuple(sorted((refused_before - refused_after) & will_be.nodes.keys())),
    )


def _pins_said(changes: tuple[Change, ...]) -> dict[tuple[str, str], Pin]:
    """By node and name, the pins that the changes say, a node's whole entry all that it has.

    One that was there before is no move: the answer stood where it is.
    """
    said: dict[tuple[str, str], Pin] = {}
    for change in changes:
        if isinstance(change, SetPin):
            said[change.node, change.pin.provision] = change.pin
        elif isinstance(change, PutNode):
            said |= {(change.node.name, pin.provision): pin for pin in change.node.pins}
    return said


def _is_meant(move: Move, pin: Pin | None) -> bool:
    """Whether a pin says that the answer goes where it goes. One at the node where it stood does not, but
    for one at another module there: what moves it then is something else.
    """
    if pin is None or pin.node != move.after.node:
        return False
    if pin.module is None:
        return move.before.node != move.after.node
    return pin.module == move.after.module
