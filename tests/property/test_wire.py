"""Documents (design, part 4): what they say survives; what is wrong with them is a fault at its place."""

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import event, example, given, settings
from hypothesis import strategies as st

from mesh_core import (
    Fault,
    Mesh,
    WireError,
    mesh_from_data,
    mesh_to_data,
    module_from_data,
    module_to_data,
    resolution_to_data,
    resolve,
)
from mesh_core.canonical import canonical_json
from mesh_core.testing import documents, documents_of, meshes, meshes_and_documents
from mesh_core.wire.document import mesh_document_from_data, read_mesh, read_module, read_report
from mesh_core.wire.text import Syntax
from tests.unit.wire.documents import WHOLE, but
from tests.unit.wire.documents import steps as steps_of

Document = dict[str, Any]


@given(pair=meshes_and_documents())
def test_a_document_says_its_mesh(pair: tuple[Mesh, Document]) -> None:
    mesh, document = pair
    before = copy.deepcopy(document)
    assert mesh_from_data(document) == mesh
    assert document == before, "what is read is not changed"


@given(mesh=meshes(), data=st.data())
def test_all_documents_of_a_mesh_have_one_canonical_form(mesh: Mesh, data: st.DataObject) -> None:
    """> `mesh_to_data(mesh_from_data(d))` is `d` in canonical form (part 7)

    It does not depend on the order in which things stand; and it is its own canonical form.
    """
    one, other = (data.draw(documents_of(mesh)) for _ in range(2))
    canonical = mesh_to_data(mesh_from_data(one))
    # As text: so that 1 and true are told apart, and the order of every list and of every key.
    assert json.dumps(canonical) == json.dumps(mesh_to_data(mesh_from_data(other)))
    assert json.dumps(canonical) == json.dumps(mesh_to_data(mesh_from_data(canonical)))
    assert canonical_json(canonical) == canonical_json(plainly(one))
    for module in mesh.catalogue:
        assert module_from_data(module_to_data(module)) == module


def plainly(document: Document) -> Document:
    """The canonical form of a document, worked out on plain data alone."""
    modules = sorted(document.get("modules", []), key=lambda module: str(module["name"]))
    nodes = sorted(document.get("nodes", []), key=lambda node: str(node["name"]))
    said: Document = {"format": 1, "modules": [*map(_module, modules)], "nodes": [*map(_node, nodes)]}
    sources = {name: _source(source) for name, source in sorted(document.get("sources", {}).items())}
    said |= {"network": _network(document["network"])} if "network" in document else {}
    return said | ({"sources": sources} if sources else {})


def _without(said: Document, usual: Document) -> Document:
    """What is said, without what goes without saying."""
    return {key: value for key, value in said.items() if key not in usual or usual[key] != value}


def _source(source: str | Document) -> str | Document:
    given = {"repository": source} if isinstance(source, str) else source
    said = _without(given, {"paths": ["."], "ref": "HEAD"})
    return said if len(said) > 1 else str(said["repository"])


def _network(network: str | Document) -> str | Document:
    given = {"range": network} if isinstance(network, str) else network
    said = _without(given, {"peers": "takes", "port": 51820, "retired": []})
    return said if len(said) > 1 else str(said["range"])


def _attachment(attachment: Document) -> Document:
    said = _without(attachment, {"endpoints": [], "relay": False})
    if "endpoints" in said:
        ends = [{"at": end} if isinstance(end, str) else end for end in said["endpoints"]]
        said["endpoints"] = [end if "site" in end else end["at"] for end in _each_once(ends)]
    return said


def _each_once(ends: list[Document]) -> list[Document]:
    return [end for place, end in enumerate(ends) if end not in ends[:place]]


def _recipe(recipe: str | Document) -> str | Document:
    given = {"kind": recipe} if isinstance(recipe, str) else recipe
    usual = {"network": False, "seconds": 600, "output": "dist", "file": "Containerfile"}
    said = _without(given, usual)
    return said if len(said) > 1 else str(said["kind"])


def _module(module: Document) -> Document:
    lists = {
        "requires": [_short(entry, "from", "one") for entry in module.get("requires", [])],
        "provides": [_short(entry, "scope", "node") for entry in module.get("provides", [])],
        "claims": [_short(entry, "scope", "node") for entry in module.get("claims", [])],
        "capabilities": module.get("capabilities", []),
    }
    head = {"name": module["name"], "version": module["version"]}
    given = {key: sorted(entries, key=_name) for key, entries in lists.items() if entries}
    resources = {"resources": module["resources"]} if module.get("resources") else {}
    return head | given | resources | ({"build": _recipe(module["build"])} if "build" in module else {})


def _name(entry: str | Document) -> str:
    return entry if isinstance(entry, str) else str(entry["name"])


def _short(entry: str | Document, key: str, usual: str) -> str | Document:
    """What an entry says, without what goes without saying; its name alone, where that is all."""
    if isinstance(entry, str):
        return entry
    said = {"name": entry["name"], key: entry.get(key, usual)}
    if entry.get("exports"):
        return said | {"exports": entry["exports"]}
    return str(entry["name"]) if said[key] == usual else said


def _node(node: Document) -> Document:
    said: Document = {
        "name": node["name"],
        "assign": sorted(node.get("assign", [])),
        "pins": node.get("pins", {}),
    }
    if "capabilities" in node:
        verdicts = node["capabilities"].items()
        said["capabilities"] = {key: _verdict(v) for key, v in verdicts}
    network = _attachment(node.get("network", {}))
    return said | ({"network": network} if network else {})


def _verdict(verdict: bool | Document) -> bool | Document:
    if isinstance(verdict, dict) and "detail" not in verdict:
        return bool(verdict["present"])
    return verdict


@given(document=documents(), indent=st.sampled_from((None, 2)), ensure_ascii=st.booleans())
def test_json_and_toml_are_read_as_the_data_that_they_write(
    document: Document, indent: int | None, ensure_ascii: bool
) -> None:
    mesh = mesh_from_data(document)
    as_json = json.dumps(document, indent=indent, ensure_ascii=ensure_ascii).encode()
    assert read_mesh(as_json, Syntax.JSON).mesh == mesh
    if "null" not in json.dumps(document):
        assert read_mesh(toml(document).encode(), Syntax.TOML).mesh == mesh


def toml(document: Document) -> str:
    return "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in document.items())


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = ", ".join(f"{_toml(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{{pairs}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    # A basic string of TOML is written as one of JSON is, but for this character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


@given(document=documents())
def test_the_reader_keeps_the_nodes_as_they_were_written(document: Document) -> None:
    """> The reader of documents tells a key that is missing from an empty one (part 11)"""
    read = mesh_document_from_data(document)
    for entry, written in zip(read.nodes, document.get("nodes", []), strict=True):
        assert entry.name == written["name"]
        assert (entry.assign is None) is ("assign" not in written)
        assert (entry.pins is None) is ("pins" not in written)
        assert (entry.capabilities is None) is ("capabilities" not in written)
        assert (entry.network is None) is ("network" not in written)
        assert entry.assign is None or [*entry.assign] == written["assign"]


@given(mesh=meshes())
def test_a_resolution_document_is_plain_data(mesh: Mesh) -> None:
    data = resolution_to_data(resolve(mesh))
    assert json.loads(canonical_json(data)) == data


# What stands in the place of something else: of every type, right for some places and wrong for others.
OTHERS: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    2,
    -1,
    1.0,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "a",
    "A B",
    "node",
    "mesh",
    "every",
    "a/b",
    "\ud800",
    "a\0",
    "x" * 200,
    (),
    b"a",
    [],
    ["a"],
    ["a", "a"],
    [None],
    [{"name": "a"}],
    {},
    {"name": "a"},
    {"a": "a"},
    {"present": True},
    {"kind": "a", "name": "a"},
    {1: 2},
)
KEYS = ("name", "scope", "from", "format", "exports", "present", "detail", "unknown", "path", "", "A B")


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place below a value: what holds it, and its key there."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places(item)


@st.composite
def broken(draw: st.DrawFn) -> Document:
    """A document in which a few things are replaced, dropped, added or repeated."""
    document = copy.deepcopy(draw(documents() | st.just(WHOLE)))
    for _ in range(draw(st.integers(1, 3))):
        _break(draw, document)
    return document


def _break(draw: st.DrawFn, document: Document) -> None:
    all_places = [*places(document)]
    holders = [document, *(holder[key] for holder, key in all_places if isinstance(holder[key], dict | list))]
    how = draw(st.sampled_from(("replace", "replace", "drop", "add")))
    value = copy.deepcopy(draw(st.sampled_from(OTHERS)))
    if how == "add":
        holder = draw(st.sampled_from(holders))
        if isinstance(holder, dict):
            holder[draw(st.sampled_from(KEYS))] = value
        else:
            holder.append(copy.deepcopy(draw(st.sampled_from([value, *holder]))))
    elif all_places:
        holder, key = draw(st.sampled_from(all_places))
        holder[key] = value
        if how == "drop":
            del holder[key]


@given(document=broken())
@settings(max_examples=5 * settings().max_examples)
def test_a_document_is_taken_or_each_fault_is_at_a_place_that_it_has(document: Document) -> None:
    """> an unknown key, a newer format, a wrong type [...] is refused with the file, the path [...], what was
    > found, what would do, all faults at once
    """
    check(document, mesh_from_data)


def check(document: Any, read: Callable[[Any], Mesh]) -> None:
    refused = None
    try:
        mesh = read(document)
    except WireError as error:
        refused = error
    else:
        event("taken")
        assert mesh_from_data(mesh_to_data(mesh)) == mesh
        resolve(mesh)
    if refused:
        event(f"{min(len(refused.faults), 4)} faults")
        assert refused.faults
        for fault in refused.faults:
            assert there(document, fault), fault
            str(fault).encode()
        assert len(set(refused.faults)) == len(refused.faults), "each is told once"


NEEDED = {"format", "name", "version", "kind", "present", "repository", "commands", "range", "at"}
"""The keys that something in a document cannot be without."""


def there(document: Any, fault: Fault) -> bool:
    """Whether a document has what a fault is about; or, where something is missing, what should hold it."""
    steps = steps_of(fault.path)
    if fault.found == "missing":
        assert steps.pop() in NEEDED
    for step in steps:
        try:
            document = document[step]
        except (LookupError, TypeError):
            return False
    return True


ANY_TEXT = st.text(st.characters(codec=None) | st.sampled_from("abAB/. -"), max_size=6)


@given(
    pins=st.dictionaries(ANY_TEXT, ANY_TEXT | st.integers(), max_size=3),
    said=st.dictionaries(ANY_TEXT, ANY_TEXT | st.booleans(), max_size=3),
)
@example(pins={"A": "a"}, said={})
def test_any_pins_and_verdicts_are_taken_or_refused(pins: Document, said: Document) -> None:
    check({"format": 1, "nodes": [{"name": "n", "pins": pins, "capabilities": said}]}, mesh_from_data)


JSON_DATA: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(ANY_TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(
    data=JSON_DATA,
    path=st.sampled_from(("$.modules[1].resources[1].of", "$.modules[1].provides[0].exports", "$.zzz")),
)
def test_any_data_is_taken_or_refused(data: Any, path: str) -> None:
    check(data, mesh_from_data)
    check(but((path, data)), mesh_from_data)


WRITTEN = [text.encode() for text in (json.dumps(WHOLE, indent=1, ensure_ascii=False), toml(WHOLE))]


@given(
    cut=st.integers(0, 2_000),
    length=st.integers(0, 40),
    put=st.binary(max_size=8)
    | st.sampled_from((b"{", b"]", b'"', b"\n", b"null", b"1e999", b"\xef\xbb\xbf", b"\\ud800")),
)
@settings(max_examples=3 * settings().max_examples)
def test_any_bytes_are_taken_or_refused(cut: int, length: int, put: bytes) -> None:
    for written in WRITTEN:
        start = cut % (len(written) + 1)
        content = written[:start] + put + written[start + length :]
        for read in (read_mesh, read_module, read_report):
            for syntax in Syntax:
                told = ""
                try:
                    read(content, syntax)
                except WireError as error:
                    told = str(error)
                    event("refused")
                told.encode()


TELLS = """
import sys
from mesh_core import WireError, mesh_from_data
resource = {"kind": 1, "path": 2, "name": 3, "a": float("nan"), "b": float("inf")}
odd = {"unknown": 1, "other": 1, "further": 1, "name": 1, "version": 1, "resources": [resource]}
nodes = [{"name": "n", "pins": {"p": 1, "q": 2}, "capabilities": {"g": 1, "h": 2}}]
try:
    mesh_from_data({"zzz": 1, "yyy": 1, "xxx": 1, "modules": [odd], "nodes": nodes})
except WireError as error:
    print(error)
"""


def test_faults_are_told_in_one_order_under_any_hash_seed() -> None:
    """> one document's are always told in the same"""
    told = set()
    for seed in ("0", "1", "2", "3", "4"):
        done = subprocess.run(
            [sys.executable, "-c", TELLS],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.getcwd()},
            capture_output=True,
            text=True,
            check=True,
        )
        told.add(done.stdout)
    assert len(told) == 1
