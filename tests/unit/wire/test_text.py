"""What only the text of a document can tell (design, part 4), and what is never more than a sentence."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from mesh_core import Fault, WireError
from mesh_core.wire.document import read_mesh, read_module, read_report
from mesh_core.wire.text import MANIFEST_LIMIT, MESH_LIMIT, REPORT_LIMIT, Syntax

JSON, TOML = Syntax.JSON, Syntax.TOML
MODULE = "format = 1\n[[modules]]\nname = 'a'\nversion = '1'\n"


def faults_of(
    text: str | bytes, syntax: Syntax = JSON, read: Callable[..., object] = read_mesh
) -> list[Fault]:
    content = text.encode() if isinstance(text, str) else text
    with pytest.raises(WireError) as raised:
        read(content, syntax)
    return [*raised.value.faults]


def the_fault(text: str | bytes, syntax: Syntax = JSON) -> Fault:
    (fault,) = faults_of(text, syntax)
    return fault


def test_json_and_toml_say_the_same() -> None:
    as_json = b'{"format": 1, "nodes": [{"name": "pi", "pins": {"port:1": "nas"}, "capabilities": {}}]}'
    as_toml = b'format = 1\n[[nodes]]\nname = "pi"\ncapabilities = {}\n[nodes.pins]\n"port:1" = "nas"\n'
    assert read_mesh(as_json, JSON).mesh == read_mesh(as_toml, TOML).mesh


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ('{"format": 1, "format": 1}', ["$.format"]),
        ('{"format": 1, "nodes": [], "nodes": []}', ["$.nodes"]),
        ('{"format": 1, "nodes": [{"name": "a", "name": "a"}]}', ["$.nodes[0].name"]),
        ('{"format": 1, "nodes": [{"name": "a", "pins": {"p": "a", "p": "a"}}]}', ["$.nodes[0].pins.p"]),
        (
            """{"format": 1, "nodes": [{"name": "a", "capabilities":
                {"g": true, "h": {"present": true, "present": false}, "g": false, "g": true}}]}""",
            ["$.nodes[0].capabilities.g", "$.nodes[0].capabilities.h.present"],
        ),
        (
            """{"format": 1, "modules": [{"name": "a", "version": "1", "resources":
                [{"kind": "file", "path": "/a", "of": [1, {"x y": {"": 1, "": 2}}]}]}]}""",
            ['$.modules[0].resources[0].of[1]["x y"][""]'],
        ),
        ('{"format": 1, "n\\u006fdes": [], "nodes": []}', ["$.nodes"]),
    ],
)
def test_a_key_that_stands_twice_in_one_object_at_any_depth(text: str, paths: list[str]) -> None:
    """Also where both say the same; and each such key is told once."""
    found = faults_of(text)
    assert [fault.path for fault in found] == paths
    assert {fault.found for fault in found} == {"this key stands twice"}


def test_a_key_that_stands_twice_is_told_beside_everything_else() -> None:
    found = faults_of('{"format": "1", "nodes": [{"name": "a", "name": "B"}], "zzz": 1}')
    assert [fault.path for fault in found] == ["$.nodes[0].name", "$.format", "$.zzz", "$.nodes[0].name"]


def test_a_key_may_stand_in_two_objects() -> None:
    read_mesh(b'{"format": 1, "nodes": [{"name": "a"}, {"name": "b"}]}', JSON)


def test_a_key_that_stands_twice_in_toml() -> None:
    for text in ("format = 1\nformat = 1\n", "[nodes]\n[nodes]\n", "a = {b = 1, b = 2}\n"):
        fault = the_fault(text, TOML)
        assert fault.path == "$"
        assert fault.found.startswith("no TOML: ")


@pytest.mark.parametrize("syntax", Syntax)
def test_a_byte_order_mark(syntax: Syntax) -> None:
    for content in (b"\xef\xbb\xbf", b'\xef\xbb\xbf{"format": 1}', b"\xef\xbb\xbfformat = 1"):
        fault = the_fault(content, syntax)
        assert fault == Fault(path="$", found="a byte order mark", wanted="save it as UTF-8 without one")


@pytest.mark.parametrize("syntax", Syntax)
@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"\xff", 0),
        ('{"é": 1}'.encode("latin-1"), 2),
        ("a = 1".encode("utf-16"), 0),
        (b"a = '\xc0\xaf'", 5),  # an overlong /
        (b'{"a": "\xed\xa0\x80"}', 7),  # a lone surrogate as bytes
        (b"# \xf4\x90\x80\x80", 2),  # beyond the last code point
        ("é".encode()[:1], 0),
    ],
)
def test_bytes_that_are_no_utf_8(content: bytes, place: int, syntax: Syntax) -> None:
    fault = the_fault(content, syntax)
    assert fault == Fault(path="$", found=f"byte {place} is no UTF-8", wanted="a document is UTF-8 text")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("\f", "no JSON at line 1, column 1: Expecting value"),
        ("{", "no JSON at line 1, column 2: "),
        ('{"format": 1,\n  "nodes": [}', "no JSON at line 2, column 13: "),
        ("{'format': 1}", "no JSON at line 1, column 2: "),
        ('{"format": 1} x', "no JSON at line 1, column 15: "),
        ('{"format": 1}{}', "no JSON at line 1, column 14: "),
        ('{"a": "\n"}', "no JSON at line 1, column 8: "),
        ('{"a": "\\x"}', "no JSON at line 1, column "),
        ('{"a": 01}', "no JSON at line 1, column "),
        ("// a comment\n{}", "no JSON at line 1, column 1: "),
    ],
)
def test_text_that_is_no_json(text: str, says: str) -> None:
    fault = the_fault(text)
    assert (fault.path, fault.wanted) == ("$", "mend it there")
    assert fault.found.startswith(says)


@pytest.mark.parametrize("text", ["{", "format", "format = ", 'a = "', "[a", "a = 1 b = 2", "a = 01", "\0"])
def test_text_that_is_no_toml(text: str) -> None:
    fault = the_fault(text, TOML)
    assert (fault.path, fault.wanted) == ("$", "mend it there")
    assert re.match(r"no TOML: [A-Z].* \(at (line \d+, column \d+|end of document)\)", fault.found)


def test_a_root_that_is_no_object() -> None:
    for text in ("[]", "null", "1", '"format"', "true", "NaN"):
        fault = the_fault(text)
        assert (fault.path, fault.wanted) == ("$", "wanted an object")


@pytest.mark.parametrize("text", ["", "\n", " \t\r\n  "])
def test_an_empty_json_document_is_called_empty(text: str) -> None:
    for read in (read_mesh, read_module, read_report):
        assert faults_of(text, JSON, read) == [
            Fault(path="$", found="it is empty", wanted="wanted an object")
        ]


def test_an_empty_toml_document_only_lacks_its_format() -> None:
    assert [fault.path for fault in faults_of("", TOML)] == ["$.format"]


# Around the depth at which each reader of Python gives up, and far beyond it.
@pytest.mark.parametrize("depth", [100, *range(850, 1010, 5), 2_000, 5_000, 9_000, 100_000])
def test_json_that_is_nested_too_deeply(depth: int) -> None:
    for opening, inside, closing in (("[", "", "]"), ('{"a":', "1", "}"), ('[{"a":', "1", "}]")):
        text = '{"format": 1, "x": ' + opening * depth + inside + closing * depth + "}"
        fault = the_fault(text)
        said = (fault.path, fault.found, fault.wanted)
        known = "the keys here are format, modules, nodes, sources, network"
        assert said in [("$", "nested too deeply", "nest it less deeply"), ("$.x", "unknown key", known)]


def test_json_that_only_the_reader_of_python_can_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 3.12 on it reads what is nested more deeply than a function of ours can go down."""
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    monkeypatch.setattr("mesh_core.wire.text.json.loads", lambda *_, **__: {"format": 1, "x": deep})
    assert the_fault("{}") == Fault(path="$", found="nested too deeply", wanted="nest it less deeply")


@pytest.mark.parametrize("depth", [100, 300, 400, 500, 1_000, 20_000])
def test_toml_that_is_nested_too_deeply(depth: int) -> None:
    for text in (
        "format = 1\nx = " + "[" * depth + "]" * depth,
        "format = 1\nx = " + "{a = " * depth + "1" + "}" * depth,
    ):
        fault = the_fault(text, TOML)
        said = (fault.path, fault.found, fault.wanted)
        known = "the keys here are format, modules, nodes, sources, network"
        assert said in [("$", "nested too deeply", "nest it less deeply"), ("$.x", "unknown key", known)]


def attribute(value: str) -> str:
    resource = f'{{"kind": "file", "path": "/a", "of": {value}}}'
    return f'{{"format": 1, "modules": [{{"name": "a", "version": "1", "resources": [{resource}]}}]}}'


def test_an_attribute_that_is_nested_too_deeply() -> None:
    read_mesh(attribute("[" * 64 + "]" * 64).encode(), JSON)
    for depth in (66, 500):
        fault = the_fault(attribute("[" * depth + "]" * depth))
        assert fault.path.startswith("$.modules[0].resources[0].of[0][0]")
        assert fault.found == "more than 64 levels"
    dotted = ".".join(["a"] * 2_000)
    text = f"{MODULE}[[modules.resources]]\nkind = 'a'\nname = 'a'\n{dotted} = 1"
    assert the_fault(text, TOML).found == "more than 64 levels"


def test_a_number_of_thousands_of_digits() -> None:
    digits = "9" * 5_000
    for text, syntax in (
        (f'{{"format": {digits}}}', JSON),
        (attribute(digits), JSON),
        (attribute(f"-{digits}"), JSON),
        (f"format = {digits}", TOML),
    ):
        fault = the_fault(text, syntax)
        assert fault == Fault(path="$", found="a number that is too long", wanted="write a shorter one")
    read_mesh(attribute("9" * 4_000).encode(), JSON)


@pytest.mark.parametrize(
    "text",
    [
        "format = 0x{}",
        "format = 1\n[[nodes]]\nname = 0x{}",
        f"{MODULE}[[modules.resources]]\nkind = 'a'\nname = 'a'\nof = 0x{{}}",
    ],
)
def test_a_number_of_thousands_of_digits_in_hexadecimal(text: str) -> None:
    assert len(faults_of(text.format("f" * 5_000), TOML)) == 1


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1E400"])
def test_what_is_no_number_in_json(number: str) -> None:
    fault = the_fault(attribute(number))
    assert fault.path == "$.modules[0].resources[0].of"
    assert fault.found.startswith("found the number ")
    assert the_fault(attribute(f'[1, {{"a": {number}}}]')).path == "$.modules[0].resources[0].of[1].a"
    assert the_fault(f'{{"format": {number}}}').path == "$.format"


@pytest.mark.parametrize(
    "value",
    ["nan", "inf", "-inf", "1e999", "2026-12-01", "10:00:00", "2026-12-01T10:00:00Z", "2026-12-01 10:00:00"],
)
def test_what_is_no_plain_data_in_toml(value: str) -> None:
    """> NaN, infinities and TOML's dates are refused."""
    head = "format = 1\n[[modules]]\nname = 'a'\n"
    resource = "version = '1'\n[[modules.resources]]\nkind = 'a'\nname = 'a'\n"
    assert the_fault(f"{head}version = {value}", TOML).path == "$.modules[0].version"
    assert the_fault(f"{head}{resource}of = {value}", TOML).path == "$.modules[0].resources[0].of"
    assert (
        the_fault(f"{head}{resource}of = [{{a = {value}}}]", TOML).path == "$.modules[0].resources[0].of[0].a"
    )


def test_a_lone_surrogate_in_json() -> None:
    for written in ("\\ud800", "\\udfff", "a\\ud83dz", "\\ude00\\ud83d"):
        fault = the_fault(attribute(f'"{written}"'))
        assert fault.path == "$.modules[0].resources[0].of"
        fault = the_fault(f'{{"format": 1, "nodes": [{{"name": "{written}"}}]}}')
        assert fault.path == "$.nodes[0].name"
        fault = the_fault(attribute(f'{{"{written}": 1}}'))
        assert fault.path == "$.modules[0].resources[0].of"
        str(fault).encode()
    # A pair of them is a character like others.
    assert read_mesh(attribute('"\\ud83d\\ude00"').encode(), JSON) == read_mesh(
        attribute('"😀"').encode(), JSON
    )


def test_no_text_is_normalised() -> None:
    composed, decomposed = (read_mesh(attribute(f'"{e}"').encode(), JSON).mesh for e in ("é", "e\u0301"))
    assert composed != decomposed
    text = "format = 1\n[[modules]]\nname = 'a'\nversion = '1'\nresources = [{kind = 'a', name = ' A\\n '}]"
    assert read_mesh(text.encode(), TOML).mesh.catalogue.modules[0].resources[0].name == " A\\n "


@pytest.mark.parametrize(
    ("limit", "read", "document"),
    [
        (MESH_LIMIT, read_mesh, '{"format": 1}'),
        (MANIFEST_LIMIT, read_module, '{"name": "a", "version": "1"}'),
        (REPORT_LIMIT, read_report, "{}"),
    ],
)
def test_what_is_over_its_size(limit: int, read: Callable[..., Any], document: str) -> None:
    """> Manifest 1 MiB, [...] report 256 KiB [...], mesh document 64 MiB (part 11)"""
    assert limit == {read_mesh: 64 << 20, read_module: 1 << 20, read_report: 256 << 10}[read]
    content = document.encode().ljust(limit)
    read(content, JSON)
    (fault,) = faults_of(content + b" ", JSON, read)
    assert fault == Fault(path="$", found=f"{limit + 1} bytes", wanted=f"at most {limit} are read")


def test_what_is_too_large_is_not_even_looked_at() -> None:
    (fault,) = faults_of(b"\xff" * (REPORT_LIMIT + 1), JSON, read_report)
    assert fault.found.endswith(" bytes")


def test_what_python_writes_is_read() -> None:
    document = {
        "format": 1,
        "nodes": [{"name": "pi", "capabilities": {"g": {"present": True, "detail": "é\0\x7f"}}}],
    }
    for ensure_ascii in (True, False):
        text = json.dumps(document, ensure_ascii=ensure_ascii, indent=2)
        found = read_mesh(text.encode(), JSON).mesh.nodes[0].capabilities
        assert found is not None
        assert found[0].detail == "é\0\x7f"
