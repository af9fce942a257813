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
        raise unknown_module(mesh, name)
    return module


def unknown_module(mesh: Mesh, name: str) -> Stop:
    """That there is no module of that name, and what is near."""
    return _unknown("module", name, [m.name for m in mesh.catalogue], "mesh module list")


def _unknown(what: str, name: str, known: Iterable[str], listing: str) -> Stop:
    from mesh_core.explain.words import FEW, near

    there = list(known)
    meant = near(name, there)
    if meant:
        hint = f"near: {', '.join(meant)}"
    elif 0 < len(there) <= FEW:
        hint = f"there {'is only' if len(there) == 1 else 'are'} {', '.join(there)}"
    else:
        hint = f"`{listing}` shows those that there are" if there else "there are none yet"
    facts = {"name": name, "near": meant}
    return Stop(Exit.FAILED, f"no-such-{what}", f"there is no {what} {name!r}; {hint}", facts)
