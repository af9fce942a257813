"""Who has which address in the overlay: given once, and kept (design, part 11).

> Addresses are not reused while any free one is left; another range is a command of its own that shows who
> moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from attrs import evolve, frozen

from mesh_core.change import Attach, Change, DropNode, PutNode, SetNetwork, apply_all
from mesh_core.model.mesh import Mesh, address_faults
from mesh_core.model.network import Attachment, Network, tidied
from mesh_core.model.network_text import as_range
from mesh_core.model.node import Node


@frozen(kw_only=True)
class Addressed:
    """A mesh whose nodes have addresses; `full` are those for which the range has no room."""

    mesh: Mesh
    full: tuple[str, ...] = ()


def give_addresses(mesh: Mesh) -> Addressed:
    """The mesh with an address for every node that has none, in the order of their names.

    A node is given the lowest address that never was anybody's; once there is none, the one that was let go
    first. Without a network nobody is given any.
    """
    network = mesh.network
    if network is None:
        return Addressed(mesh=mesh)
    free = _free(network, mesh.nodes)
    nodes: list[Node] = []
    full: list[str] = []
    for node in mesh.nodes:
        address = node.network.address or next(free, None)
        if address is None:
            full.append(node.name)
        nodes.append(evolve(node, network=evolve(node.network, address=address)))
    return Addressed(mesh=evolve(mesh, nodes=nodes), full=tuple(full))


def _free(network: Network, nodes: tuple[Node, ...]) -> Iterator[str]:
    """The addresses that may be given next, in that order. A range of IPv6 has too many to list."""
    held = {node.network.address for node in nodes}
    retired = {*network.retired}
    for address in _of_machines(network.range):
        if address not in held and address not in retired:
            yield address
    for address in network.retired:
        if address not in held:
            yield address


def _of_machines(range_: str) -> Iterator[str]:
    addresses = as_range(range_)
    first, last = int(addresses.network_address), int(addresses.broadcast_address)
    made = type(addresses.network_address)
    for number in range(first + 1, last + (addresses.version == 6)):
        yield str(made(number))


def moving(mesh: Mesh, network: Network | None) -> tuple[Change, ...]:
    """The changes that give a mesh another network, or none any more; none that changes nothing.

    Who has an address that may stay keeps it, the others are given one where there is room, and what was let
    go stays so.
    """
    if network is not None and mesh.network is not None:
        network = tidied(evolve(network, retired=mesh.network.retired), ())
    first = (SetNetwork(network=network),) if network != mesh.network else ()
    if network is None:
        return first
    clears = [Attach(node=node.name, network=kept) for node, kept in _unfit(mesh, network)]
    return (*first, *_attached(mesh, give_addresses(apply_all(mesh, (*first, *clears))).mesh))


def _unfit(mesh: Mesh, network: Network) -> Iterator[tuple[Node, Attachment]]:
    """The nodes whose address cannot stay, and how they are attached without it."""
    for place, _ in address_faults(network, mesh.nodes):
        node = mesh.nodes[place]
        yield node, evolve(node.network, address=None)


def addressed(mesh: Mesh, changes: Iterable[Change]) -> tuple[Change, ...]:
    """Changes of a mesh, with an address for each node that has none then.

    What says last how a node is attached has it, the others are attached behind everything.
    """
    changes = tuple(changes)
    if not any(isinstance(change, PutNode | DropNode | SetNetwork) for change in changes):
        return changes
    after = apply_all(mesh, changes)
    given = {change.node: change for change in _attached(after, give_addresses(after).mesh)}
    told = list(changes)
    for place in reversed(range(len(changes))):
        change = changes[place]
        if isinstance(change, PutNode) and change.node.name in given:
            attach = given.pop(change.node.name)
            told[place] = PutNode(node=evolve(change.node, network=attach.network))
        elif isinstance(change, Attach) and change.node in given:
            told[place] = given.pop(change.node)
    return (*told, *given.values())


def _attached(before: Mesh, after: Mesh) -> Iterator[Attach]:
    for old, new in zip(before.nodes, after.nodes, strict=True):
        if old.network != new.network:
            yield Attach(node=new.name, network=new.network)
