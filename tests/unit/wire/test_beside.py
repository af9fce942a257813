"""`content_from` and `template_from`: what a document names beside itself is taken in as it is read."""

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from mesh_core import Fault, WireError
from mesh_core.canonical import canonical_json
from mesh_core.model.check import Check
from mesh_core.model.resource import Resource
from mesh_core.wire.beside import NotRead
from mesh_core.wire.document import read_mesh, read_module
from mesh_core.wire.text import MANIFEST_LIMIT, MESH_LIMIT, Syntax

FILES = {"motd": "hello\n", "t": "{{ node.name }}", "empty": ""}


def beside(path: str) -> str | NotRead:
    if path not in FILES:
        return NotRead(found=f"{path} is missing", wanted="a file")
    return FILES[path]


class Known:
    """Two kinds: a file has content or a template and a mode, a directory has nothing."""

    KINDS: ClassVar[dict[str, set[str]]] = {"file": {"content", "template", "mode"}, "directory": set()}

    def names(self) -> frozenset[str]:
        return frozenset(self.KINDS)

    def check_names(self) -> frozenset[str]:
        return frozenset({"tcp"})

    def takes(self, kind: str, attribute: str) -> bool:
        return kind not in self.KINDS or attribute in self.KINDS[kind]

    def resource_faults(self, resource: Resource) -> Iterator[Fault]:
        for key in resource.attributes.keys() - self.KINDS.get(resource.kind, resource.attributes.keys()):
            yield Fault(path=f".{key}", found="unknown attribute", wanted="others are known")

    def check_faults(self, check: Check) -> Iterator[Fault]:
        if check.kind == "tcp" and "port" not in check.attributes:
            yield Fault(path=".port", found="missing", wanted="a number")


def manifest(*resources: dict[str, Any], **more: Any) -> bytes:
    return canonical_json({"name": "a", "version": "1", "resources": [*resources], **more}).encode()


def taken(*resources: dict[str, Any], kinds: Known | None = None) -> list[dict[str, Any]]:
    module = read_module(manifest(*resources), Syntax.JSON, beside=beside, kinds=kinds)
    return [resource.attributes for resource in module.resources]


def faults(content: bytes, kinds: Known | None = None) -> list[str]:
    with pytest.raises(WireError) as caught:
        read_module(content, Syntax.JSON, beside=beside, kinds=kinds)
    return [str(fault) for fault in caught.value.faults]


def of_file(path: str, **attributes: Any) -> dict[str, Any]:
    return {"kind": "file", "path": path, **attributes}


def test_what_is_named_becomes_content_or_a_template() -> None:
    assert taken(
        of_file("/a", content_from="motd", mode="0644"),
        of_file("/b", template_from="t"),
        of_file("/c", content="as it is"),
        of_file("/d", content_from="empty"),
        kinds=Known(),
    ) == [
        {"content": "hello\n", "mode": "0644"},
        {"template": "{{ node.name }}"},
        {"content": "as it is"},
        {"content": ""},
    ]


def test_so_it_is_for_a_kind_that_nobody_knows_and_not_for_one_that_has_no_content() -> None:
    assert taken({"kind": "odd", "name": "x", "content_from": "motd"}, kinds=Known()) == [
        {"content": "hello\n"}
    ]
    directory = {"kind": "directory", "path": "/d", "content_from": "motd"}
    assert faults(manifest(directory), Known()) == [
        "$.resources[0].content_from: unknown attribute; others are known"
    ]


def test_without_a_reader_the_names_stay_what_they_are() -> None:
    module = read_module(manifest(of_file("/a", content_from="motd")), Syntax.JSON)
    assert module.resources[0].attributes == {"content_from": "motd"}


def test_everything_is_told_at_once_each_at_its_place() -> None:
    content = manifest(
        of_file("/a", content_from="nix"),
        of_file("/b", content_from=5),
        of_file("/c", content_from="motd", content="x"),
        of_file("/d", template_from="t", mdoe="x"),
        of_file("relative"),
        checks=[{"kind": "tcp"}],
        vresion="2",
    )
    assert [fault.split(":")[0] for fault in faults(content, Known())] == [
        "$.resources[0].content_from",
        "$.resources[1].content_from",
        "$.resources[2].content_from",
        "$.resources[4].path",
        "$.vresion",
        "$.resources[3].mdoe",
        "$.checks[0].port",
    ]


def test_in_a_mesh_document_the_path_begins_at_the_module() -> None:
    modules = [
        {"name": "a", "version": "1"},
        {
            "name": "b",
            "version": "1",
            "resources": [of_file("/a", content_from="nix"), of_file("/b", mdoe="")],
        },
        {"name": "C", "version": "1", "resources": [of_file("/c", mdoe="")]},
    ]
    document = canonical_json({"format": 1, "modules": modules}).encode()
    with pytest.raises(WireError) as caught:
        read_mesh(document, Syntax.JSON, beside=beside, kinds=Known())
    assert [fault.path for fault in caught.value.faults] == [
        "$.modules[1].resources[0].content_from",
        "$.modules[2].name",
        "$.modules[1].resources[1].mdoe",
        "$.modules[2].resources[0].mdoe",
    ]
    assert str(caught.value.faults[0]).endswith("nix is missing; a file")


@pytest.mark.parametrize("raw", [[], "x", {"resources": {}}, {"resources": [1, []]}, {"modules": 1}])
def test_what_is_no_manifest_is_refused_as_ever(raw: Any) -> None:
    content = canonical_json(raw).encode()
    for read in (read_module, read_mesh):
        with pytest.raises(WireError):
            read(content, Syntax.JSON, beside=beside, kinds=Known())


def test_a_manifest_that_becomes_too_large_is_refused_with_its_largest_parts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(FILES, "half", "x" * (MANIFEST_LIMIT // 2))
    small = [of_file(f"/small{n}", content="") for n in range(3)]
    (told,) = faults(manifest(*small, of_file("/b", content_from="half"), of_file("/a", content_from="half")))
    assert told.startswith("$: 10")
    assert f"at most {MANIFEST_LIMIT}; the largest parts are /a (52" in told
    assert told.index("/a (") < told.index("/b (") < told.index("/small0 (")
    assert "/small1" not in told
    assert len(taken(of_file("/b", content_from="half"))) == 1


def test_all_the_manifests_of_a_document_take_in_no_more_than_a_document_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(FILES, "most", "x" * (MANIFEST_LIMIT - 200))
    modules = [
        {"name": f"m{n}", "version": "1", "resources": [of_file("/a", content_from="most")]}
        for n in range(70)
    ]
    document = canonical_json({"format": 1, "modules": modules}).encode()
    with pytest.raises(WireError) as caught:
        read_mesh(document, Syntax.JSON, beside=beside)
    assert {fault.wanted for fault in caught.value.faults} == {
        f"at most {MESH_LIMIT} bytes are taken in for a document"
    }
    assert len(caught.value.faults) == 70 - 65
