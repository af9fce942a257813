"""Bad input that is no whole document: manifests, reports, names, files that are too large or out of reach.

"A clear sentence, the right exit code, nothing written, no traceback."
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.program import MESH, MODULES, mesh, nothing_written, ok, refused, written
from tests.integration.store.helpers import unprivileged

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
    ("empty.json", "\n", ["$: it is empty; wanted an object"]),
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
    ("empty.json", "", ["$: it is empty; wanted an object"]),
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
