"""A declaration in a few lines: what a node is told, and of one that is too large what makes it so."""

from __future__ import annotations

from collections.abc import Iterator

from mesh_core.canonical import canonical_json
from mesh_core.explain.words import counted, some
from mesh_core.model.declaration import Declaration, DeclaredAnswer, DeclaredModule, Given
from mesh_core.model.network import DeclaredNetwork
from mesh_core.model.resolution import Plan
from mesh_core.wire.data import resource_to_data
from mesh_core.wire.declaration import digest_of

_LARGEST = 3


def summary(declaration: Declaration, plan: Plan) -> Iterator[str]:
    """Node, generation and counts; each module in order with what it has and what answers it; the digest."""
    modules, items = counted(len(declaration.modules), "module"), counted(declaration.items, "item")
    yield f"{declaration.node}, generation {declaration.generation}: {modules}, {items}"
    if declaration.network is not None:
        yield from _network(declaration.network)
    for module in declaration.modules:
        yield from _module(module)
    if declaration.allow_removals:
        yield "as much may go at once as has to"
    elif not declaration.modules:
        yield "there is nothing in it, and a host takes that only with --allow-removals"
    for take in plan.unsettled:
        waits = "is left out" if take.every else "holds a push until it is mended"
        yield f"{take.provision} from {take.node} is unsettled, since that node is refused; it {waits}"
    yield f"digest {digest_of(declaration)}"


def largest(declaration: Declaration) -> list[str]:
    """The largest resources of a declaration, the largest first."""
    sizes = [
        (len(canonical_json(resource_to_data(resource)).encode()), resource.identity, module.name)
        for module in declaration.modules
        for resource in module.resources
    ]
    ordered = sorted(sizes, key=lambda part: (-part[0], part[1]))
    return [f"{identity} of {module}: {size} bytes" for size, identity, module in ordered[:_LARGEST]]


def _network(network: DeclaredNetwork) -> Iterator[str]:
    relays = ", and it forwards for others" if network.relay else ""
    yield f"  in the network at {network.address}{relays}"
    for peer in network.peers:
        where = "comes by itself" if peer.endpoint is None else f"is at {peer.endpoint}"
        yield f"      {peer.node} {where}: {some(peer.addresses)}"


def _module(module: DeclaredModule) -> Iterator[str]:
    yield f"  {module.name} {module.version}"
    yield from (f"      {resource.identity}" for resource in module.resources)
    yield from (f"      {_answer(answer)}" for answer in module.answers)
    if module.checks:
        yield f"      checks: {some([check.kind for check in module.checks])}"


def _answer(answer: DeclaredAnswer) -> str:
    every = " from every" if answer.every else ""
    given = "; ".join(map(_given, answer.given)) or "nobody"
    return f"{answer.provision}{every}: {given}"


def _given(given: Given) -> str:
    exports = ", ".join(f"{name}={text}" for name, text in given.exports)
    where = f"{given.node} ({given.module})" + ("" if given.address is None else f" at {given.address}")
    return where + (f" {exports}" if exports else "")
