"""The mesh document, a manifest on its own, and a machine's report: plain data -> values (design, part 4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import frozen

from mesh_core.faults import CatalogueFault, ScopeDisagreement
from mesh_core.model.catalogue import Catalogue, catalogue_faults
from mesh_core.model.mesh import Mesh, address_faults
from mesh_core.model.module import Claim, Module, Provision, Requirement
from mesh_core.model.network import Network
from mesh_core.model.node import Capability, Node
from mesh_core.model.source import Source
from mesh_core.wire.beside import ReadBeside, Taking
from mesh_core.wire.entries import ModuleEntry, NetworkEntry, NodeEntry, Report, SourceEntry, Sources
from mesh_core.wire.faults import Fault, Misfit, WireError, shown, step, under
from mesh_core.wire.kinds import Kinds, kind_faults
from mesh_core.wire.network import to_attachment, to_network
from mesh_core.wire.shape import structure, unknown_key
from mesh_core.wire.text import (
    MANIFEST_LIMIT,
    MESH_LIMIT,
    REPORT_LIMIT,
    Parsed,
    Syntax,
    parse,
)

FORMAT = 1
_Entry = TypeVar("_Entry")
_KEYS = ("format", "modules", "nodes", "sources", "network")


@frozen(kw_only=True)
class MeshDocument:
    """A whole mesh document: its mesh, and its nodes as written.

    A node's entry tells a key that the document leaves out (None) from one that it gives empty; `sources` is
    whether the document speaks of sources at all.
    """

    mesh: Mesh
    nodes: tuple[NodeEntry, ...]
    sources: bool = False


def mesh_from_data(data: Any) -> Mesh:
    """The mesh that a document describes; `data` is what `json.load` or `tomllib.load` gives.

    Raises `WireError` with every fault of the document. Design, part 4.
    """
    return mesh_document_from_data(data).mesh


def mesh_document_from_data(data: Any) -> MeshDocument:
    """As `mesh_from_data`, with the nodes as written. Raises `WireError`."""
    return _mesh_document(Parsed(data=data))


def read_mesh(
    content: bytes, syntax: Syntax, *, beside: ReadBeside | None = None, kinds: Kinds | None = None
) -> MeshDocument:
    """The mesh document in a file's bytes (at most 64 MiB). Raises `WireError`.

    `beside` reads the files that it names beside itself; without it they stay names. `kinds` are those
    whose attributes are checked.
    """
    return _mesh_document(parse(content, syntax, MESH_LIMIT), beside, kinds)


def module_from_data(data: Any) -> Module:
    """The module that a manifest on its own describes. Raises `WireError`."""
    return _module(Parsed(data=data))


def read_module(
    content: bytes, syntax: Syntax, *, beside: ReadBeside | None = None, kinds: Kinds | None = None
) -> Module:
    """The module manifest in a file's bytes (at most 1 MiB, with what `beside` takes in).

    `kinds` are those whose attributes are checked. Raises `WireError`.
    """
    return _module(parse(content, syntax, MANIFEST_LIMIT), beside, kinds)


def read_report(content: bytes, syntax: Syntax = Syntax.JSON) -> tuple[Capability, ...]:
    """What a machine said of itself: one object, capability to verdict. Raises `WireError`."""
    parsed = parse(content, syntax, REPORT_LIMIT)
    faults = list(parsed.faults)
    report = _structured(parsed.data, Report, "$", faults)
    if faults or report is None:
        raise WireError(faults)
    return tuple(report)


def _mesh_document(
    parsed: Parsed, beside: ReadBeside | None = None, kinds: Kinds | None = None
) -> MeshDocument:
    data = parsed.data
    if not isinstance(data, dict):
        raise WireError([Fault(path="$", found=f"found {shown(data)}", wanted="wanted an object")])
    faults = [*parsed.faults, *_format_faults(data)]
    unknown = [unknown_key(str(key), _KEYS) for key in data if key not in _KEYS]
    faults += under("$", unknown)
    if beside is not None:
        taking = Taking(beside, kinds)
        data = taking.modules(data)
        faults += taking.faults
    modules = _elements(data, "modules", ModuleEntry, faults)
    values = {place: to_module(entry) for place, entry in modules.items()}
    if kinds is not None:
        faults += _kind_faults(data.get("modules"), values, kinds)
    nodes = _elements(data, "nodes", NodeEntry, faults)
    faults += _twice("modules", data.get("modules"))
    faults += _twice("nodes", data.get("nodes"))
    faults += _disagreements(data.get("modules"), values)
    sources = _structured(data.get("sources", {}), Sources, "$.sources", faults)
    network = _network(data, faults)
    faults += _misplaced(network, nodes)
    if faults or sources is None:
        raise WireError(faults)
    mesh = Mesh(
        catalogue=Catalogue(modules=values.values()),
        nodes=(to_node(entry) for entry in nodes.values()),
        sources={name: to_source(entry) for name, entry in sources.items()},
        network=network,
    )
    return MeshDocument(mesh=mesh, nodes=tuple(nodes.values()), sources="sources" in data)


def _network(data: Mapping[Any, Any], faults: list[Fault]) -> Network | None:
    if "network" not in data:
        return None
    entry = _structured(data["network"], NetworkEntry, "$.network", faults)
    return None if entry is None else to_network(entry)


def _misplaced(network: Network | None, entries: Mapping[int, NodeEntry]) -> list[Fault]:
    """The addresses of nodes that cannot be theirs, each at its place in the document."""
    places = list(entries)
    nodes = [to_node(entry) for entry in entries.values()]
    return [
        Fault(
            path=f"$.nodes[{places[at]}].network.address",
            found=f"found {shown(nodes[at].network.address)}",
            wanted=why,
        )
        for at, why in address_faults(network, nodes)
    ]


def _format_faults(data: Mapping[Any, Any]) -> list[Fault]:
    """What is wrong with the format. A newer one is the only fault that is told: the rest is its own."""
    path = "$.format"
    if "format" not in data:
        return [Fault(path=path, found="missing", wanted=f"this key is needed ({FORMAT})")]
    found = data["format"]
    if type(found) is int and found > FORMAT:
        wanted = f"this program reads format {FORMAT}, and a newer one is needed for this"
        raise WireError([Fault(path=path, found=f"found {shown(found)}", wanted=wanted)])
    if type(found) is not int or found != FORMAT:
        return [Fault(path=path, found=f"found {shown(found)}", wanted=f"wanted {FORMAT}")]
    return []


def _elements(
    data: Mapping[Any, Any], key: str, entry: type[_Entry], faults: list[Fault]
) -> dict[int, _Entry]:
    """Those elements of a list that fit, by place; what is wrong with the others goes to `faults`."""
    raw = data.get(key, [])
    path = "$" + step(key)
    if not isinstance(raw, list):
        faults.append(Fault(path=path, found=f"found {shown(raw)}", wanted="wanted a list"))
        return {}
    fitting: dict[int, _Entry] = {}
    for place, item in enumerate(raw):
        found = _structured(item, entry, path + step(place), faults)
        if found is not None:
            fitting[place] = found
    return fitting


def _structured(data: Any, entry: type[_Entry], path: str, faults: list[Fault]) -> _Entry | None:
    try:
        return structure(data, entry)
    except Misfit as error:
        faults += under(path, error.faults)
        return None


def _kind_faults(raw: Any, modules: Mapping[int, Module], kinds: Kinds) -> list[Fault]:
    """What the known kinds have against resources and checks, each at its place in the document."""
    found: list[Fault] = []
    for place, item in enumerate(raw if isinstance(raw, list) else ()):
        found += under(f"$.modules{step(place)}", kind_faults(item, modules.get(place), kinds))
    return found


def _twice(key: str, raw: Any) -> list[Fault]:
    """The names that stand twice in a list, whatever else is wrong with what they name."""
    first: dict[str, int] = {}
    faults: list[Fault] = []
    for place, item in enumerate(raw if isinstance(raw, list) else ()):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str):
            continue
        if first.setdefault(name, place) != place:
            found = f"{shown(name)} stands here and at $.{key}[{first[name]}].name"
            path = f"$.{key}[{place}].name"
            faults.append(Fault(path=path, found=found, wanted="it may stand once"))
    return faults


def _disagreements(raw: Any, modules: Mapping[int, Module]) -> list[Fault]:
    """What keeps the well-formed modules out of one catalogue, each at its place in the document."""
    places = list(modules)
    return [
        _catalogue_fault(fault, raw[places[at]], f"$.modules[{places[at]}]")
        for at, fault in catalogue_faults(list(modules.values()))
    ]


def _catalogue_fault(fault: CatalogueFault, raw_module: Any, path: str) -> Fault:
    if isinstance(fault, ScopeDisagreement):
        key = "provides" if fault.what == "provision" else "claims"
        found, wanted, last = f"scope {fault.scope}", str(fault), ".scope"
    else:
        key, found, wanted, last = "requires", f"found {shown(fault.name)}", str(fault), ""
    for place, item in enumerate(raw_module[key]):
        name = item if isinstance(item, str) else item["name"]
        if name == fault.name:
            end = last if isinstance(item, dict) and "scope" in item else ""
            path = f"{path}.{key}[{place}]{end}"
            break
    return Fault(path=path, found=found, wanted=wanted)


def _module(parsed: Parsed, beside: ReadBeside | None = None, kinds: Kinds | None = None) -> Module:
    faults, data = list(parsed.faults), parsed.data
    if beside is not None:
        taking = Taking(beside, kinds)
        data = taking.module(data)
        faults += taking.faults
    entry = _structured(data, ModuleEntry, "$", faults)
    values = {} if entry is None else {0: to_module(entry)}
    if kinds is not None:
        faults += under("$", kind_faults(data, values.get(0), kinds))
    for _, fault in catalogue_faults(list(values.values())):
        faults.append(_catalogue_fault(fault, data, "$"))
    if faults:
        raise WireError(faults)
    return values[0]


def to_module(entry: ModuleEntry) -> Module:
    """The module of a manifest."""
    return Module(
        name=entry.name,
        version=entry.version,
        requires=(Requirement(name=e.name, every=e.from_ == "every") for e in entry.requires),
        provides=(Provision(name=e.name, scope=e.scope, exports=e.exports) for e in entry.provides),
        claims=(Claim(name=e.name, scope=e.scope) for e in entry.claims),
        capabilities=entry.capabilities,
        resources=entry.resources,
        checks=entry.checks,
        build=entry.build,
    )


def to_source(entry: SourceEntry) -> Source:
    """The source of an entry."""
    return Source(repository=entry.repository, paths=entry.paths, ref=entry.ref)


def to_node(entry: NodeEntry) -> Node:
    """The node of an entry, a missing key read as an empty one."""
    return Node(
        name=entry.name,
        assigned=entry.assign or (),
        capabilities=entry.capabilities,
        pins=entry.pins or (),
        network=to_attachment(entry.network),
    )
