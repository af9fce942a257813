"""Bad input: "a clear sentence, the right exit code, nothing written, no traceback".

Documents, manifests and reports that are malformed in every way that a person manages; what is wrong with
one is told with the file, the path, what was found and what would do, all of it at once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.program import mesh, nothing_written, refused, written

NAME_RULE = "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or a digit"


def one(module: dict[str, Any] | None = None, node: dict[str, Any] | None = None) -> dict[str, Any]:
    """A document with one module and one node, with what the test is about."""
    modules = [{"name": "zsh", "version": "5.9"} | (module or {})]
    return {"format": 1, "modules": modules, "nodes": [{"name": "nas"} | (node or {})]}


DOCUMENTS: list[tuple[str, Any, list[str]]] = [
    ("empty.json", "", ["$: it is empty; wanted an object"]),
    ("empty.toml", "", ["$.format: missing; this key is needed (1)"]),
    ("cut.json", '{"format": 1,', ["$: no JSON at line 1, column 14"]),
    ("cut.toml", "format = 1\n[[modules]\n", ["$: no TOML: ", "line 2"]),
    ("prose.json", "I have no idea.", ["$: no JSON at line 1, column 1"]),
    ("toml-in.json", "format = 1\n", ["$: no JSON at line 1"]),
    ("json-in.toml", '{"format": 1}', ["$: no TOML: "]),
    ("latin.json", '{"format": 1, "nodes": [{"name": "na\xefs"}]}'.encode("latin-1"), ["no UTF-8"]),
    ("bytes.toml", b"\xff\xfe\x00", ["$: byte 0 is no UTF-8"]),
    ("mark.json", b'\xef\xbb\xbf{"format": 1}', ["a byte order mark"]),
    ("list.json", [], ["$: found a list; wanted an object"]),
    ("text.json", '"mesh"', ['$: found "mesh"; wanted an object']),
    ("null.json", "null", ["$: found null; wanted an object"]),
    ("deep.json", "[" * 100_000, ["$: nested too deeply"]),
    ("long.json", '{"format": ' + "1" * 10_000 + "}", ["a number that is too long"]),
    ("newer.json", {"format": 2, "machines": 5}, ["$.format: found the number 2", "a newer one is needed"]),
    ("older.json", {"format": 0}, ["$.format: found the number 0; wanted 1"]),
    ("text-format.json", {"format": "1"}, ['$.format: found "1"; wanted 1']),
    ("float-format.json", '{"format": 1.0}', ["$.format: found the number 1.0; wanted 1"]),
    ("true-format.json", {"format": True}, ["$.format: found true; wanted 1"]),
    ("twice.json", '{"format": 1, "nodes": [], "nodes": []}', ["$.nodes: this key stands twice"]),
    ("twice.toml", "format = 1\nformat = 1\n", ["$: no TOML: ", "Cannot overwrite a value"]),
    ("modulez.json", {"format": 1, "modulez": []}, ["$.modulez: unknown key", "(did you mean modules?)"]),
    ("null-list.json", {"format": 1, "nodes": None}, ["$.nodes: found null; wanted a list"]),
    ("no-name.json", {"format": 1, "nodes": [{}]}, ["$.nodes[0].name: missing; this key is needed"]),
    ("upper.json", {"format": 1, "nodes": [{"name": "NAS"}]}, ["$.nodes[0].name", NAME_RULE, '"nas"']),
    (
        "two-nas.json",
        {"format": 1, "nodes": [{"name": "nas"}, {"name": "nas"}]},
        ['$.nodes[1].name: "nas" stands here and at $.nodes[0].name; it may stand once'],
    ),
    ("number.json", one({"version": 5.9}), ["$.modules[0].version: found the number 5.9", '"5.9"']),
    ("spaced.json", one({"version": "5 9"}), ["$.modules[0].version", "without white space"]),
    ("nan.json", '{"format": 1, "modules": [{"name": "a", "version": NaN}]}', ["$.modules[0].version"]),
    (
        "nan-deep.json",
        json.dumps(one({"resources": [{"kind": "x", "name": "a", "mode": [float("nan")]}]})),
        ["$.modules[0].resources[0].mode[0]: found the number nan"],
    ),
    ("no-list.json", one({"requires": "shell"}), ['$.modules[0].requires: found "shell"; wanted a list']),
    ("from.json", one({"requires": [{"name": "x", "from": "ever"}]}), ['"every"', "requires[0].from"]),
    ("scope.json", one({"provides": [{"name": "x", "scope": "nod"}]}), ["provides[0].scope", '"node"']),
    (
        "export.json",
        one({"provides": [{"name": "x", "exports": {"port": 80}}]}),
        ["$.modules[0].provides[0].exports.port: found the number 80"],
    ),
    (
        "space-in-name.json",
        one({"claims": ["port 80"]}),
        ["$.modules[0].claims[0]", "a claim name is", "port-80"],
    ),
    (
        "claim-twice.json",
        one({"claims": ["a", "a"]}),
        ['$.modules[0].claims[1]: "a" stands here and at $.modules[0].claims[0];'],
    ),
    (
        "self.json",
        one({"provides": ["x"], "requires": ["x"]}),
        ["$.modules[0].requires[0]", "it could only answer itself"],
    ),
    ("kind.json", one({"resources": [{"kind": "a:b", "name": "x"}]}), ["$.modules[0].resources[0]"]),
    (
        "place.json",
        one({"resources": [{"kind": "file"}]}),
        ["neither 'path' nor 'name'; a resource has exactly one of them"],
    ),
    (
        "path.json",
        one({"resources": [{"kind": "file", "path": "/etc//motd"}]}),
        ['(did you mean "/etc/motd"?)'],
    ),
    ("verdict.json", one(node={"capabilities": {"gpu": "no"}}), ['$.nodes[0].capabilities.gpu: found "no"']),
    ("present.json", one(node={"capabilities": {"gpu": {}}}), ["capabilities.gpu.present: missing"]),
    (
        "capability.json",
        one(node={"capabilities": {"Gp U": True}}),
        ['$.nodes[0].capabilities["Gp U"]', "gp-u"],
    ),
    ("pin.json", one(node={"pins": {"database": 5}}), ["$.nodes[0].pins.database: found the number 5"]),
    ("pin-name.json", one(node={"pins": {"Data": "nas"}}), ["$.nodes[0].pins.Data", "a provision name is"]),
    (
        "pin-at.json",
        one(node={"pins": {"database": "nas/a/b"}}),
        ["$.nodes[0].pins.database", "a module name is"],
    ),
    ("pin-to.json", one(node={"pins": {"database": "Nas"}}), ["$.nodes[0].pins.database", '"nas"']),
    ("surrogate.json", '{"format": 1, "nodes": [{"name": "a\\ud800"}]}', ["a lone surrogate"]),
    (
        "surrogate-deep.json",
        one({"resources": [{"kind": "file", "path": "/a", "content": "\ud800"}]}),
        ["$.modules[0].resources[0].content: found a lone surrogate"],
    ),
    (
        "date.toml",
        """
        format = 1
        modules = [{name = "a", version = "1", resources = [{kind = "x", name = "a", at = 2026-12-01}]}]
        """,
        ["$.modules[0].resources[0].at"],
    ),
    (
        "scopes.json",
        {
            "format": 1,
            "modules": [
                {"name": "a", "version": "1", "provides": ["x"]},
                {"name": "b", "version": "1", "provides": [{"name": "x", "scope": "mesh"}]},
            ],
        },
        [
            "$.modules[1].provides[0].scope",
            "b provides 'x' with scope mesh, and a provides it with scope node",
        ],
    ),
]


@pytest.mark.parametrize(("name", "document", "fragments"), DOCUMENTS, ids=[name for name, *_ in DOCUMENTS])
def test_a_malformed_document_is_refused_by_whatever_reads_one(
    store: Path, folder: Path, name: str, document: Any, fragments: list[str]
) -> None:
    written(folder, name, document)
    with nothing_written(store):
        for line in (["plan", "--file"], ["import", "--replace", "--anyway"]):
            refused(mesh(*line, name), name, fragments)
        error = mesh("import", name, "--json").error
        assert error["code"] == "malformed"
        assert error["file"] == name
        assert all(fault.keys() == {"path", "found", "wanted", "suggestion"} for fault in error["faults"])


def test_standard_input_is_json_or_toml_by_how_it_begins(store: Path) -> None:
    with nothing_written(store):
        for given, said in (
            (b"", "$: it is empty"),
            (b" {", "$: no JSON at line 1, column 3"),
            (b"format = 2", "$.format: found the number 2"),
            (b"\xff", "$: byte 0 is no UTF-8"),
        ):
            for line in ("plan --file -", "import -"):
                refused(mesh(*line.split(), stdin=given), "standard input", [said])
        assert mesh("import", "-", "--dry-run", stdin='format = 1\n[[nodes]]\nname = "tv"\n').code == 0


def test_all_faults_are_told_at_once(store: Path, folder: Path) -> None:
    document = one({"version": 5, "provide": []}, {"assign": "zsh", "capabilities": {"gpu": 1}})
    written(folder, "mesh.json", document | {"nods": []})
    with nothing_written(store):
        ran = mesh("import", "mesh.json")
    assert ran.err.startswith("mesh.json is refused, with 5 faults:\n")
    for path in ("$.nods", "version", "provide:", "assign", "capabilities.gpu"):
        assert path in ran.err


def test_of_very_many_faults_the_first_are_shown_and_json_has_all(folder: Path) -> None:
    written(folder, "mesh.json", {"format": 1, "nodes": [{"name": f"N{number}"} for number in range(100)]})
    ran = mesh("plan", "--file", "mesh.json")
    assert ran.err.startswith("mesh.json is refused, with 100 faults:\n")
    assert ran.err.splitlines()[-1] == "  and 80 more (--json has all)"
    assert len(ran.err.splitlines()) == 22
    assert len(mesh("plan", "--file", "mesh.json", "--json").error["faults"]) == 100
