"""Changes <-> plain data, as the event log keeps them: `{"change": "assign", "node": ..., ...}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

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
from mesh_core.model.module import Module
from mesh_core.model.network import Network
from mesh_core.model.node import Node, Pin
from mesh_core.model.origin import HANDED
from mesh_core.model.source import Source
from mesh_core.wire.data import module_to_data, node_to_data, report_to_data, source_to_data
from mesh_core.wire.document import mesh_from_data, module_from_data
from mesh_core.wire.entries import NetworkEntry
from mesh_core.wire.message import entry_of
from mesh_core.wire.network import attachment_to_data, network_to_data, to_network
from mesh_core.wire.origins import origin_from_data, origin_to_data


def change_to_data(change: Change) -> dict[str, Any]:
    """A change as plain data."""
    match change:
        case Attach() | SetNetwork():
            return _network_change_to_data(change)
        case Assign(node=node, module=module):
            return {"change": "assign", "node": node, "module": module}
        case Unassign(node=node, module=module):
            return {"change": "unassign", "node": node, "module": module}
        case SetPin(node=node, pin=pin):
            at = {"provision": pin.provision, "from": pin.target}
            return {"change": "pin", "node": node, **at}
        case Unpin(node=node, provision=provision):
            return {"change": "unpin", "node": node, "provision": provision}
        case PutModule() | DropModule() | SetSource() | DropSource():
            return _module_change_to_data(change)
        case PutNode(node=entry):
            return {"change": "put-node", "node": node_to_data(entry)}
        case DropNode(node=node):
            return {"change": "drop-node", "node": node}
        case Report(node=node, capabilities=capabilities):
            said = report_to_data(capabilities)
            return {"change": "report", "node": node, "capabilities": said}
        case _:
            assert_never(change)


def _module_change_to_data(change: ModuleChange) -> dict[str, Any]:
    match change:
        case PutModule(module=manifest, origin=origin):
            put = {"change": "put-module", "module": module_to_data(manifest)}
            return put if origin == HANDED else put | {"origin": origin_to_data(origin)}
        case DropModule(module=module):
            return {"change": "drop-module", "module": module}
        case SetSource(module=module, source=source):
            return {"change": "set-source", "module": module, "source": source_to_data(source)}
        case DropSource(module=module):
            return {"change": "drop-source", "module": module}
        case _:
            assert_never(change)


def _network_change_to_data(change: Attach | SetNetwork) -> dict[str, Any]:
    if isinstance(change, Attach):
        return {"change": "attach", "node": change.node, "network": attachment_to_data(change.network)}
    data = None if change.network is None else network_to_data(change.network)
    return {"change": "set-network", "network": data}


def change_from_data(data: Mapping[str, Any]) -> Change:
    """The change that `change_to_data` wrote.

    Raises `WireError`, `KeyError` or `ValueError` for anything else: only the program itself writes these.
    """
    match data["change"]:
        case "assign":
            return Assign(node=data["node"], module=data["module"])
        case "unassign":
            return Unassign(node=data["node"], module=data["module"])
        case "pin":
            return SetPin(node=data["node"], pin=_pin(data["provision"], data["from"]))
        case "unpin":
            return Unpin(node=data["node"], provision=data["provision"])
        case "put-node":
            return PutNode(node=_node(data["node"]))
        case "drop-node":
            return DropNode(node=data["node"])
        case "attach":
            attached = _node({"name": data["node"], "network": data["network"]})
            return Attach(node=data["node"], network=attached.network)
        case "set-network":
            return SetNetwork(network=_network(data["network"]))
        case "report":
            entry = {"name": data["node"], "capabilities": data["capabilities"]}
            return Report(node=data["node"], capabilities=_node(entry).capabilities or ())
        case _:
            return _module_change_from_data(data)


def _module_change_from_data(data: Mapping[str, Any]) -> Change:
    match data["change"]:
        case "put-module":
            origin = origin_from_data(data["origin"]) if "origin" in data else HANDED
            return PutModule(module=_module(data["module"]), origin=origin)
        case "drop-module":
            return DropModule(module=data["module"])
        case "set-source":
            return SetSource(module=data["module"], source=_source(data["source"]))
        case "drop-source":
            return DropSource(module=data["module"])
        case other:
            raise ValueError(f"no change is called {other!r}")


def _network(data: Any) -> Network | None:
    """Read by itself: a mesh keeps of retired addresses only what can be."""
    return None if data is None else to_network(entry_of(data, NetworkEntry))


def _pin(provision: str, target: str) -> Pin:
    node, _, module = target.partition("/")
    return Pin(provision=provision, node=node, module=module or None)


def _module(data: Mapping[str, Any]) -> Module:
    return module_from_data(dict(data))


def _source(data: Any) -> Source:
    ((_, source),) = mesh_from_data({"format": 1, "sources": {"it": data}}).sources
    return source


def _node(data: Mapping[str, Any]) -> Node:
    return mesh_from_data({"format": 1, "nodes": [dict(data)]}).nodes[0]
