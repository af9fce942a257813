"""`mesh assign`, `unassign`, `pin`, `unpin`: who gets what, and from where."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.lookup import known_node, unknown_module
from mesh_cli.options import (
    AnywayOption,
    JsonOption,
    KeepOption,
    ModulesArgument,
    NodeArgument,
    ProvisionArgument,
    StoreOption,
    checked_name,
    completed,
)
from mesh_cli.output import note
from mesh_cli.recording import Recording

if TYPE_CHECKING:
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh


def assign(
    node: NodeArgument,
    modules: ModulesArgument,
    *,
    keep: KeepOption = False,
    anyway: AnywayOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give a node modules.

    Example: mesh assign nas postgres
    """
    names = [checked_name("module", module) for module in dict.fromkeys(modules)]

    unknown: list[Stop] = []

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import Assign

        unknown[:] = [unknown_module(mesh, name) for name in names if name not in mesh.catalogue]
        assigned = known_node(mesh, node).assigned
        return [Assign(node=node, module=name) for name in names if name not in assigned]

    Recording("assign", node, *names, store=store, as_json=as_json, anyway=anyway, keep=keep).run(decide)
    for stop in unknown:  # recorded all the same: --anyway, or a node that was refused before
        note(stop.lines)


def unassign(
    node: NodeArgument,
    modules: ModulesArgument,
    *,
    anyway: AnywayOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take modules from a node that were assigned to it.

    Example: mesh unassign nas postgres
    """
    names = [checked_name("module", module) for module in dict.fromkeys(modules)]

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import Unassign

        entry = known_node(mesh, node)
        for name in names:
            if name not in entry.assigned:
                raise _not_assigned(mesh, node, name)
        return [Unassign(node=node, module=name) for name in names]

    Recording("unassign", node, *names, store=store, as_json=as_json, anyway=anyway).run(decide)


def pin(
    node: NodeArgument,
    provision: ProvisionArgument,
    source: Annotated[
        str,
        typer.Argument(
            metavar="FROM",
            help="A node, or node/module.",
            autocompletion=completed("nodes"),
            show_default=False,
        ),
    ],
    *,
    anyway: AnywayOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say where a node takes a mesh-scoped provision from.

    A pin never falls back: where nothing there provides it, the node is refused.

    Example: mesh pin pi database nas
    """
    checked_name("provision", provision)
    at, slash, module = source.partition("/")
    checked_name("node", at)
    if slash:
        checked_name("module", module)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import SetPin
        from mesh_core.model.node import Pin

        known_node(mesh, node)
        _refuse_unless_mesh_scoped(mesh, node, provision)
        known_node(mesh, at)
        return [SetPin(node=node, pin=Pin(provision=provision, node=at, module=module or None))]

    Recording("pin", node, provision, source, store=store, as_json=as_json, anyway=anyway).run(decide)


def unpin(
    node: NodeArgument,
    provision: ProvisionArgument,
    *,
    anyway: AnywayOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take a node's pin for a provision away.

    Example: mesh unpin pi database
    """
    checked_name("provision", provision)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import Unpin

        entry = known_node(mesh, node)
        if entry.pin(provision) is None:
            pins = ", ".join(pin.provision for pin in entry.pins) or "nothing"
            line = f"{node} is not pinned for {provision!r}; it is pinned for {pins}"
            raise Stop(Exit.FAILED, "not-pinned", line, {"node": node, "provision": provision})
        return [Unpin(node=node, provision=provision)]

    Recording("unpin", node, provision, store=store, as_json=as_json, anyway=anyway).run(decide)


def _not_assigned(mesh: Mesh, node: str, module: str) -> Stop:
    from mesh_core.explain.chain import chain_to
    from mesh_core.explain.words import near
    from mesh_core.resolve import resolve

    outcome = resolve(mesh).nodes[node]
    entry = known_node(mesh, node)
    if module in outcome.members:
        why = f"it is there because of another: {chain_to(module, outcome)}"
    else:
        meant = near(module, entry.assigned)
        why = f"near: {', '.join(meant)}" if meant else f"assigned are: {', '.join(entry.assigned) or 'none'}"
    return Stop(Exit.FAILED, "not-assigned", f"{module} is not assigned to {node}; {why}", {"node": node})


def _refuse_unless_mesh_scoped(mesh: Mesh, node: str, provision: str) -> None:
    from mesh_core.explain.words import near, some

    scopes = {p.name: p.scope for module in mesh.catalogue for p in module.provides}
    scoped = sorted(name for name, scope in scopes.items() if scope == "mesh")
    if provision in scoped:
        return
    facts = {"provision": provision}
    if provision in scopes:
        providers = [m.name for m in mesh.catalogue if any(p.name == provision for p in m.provides)]
        lines = [
            f"refused: {provision!r} has scope node: it is answered on {node} itself, and cannot be pinned",
            f"  modules that provide it: {some(providers)}; assign one: mesh assign {node} {providers[0]}",
        ]
        raise Stop(Exit.REFUSED, "not-mesh-scoped", lines, facts)
    module = mesh.catalogue.get(provision)
    if module is not None:
        provides = some([p.name for p in module.provides]) or "nothing"
        hint = f"{provision!r} is a module; it provides {provides}"
    else:
        meant = near(provision, scoped)
        hint = f"near: {', '.join(meant)}" if meant else f"mesh-scoped are: {some(scoped) or 'none'}"
    line = f"refused: no module provides {provision!r} with scope mesh; {hint}"
    raise Stop(Exit.REFUSED, "no-such-provision", line, facts)
