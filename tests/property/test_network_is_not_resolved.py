"""Whatever the networks say, a mesh is resolved in the same way."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from attrs import evolve
from hypothesis import Phase, settings

from mesh_core import Mesh, Node, Resolution, resolve
from mesh_core.testing.laws.network import check_is_not_resolved

QUICK = settings(max_examples=500, derandomize=True, database=None, deadline=None, phases=[Phase.generate])


def test_the_resolver_does_not_read_the_network() -> None:
    check_is_not_resolved(resolve)


def idle(node: Node) -> Node:
    return evolve(node, assigned=())


@pytest.mark.parametrize(
    "is_idle",
    [
        lambda mesh, node: mesh.network is not None and node.network.address is None,
        lambda mesh, node: node.network.key is not None,
        lambda mesh, node: node.network.relay,
        lambda mesh, node: node.network.site is not None,
        lambda mesh, node: bool(node.network.endpoints),
        lambda mesh, node: mesh.network is not None and bool(mesh.network.retired),
    ],
)
def test_one_that_does_breaks_the_law(is_idle: Callable[[Mesh, Node], bool]) -> None:
    def reading(mesh: Mesh) -> Resolution:
        nodes = [idle(node) if is_idle(mesh, node) else node for node in mesh.nodes]
        return resolve(evolve(mesh, nodes=nodes))

    with pytest.raises(AssertionError, match=r"^the network \(resolution\) is broken"):
        check_is_not_resolved(reading, QUICK)
