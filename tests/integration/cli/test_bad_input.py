"""Bad input: "a clear sentence, the right exit code, nothing written, no traceback".

Documents, manifests and reports that are malformed in every way that a person manages; what is wrong with
one is told with the file, the path, what was found and what would do, all of it at once.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.program import MESH, MODULES, Ran, mesh, nothing_written, ok, written
from tests.integration.store.helpers import unprivileged

NAME_RULE = "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or a digit"


def one(module: dict[str, Any] | None = None, node: dict[str, Any] | None = None) -> dict[str, Any]:
    """A document with one module and one node, with what the test is about."""
    modules = [{"name": "zsh", "version": "5.9"} | (module or {})]
    return {"format": 1, "modules": modules, "nodes": [{"name": "nas"} | (node or {})]}


DOCUMENTS: list[tuple[str, Any, list[str]]] = [
    ("empty.json", "", ["$: no JSON at line 1, column 1"]),
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
    ("claim-twice.json", one({"claims": ["a", "a"]}), ["$.modules[0].claims[1]"]),
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


def refused(ran: Ran, name: str, fragments: list[str]) -> None:
    assert ran.code == 1
    first, *faults = ran.err.splitlines()
    assert first.startswith(f"{name} is refused, with {len(faults)} fault")
    assert all(fault.startswith("  $") for fault in faults)
    for fragment in fragments:
        assert fragment in ran.err
    assert not ran.out


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
            (b"", "$: no JSON at line 1, column 1"),
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


MANIFESTS: list[tuple[str, Any, list[str]]] = [
    (
        "format.json",
        {"format": 1, "name": "a", "version": "1"},
        ["$.format: unknown key; the keys here are name"],
    ),
    ("whole.json", MESH, ["$.format", "$.modules: unknown key", "$.name: missing"]),
    ("list.json", MODULES, ["$: found a list"]),
    ("claim.toml", 'name = "a"\nversion = "1"\nclaim = []\n', ["$.claim", "(did you mean claims?)"]),
    (
        "version.toml",
        'name = "a"\nversion = 1.0\n',
        ["$.version: found the number 1.0", '(in quotes: "1.0")'],
    ),
    ("name.json", {"name": "My Web", "version": "1"}, ["$.name", '(did you mean "my-web"?)']),
    (
        "every.json",
        {"name": "a", "version": "1", "provides": ["x"], "requires": [{"name": "x", "from": "every"}]},
        ["x"],
    ),
    ("empty.toml", "", ["$.name: missing", "$.version: missing"]),
]


@pytest.mark.parametrize(("name", "manifest", "fragments"), MANIFESTS, ids=[name for name, *_ in MANIFESTS])
def test_a_malformed_manifest_is_refused(
    store: Path, folder: Path, name: str, manifest: Any, fragments: list[str]
) -> None:
    written(folder, name, manifest)
    written(folder, "good.toml", 'name = "good"\nversion = "1"\n')
    with nothing_written(store):
        refused(mesh("module", "add", name), name, fragments)
        refused(mesh("module", "add", "good.toml", name, "--anyway"), name, fragments)


REPORTS: list[tuple[str, Any, list[str]]] = [
    ("number.json", {"gpu": 1}, ["$.gpu: found the number 1; wanted true, false or an object"]),
    ("text.json", {"gpu": "no"}, ['$.gpu: found "no"']),
    ("null.json", {"gpu": None}, ["$.gpu: found null"]),
    ("list.json", ["gpu"], ["$: found a list; wanted an object"]),
    ("wrapped.json", {"capabilities": {"gpu": True}}, ["$.capabilities.gpu: unknown key"]),
    ("presen.json", {"gpu": {"presen": True}}, ["$.gpu.present: missing", "(did you mean present?)"]),
    ("detail.json", {"gpu": {"present": True, "detail": 1}}, ["$.gpu.detail: found the number 1"]),
    ("name.json", {"A GPU": True}, ['$["A GPU"]', "a capability name is", "a-gpu"]),
    ("twice.json", '{"gpu": true, "gpu": false}', ["$.gpu: this key stands twice"]),
    ("empty.json", "", ["$: no JSON"]),
]


@pytest.mark.parametrize(("name", "report", "fragments"), REPORTS, ids=[name for name, *_ in REPORTS])
def test_a_malformed_report_is_refused(
    store: Path, folder: Path, name: str, report: Any, fragments: list[str]
) -> None:
    written(folder, name, report)
    with nothing_written(store):
        refused(mesh("node", "report", "nas", name, "--anyway"), name, fragments)


@pytest.mark.parametrize(
    ("line", "limit"),
    [("plan --file", 64 * 1024**2), ("module add", 1024**2), ("node report nas", 256 * 1024)],
)
def test_what_is_larger_than_its_limit_is_refused(store: Path, folder: Path, line: str, limit: int) -> None:
    with (folder / "large.json").open("wb") as file:
        file.truncate(limit + 1)
    with nothing_written(store):
        ran = mesh(*line.split(), "large.json")
    assert ran.code == 1
    assert f"{limit + 1} bytes; at most {limit} are read" in ran.err


def test_a_document_may_be_as_large_as_its_limit(store: Path, folder: Path) -> None:
    filled = '{"gpu": true}'.ljust(256 * 1024)
    written(folder, "report.json", filled)
    ok("node", "report", "pi", "report.json")


SCOPES: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"name": "redis", "version": "7", "provides": ["database"]},
        ["redis", "postgres", "'database' with scope", "a provision has one scope in a catalogue"],
    ),
    (
        {"name": "bash", "version": "5", "provides": [{"name": "shell", "scope": "mesh"}]},
        ["bash", "zsh", "'shell' with scope", "a provision has one scope in a catalogue"],
    ),
    (
        {"name": "pgbouncer", "version": "1", "claims": [{"name": "port:5432", "scope": "mesh"}]},
        ["pgbouncer", "postgres", "'port:5432' with scope", "a claim has one scope in a catalogue"],
    ),
    (
        {"name": "watch", "version": "1", "requires": [{"name": "shell", "from": "every"}]},
        ["watch", "'shell'", "every"],
    ),
]


@pytest.mark.parametrize(("manifest", "fragments"), SCOPES, ids=[m["name"] for m, _ in SCOPES])
def test_a_manifest_that_disagrees_with_the_catalogue_is_refused_with_both_modules(
    store: Path, folder: Path, manifest: dict[str, Any], fragments: list[str]
) -> None:
    """Part 2: "a manifest that disagrees with the others is refused when it is added (`CatalogueError`,
    naming both modules)". There is nothing that `--anyway` could record.
    """
    written(folder, "module.json", manifest)
    written(folder, "mesh.json", {"format": 1, "modules": [manifest]})
    with nothing_written(store):
        for line in ("module add module.json", "module add module.json --keep", "import mesh.json"):
            for anyway in ([], ["--anyway"]):
                ran = mesh(*line.split(), *anyway)
                assert ran.code == 3
                assert ran.err.startswith("refused: ")
                for fragment in fragments:
                    assert fragment in ran.err
                assert mesh(*line.split(), *anyway, "--json").error["code"] == "catalogue"


def test_manifests_that_change_a_scope_together_are_taken_together(store: Path, folder: Path) -> None:
    """Part 7 makes a catalogue of all of them; on the way there they need not agree."""
    node_scoped: dict[str, Any] = {"name": "postgres", "version": "17", "provides": ["database"]}
    written(folder, "postgres.json", node_scoped)
    written(folder, "redis.json", {"name": "redis", "version": "7", "provides": ["database"]})
    with nothing_written(store):
        assert mesh("module", "add", "redis.json").code == 3
    ran = mesh("module", "add", "redis.json", "postgres.json", "--anyway")
    assert ran.code == 0, ran.err


def test_a_file_without_a_name_is_wrong_usage(store: Path) -> None:
    with nothing_written(store):
        for line in (["plan", "--file"], ["import"], ["module", "add"], ["node", "report", "pi"]):
            ran = mesh(*line, "")
            assert (ran.code, ran.err) == (64, "the name of the file is empty; - is standard input\n")


def test_names_of_any_length_are_refused_or_taken_whole(store: Path) -> None:
    longest = "a" * 63
    ok("node", "add", longest)
    assert longest in ok("node", "list").out
    assert longest in ok("plan").out
    with nothing_written(store):
        ran = mesh("node", "add", "a" * 64)
        assert ran.code == 64
        assert mesh("node", "add", "a" * 100_000).code == 64
        assert mesh("plan", "a" * 63 + "b").code == 64
        assert mesh("unpin", "pi", "a" * 129).code == 64
        assert mesh("plan", "--file", "a" * 300 + ".json").code == 1, "File name too long"


def test_a_file_that_may_not_be_read(open_folder: Path) -> None:
    path = written(open_folder, "mesh.json", MESH)
    assert mesh("plan", "--file", path).code == 0
    path.chmod(0)
    with unprivileged(open_folder):
        ran = mesh("plan", "--file", path)
        assert (ran.code, ran.err) == (1, f"{path} cannot be read: Permission denied\n")


def test_the_name_of_a_file_may_be_anything(store: Path, folder: Path) -> None:
    """Names that are no UTF-8, or that a terminal would act on, are shown and kept as what they are."""
    names = (os.fsdecode(b"b\xffd.json"), "two words.json", "red\x1b[31m.json", "[bold]x[bold].json")
    for number, name in enumerate(names):
        written(folder, name, {f"disk:{number}": True})
        ok("node", "report", "pi", name)
        for line in (["history"], ["history", "--json"]):
            said = ok(*line).out
            said.encode("utf-8")
            assert "\x1b" not in said
    told = [event["command"] for event in ok("history", "--json", "-n", 4).json["events"]]
    assert told == [
        "mesh node report pi '[bold]x[bold].json'",
        r"mesh node report pi 'red\x1b[31m.json'",
        "mesh node report pi 'two words.json'",
        r"mesh node report pi 'b\udcffd.json'",
    ]
    assert mesh("plan", "--file", os.fsdecode(b"\xff.json"), "--json").error["file"] == "\udcff.json"
