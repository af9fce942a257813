"""Changes and their consequences, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from mesh_core.analysis.consequences import Consequences
from mesh_core.analysis.preparation import Unsaid
from mesh_core.analysis.what_if import Move
from mesh_core.canonical import canonical_json
from mesh_core.change import (
    Assign,
    Attach,
    Change,
    DropModule,
    DropNode,
    DropSource,
    ModuleChange,
    PutModule,
    PutNode,
    Report,
    SetNetwork,
    SetPin,
    SetSource,
    Unassign,
    Unpin,
)
from mesh_core.explain.material import headline
from mesh_core.explain.network import attached, network_difference, reattached
from mesh_core.explain.problems import Explanation
from mesh_core.explain.words import both, counted, offer, some
from mesh_core.model.material import MaterialFault
from mesh_core.model.mesh import Mesh
from mesh_core.model.node import Node
from mesh_core.model.source import HEAD, Source
from mesh_core.problems import facts


def done(change: Change) -> str:
    """A change that was made, as one says it afterwards."""
    match change:
        case Attach() | SetNetwork():
            return attached(change)
        case Assign():
            return f"{change.module} is assigned to {change.node}"
        case Unassign():
            return f"{change.module} is no longer assigned to {change.node}"
        case SetPin():
            return f"{change.node} takes {change.pin.provision!r} from {change.pin.target}"
        case Unpin():
            return f"{change.node} is no longer pinned for {change.provision!r}"
        case PutModule() | DropModule() | SetSource() | DropSource():
            return _done_to_module(change)
        case PutNode() | DropNode():
            return _done_to_node(change)
        case Report():
            return f"{change.node} reported {counted(len(change.capabilities), 'capability', 'capabilities')}"
        case _:
            assert_never(change)


def _done_to_node(change: PutNode | DropNode) -> str:
    if isinstance(change, PutNode):
        return f"node {change.node.name} is in the mesh"
    return f"node {change.node} is removed"


def _done_to_module(change: ModuleChange) -> str:
    match change:
        case PutModule():
            return f"{change.module.name} {change.module.version} is in the catalogue"
        case DropModule():
            return f"{change.module} is no longer in the catalogue"
        case SetSource():
            return f"{change.module} is built from {source(change.source)}"
        case DropSource():
            return f"{change.module} has no source any more"
        case _:
            assert_never(change)


def source(source: Source) -> str:
    """Where a module's code lives, as one says it: `deploy in https://git.example/web (stable)`."""
    paths = ", ".join(path for path in source.paths if path != ".")
    where = f"{paths} in {source.repository}" if paths else source.repository
    return where if source.ref == HEAD else f"{where} ({source.ref})"


def differences(change: Change, before: Mesh) -> Iterator[str]:
    """A change of a whole mesh as lines: `+ module zsh 5.9`, `~ node pi: + assign web`."""
    match change:
        case PutModule(module=module):
            old = before.catalogue.get(module.name)
            if old is None:
                yield f"+ module {module.name} {module.version}"
            elif old.version != module.version:
                yield f"~ module {module.name} {old.version} -> {module.version}"
            else:
                yield f"~ module {module.name} {module.version}, with another manifest"
        case DropModule():
            yield f"- module {change.module}"
        case SetSource() | DropSource():
            yield _source_difference(change, before)
        case PutNode(node=node):
            yield from _node_differences(before.node(node.name), node)
        case DropNode():
            yield f"- node {change.node}"
        case Attach() | SetNetwork():
            yield network_difference(change, before)
        case _:
            yield done(change)


def _node_differences(old: Node | None, new: Node) -> Iterator[str]:
    was = old or Node(name=new.name)
    lines = [f"+ assign {module}" for module in new.assigned if module not in was.assigned]
    lines += [f"- assign {module}" for module in was.assigned if module not in new.assigned]
    lines += [f"+ pin {pin.provision} {pin.target}" for pin in new.pins if pin not in was.pins]
    provisions = {pin.provision for pin in new.pins}
    lines += [f"- pin {pin.provision}" for pin in was.pins if pin.provision not in provisions]
    if new.capabilities != was.capabilities:
        sign = "+" if was.capabilities is None else "-" if new.capabilities is None else "~"
        lines.append(f"{sign} what it reported")
    if new.network != was.network:
        lines.append(reattached(was.network, new.network))
    if new == old:  # it is put there again, because something else would have taken its pins
        lines.append("keeps its pins")
    yield f"{'~' if old else '+'} node {new.name}" + (f": {', '.join(lines)}" if lines else "")


def _source_difference(change: SetSource | DropSource, before: Mesh) -> str:
    if isinstance(change, DropSource):
        return f"- source of {change.module}"
    sign = "+" if before.source(change.module) is None else "~"
    return f"{sign} source of {change.module}: {source(change.source)}"


def moved(move: Move) -> str:
    """An answer that moves: whose, from where to where."""
    return f"{move.node} takes {move.provision!r} from {offer(move.after)} instead of {offer(move.before)}"


def to_report(unsaid: Unsaid) -> str:
    """What to do where only a machine could say that it has what is needed."""
    needed = both([repr(capability) for capability in unsaid.capabilities])
    return f"if {unsaid.node} has {needed}, report it first: mesh node report {unsaid.node} FILE"


def would(consequences: Consequences, refusals: tuple[tuple[Explanation, ...], ...]) -> Iterator[str]:
    """What a change would do to whom, the cause first; `refusals` explain the nodes it would refuse."""
    if refusals:
        nodes = [explanations[0].problem.node for explanations in refusals]
        yield f"{counted(len(nodes), 'node')} would be refused: {some(nodes)}"
    for explanation, others in _folded(refusals):
        yield f"  {explanation.headline}"
        yield from (f"    {line}" for line in explanation.details)
        if others:
            yield f"    the same on {some(others)}"
    if consequences.moves:
        yield f"{counted(len(consequences.moves), 'answer')} would move to another node or module:"
        yield from (f"  {moved(move)}" for move in consequences.moves)
    if consequences.meant:
        yield f"{counted(len(consequences.meant), 'answer')} would move as is said:"
        yield from (f"  {moved(move)}" for move in consequences.meant)
    for lost in consequences.lost_pins:
        yield f"the pin of {lost.node} for {lost.pin.provision!r} at {lost.pin.target} would go with it"


def immaterial(faults: tuple[MaterialFault, ...]) -> Iterator[str]:
    """Which nodes would have what cannot be made (a template, what was never built), each told once."""
    if not faults:
        return
    yield f"{counted(len({fault.node for fault in faults}), 'node')} would count as refused:"
    first: dict[tuple[str, str, str], MaterialFault] = {}
    others: dict[tuple[str, str, str], list[str]] = {}
    for fault in faults:
        same = (fault.module, fault.resource, fault.why)
        others.setdefault(same, [])
        if first.setdefault(same, fault) is not fault:
            others[same].append(fault.node)
    for same, fault in first.items():
        yield f"  {headline(fault)}"
        if others[same]:
            yield f"    the same on {some(others[same])}"


def _folded(
    refusals: tuple[tuple[Explanation, ...], ...],
) -> Iterator[tuple[Explanation, list[str]]]:
    """Each problem once, with the other nodes that have the same one, whoever it is there that requires."""
    first: dict[str, Explanation] = {}
    others: dict[str, list[str]] = {}
    for explanations in refusals:
        for explanation in explanations:
            same = canonical_json(facts(explanation.problem) | {"required_by": None})
            if same in first:
                others[same].append(explanation.problem.node)
            else:
                first[same], others[same] = explanation, []
    for same, explanation in first.items():
        yield explanation, others[same]
