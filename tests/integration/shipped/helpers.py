"""A small mesh of the modules that ship, and what a machine of it would be told."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from mesh_adapters.host.knowledge import Knowledge
from mesh_adapters.host.registry import known_kinds
from mesh_adapters.shipped import manifest, names
from mesh_core import Capability, Catalogue, Mesh, Module, Node, resolve
from mesh_core.declare import declare
from mesh_core.model.resolution import Plan
from mesh_core.wire.declaration import declaration_to_data

HAS = tuple(Capability(name=name) for name in ("packages:apt", "systemd"))
"""What a Debian machine has of what these modules need."""


@cache
def kinds() -> Knowledge:
    """The kinds that every program of the project knows."""
    return Knowledge(known_kinds())


@cache
def shipped() -> dict[str, Module]:
    """All of them, by name."""
    return {name: manifest(name, kinds()) for name in names()}


def mesh_of(assigned: Mapping[str, Sequence[str]], *others: Module) -> Mesh:
    """A mesh whose catalogue has all that ships, and `others`."""
    nodes = [Node(name=name, assigned=modules, capabilities=HAS) for name, modules in assigned.items()]
    return Mesh(catalogue=Catalogue(modules=[*shipped().values(), *others]), nodes=nodes)


def declaration(mesh: Mesh, node: str, generation: int = 1) -> dict[str, Any]:
    """What the node would be told."""
    plan = resolve(mesh).nodes[node]
    assert isinstance(plan, Plan), plan
    return declaration_to_data(declare(plan, mesh, generation=generation, allow_removals=True))


def told(mesh: Mesh, node: str, generation: int) -> str:
    """The same as it goes over the wire."""
    return json.dumps(declaration(mesh, node, generation))
