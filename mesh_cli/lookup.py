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
        raise unknown("node", name, [node.name for node in mesh.nodes], "mesh node list")
    return node


def known_module(mesh: Mesh, name: str) -> Module:
    """The module of that name."""
    module = mesh.catalogue.get(checked_name("module", name))
    if module is None:
        raise unknown_module(mesh, name)
    return module


def node_or_module(mesh: Mesh, name: str) -> tuple[bool, bool]:
    """Whether a node, and whether a module, is called so; one of them is."""
    module = name in mesh.catalogue or mesh.source(name) is not None
    if mesh.node(name) is not None or module:
        return mesh.node(name) is not None, module
    checked_name("module", name)  # whatever is a node's name is a module's too
    known = [*(node.name for node in mesh.nodes), *(module.name for module in mesh.catalogue)]
    raise unknown("node or module", name, dict.fromkeys(known), "mesh status")


def known_source(mesh: Mesh, name: str) -> str:
    """The name of a module that has a source."""
    if mesh.source(checked_name("module", name)) is not None:
        return name
    if name in mesh.catalogue:
        line = f"{name} has no source: mesh source set {name} REPOSITORY gives it one"
        raise Stop(Exit.FAILED, "no-source", line, {"name": name})
    raise unknown("source", name, [module for module, _ in mesh.sources], "mesh source show")


def unknown_module(mesh: Mesh, name: str) -> Stop:
    """That there is no module of that name, and what is near."""
    return unknown("module", name, [m.name for m in mesh.catalogue], "mesh module list")


def unknown(what: str, name: str, known: Iterable[str], listing: str) -> Stop:
    """That there is nothing of that name, what is near, and which command shows what there is."""
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
    code = f"no-such-{what.replace(' ', '-')}"
    return Stop(Exit.FAILED, code, f"there is no {what} {name!r}; {hint}", facts)
