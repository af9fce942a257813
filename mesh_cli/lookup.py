"""Names that have to exist: the thing itself, or an answer with the near ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mesh_cli.exits import Exit, Stop
from mesh_cli.options import checked_name

if TYPE_CHECKING:
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.module import Module
    from mesh_core.model.node import Node


def known_node(mesh: Mesh, name: str) -> Node:
    """The node of that name."""
    node = mesh.node(checked_name("node", name))
    if node is None:
        raise _unknown("node", name, [node.name for node in mesh.nodes], "mesh node list")
    return node


def known_module(mesh: Mesh, name: str) -> Module:
    """The module of that name."""
    module = mesh.catalogue.get(checked_name("module", name))
    if module is None:
        raise _unknown("module", name, [m.name for m in mesh.catalogue], "mesh module list")
    return module


def _unknown(what: str, name: str, known: Iterable[str], listing: str) -> Stop:
    from mesh_core.explain.words import near

    meant = near(name, known)
    hint = f"near: {', '.join(meant)}" if meant else f"`{listing}` shows those that there are"
    facts = {"name": name, "near": meant}
    return Stop(Exit.FAILED, f"no-such-{what}", f"there is no {what} {name!r}; {hint}", facts)
