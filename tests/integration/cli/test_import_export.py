"""A whole mesh, in and out: `import` takes all or nothing, `export` loses only history.

"`import` shows the difference and takes all or nothing: it replaces the modules, assignments and pins that it
names, `--replace` also removes the rest; what machines reported is never overwritten by an import. `export`
then `import` into an empty store loses only history."
"""

from __future__ import annotations

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from mesh_cli.main import run
from mesh_core import mesh_from_data, mesh_to_data
from mesh_core.network.addresses import give_addresses
from mesh_core.testing import documents
from tests.integration.cli.program import (
    EXAMPLES,
    MESH,
    MODULES,
    NODES,
    events,
    exported,
    mesh,
    node_entry,
    nothing_written,
    ok,
    rows,
    without_next,
    written,
)

HOMELAB = EXAMPLES / "homelab" / "mesh.toml"


def imported(document: dict[str, Any], *more: str) -> str:
    return ok("import", "-", *more, stdin=json.dumps(document)).out


def test_export_then_import_into_an_empty_store_loses_only_history(empty: Path, folder: Path) -> None:
    ok("import", HOMELAB, "--anyway")
    ok("node", "add", "new")
    ok("node", "report", "new", "-", stdin="{}")
    said = ok("export", "mesh.json").out
    assert said == "wrote mesh.json: 23 modules, 6 nodes\n"
    ok("init", "--store", "other.db")
    ok("import", "mesh.json", "--anyway", "--store", "other.db")
    assert exported(folder / "other.db") == exported(empty)
    before, after = rows(empty), rows(folder / "other.db")
    for table in ("assignments", "pins", "capabilities", "modules"):
        assert len(after[table]) == len(before[table]) > 0
    assert len(events(folder / "other.db")) == 1
    for line in ("plan", "plan --json", "graph", "lint", "node list"):
        assert mesh(*line.split(), "--store", "other.db") == mesh(*line.split())
    assert ok("import", "mesh.json", "--replace").out == "nothing to change: the mesh is so already\n"


@settings(max_examples=25)
@given(document=documents())
def test_any_mesh_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("any")
    written(folder, "mesh.json", document)
    out = StringIO()
    with redirect_stdout(out), redirect_stderr(StringIO()):
        store = ["--store", str(folder / "mesh.db")]
        assert run(["init", *store]) == 0
        assert run(["import", str(folder / "mesh.json"), "--anyway", *store]) == 0
        assert run(["export", str(folder / "exported.json"), *store]) == 0
    found = json.loads((folder / "exported.json").read_text())
    # Who has no address yet is given one, where there is a network and room in it.
    assert found == mesh_to_data(give_addresses(mesh_from_data(document)).mesh)


def test_the_difference_is_shown_module_by_module_and_node_by_node(store: Path) -> None:
    document = {
        "format": 1,
        "modules": [MODULES[0] | {"version": "5.10"}, {"name": "nano", "version": "7"}],
        "nodes": [{"name": "pi", "assign": ["nano"], "pins": {}}, {"name": "tv"}],
    }
    expected = [
        "+ module nano 7",
        "~ module zsh 5.9 -> 5.10",
        "~ node pi: + assign nano, - assign web, - pin database",
        "+ node tv",
        "4 differences: 2 new, 2 changed, 0 removed",
    ]
    with nothing_written(store):
        said = imported(document, "--dry-run")
        assert said.splitlines() == [*expected, "nothing was recorded: --dry-run"]
        data = ok("import", "-", "--dry-run", "--json", stdin=json.dumps(document)).json
        assert data["event"] is None
        assert len(data["changes"]) == 4
    assert imported(document).splitlines() == expected
    assert node_entry(store, "pi") == {"name": "pi", "assign": ["nano"], "pins": {}}
    assert len(events(store)) == 2, "one command is one event"
    assert events(store)[0]["command"] == "mesh import -"


def test_a_key_that_is_missing_leaves_and_an_empty_one_empties(store: Path) -> None:
    """Part 11: "`import` leaves what a node's entry does not mention (no `assign` key) and empties what it
    gives empty."
    """
    before = node_entry(store, "pi")
    entries: list[dict[str, Any]] = [
        {},
        {"assign": ["web"]},
        {"pins": {"database": "nas"}},
        {"capabilities": {}},
    ]
    for entry in entries:
        imported({"format": 1, "nodes": [{"name": "pi", **entry}]})
        assert {**node_entry(store, "pi"), "capabilities": 0} == {**before, "capabilities": 0}
    imported({"format": 1, "nodes": [{"name": "pi", "pins": {}}]})
    assert node_entry(store, "pi")["assign"] == ["web"]
    assert node_entry(store, "pi")["pins"] == {}
    imported({"format": 1, "nodes": [{"name": "pi", "assign": []}]})
    assert node_entry(store, "pi")["assign"] == []
    for empty in ({"format": 1}, {"format": 1, "modules": [], "nodes": []}):
        assert imported(empty) == "nothing to change: the mesh is so already\n"


def test_a_report_is_never_overwritten(store: Path) -> None:
    reported = node_entry(store, "nas")["capabilities"]
    for capabilities in ({}, {"systemd": False}, {"gpu": True, "systemd": True}):
        for more in ([], ["--anyway"], ["--replace", "--anyway"]):
            entry = {"name": "nas", "capabilities": capabilities}
            imported({"format": 1, "modules": MODULES, "nodes": [entry, NODES[1]]}, *more)
            assert node_entry(store, "nas")["capabilities"] == reported
    assert "capabilities" not in node_entry(store, "pi")
    imported({"format": 1, "nodes": [{"name": "pi", "capabilities": {"gpu": True}}]})
    assert node_entry(store, "pi")["capabilities"] == {"gpu": True}, "it had said nothing so far"
    ok("node", "report", "pi", "-", stdin="{}")
    imported({"format": 1, "nodes": [{"name": "pi", "capabilities": {"gpu": True}}]})
    assert node_entry(store, "pi")["capabilities"] == {}, "that it has nothing was said too"


def test_without_replace_nothing_is_removed_and_with_it_the_rest_is(store: Path) -> None:
    document = {
        "format": 1,
        "modules": [MODULES[0]],
        "nodes": [{"name": "pi", "assign": ["zsh"], "pins": {}}],
    }
    imported(document)
    assert [module["name"] for module in exported(store)["modules"]] == ["postgres", "web", "zsh"]
    assert [node["name"] for node in exported(store)["nodes"]] == ["nas", "pi"]
    with nothing_written(store):
        said = imported(document, "--replace", "--dry-run")
        for line in (
            "- node nas",
            "- module postgres",
            "- module web",
            "3 differences: 0 new, 0 changed, 3 removed",
        ):
            assert line in said.splitlines()
    imported(document, "--replace")
    assert [module["name"] for module in exported(store)["modules"]] == ["zsh"]
    assert [node["name"] for node in exported(store)["nodes"]] == ["pi"]
    assert rows(store)["capabilities"] == []
    assert len(rows(store)["manifests"]) == 3, "every manifest ever recorded is kept"
    assert events(store)[0]["command"] == "mesh import - --replace"


def test_replacing_everything_by_nothing_is_possible_and_said(store: Path) -> None:
    said = imported({"format": 1}, "--replace")
    assert "5 differences: 0 new, 0 changed, 5 removed" in said
    assert exported(store) == {"format": 1, "modules": [], "nodes": []}


def test_a_module_that_stays_assigned_is_not_dropped_by_replace(store: Path) -> None:
    """The document says nothing of what pi is assigned, so it keeps it, and web is still in use."""
    document = {"format": 1, "modules": MODULES[:2], "nodes": [NODES[0], {"name": "pi"}]}
    with nothing_written(store):
        for more in ([], ["--anyway"]):
            ran = mesh("import", "-", "--replace", *more, stdin=json.dumps(document))
            assert ran.code == 3
            assert "web" in ran.err
            assert "pi" in ran.err


def test_a_pin_at_a_node_that_is_replaced_away_is_the_reason_to_refuse(store: Path) -> None:
    """Part 3: a pin at a node that does not exist is `pin-unsatisfied`; it is never just dropped."""
    given = json.dumps({"format": 1, "modules": MODULES, "nodes": [{"name": "pi"}]})
    with nothing_written(store):
        ran = mesh("import", "-", "--replace", stdin=given)
        assert ran.code == 3
        assert "pi is pinned to take 'database' from nas, and there is no node nas" in ran.err
        assert "would go with it" not in ran.err
    out = ok("import", "-", "--replace", "--anyway", stdin=given).out
    assert out.splitlines() == [
        "- node nas",
        "~ node pi: keeps its pins",
        "2 differences: 0 new, 1 changed, 1 removed",
        "  refused now: pi (`mesh plan` says why)",
    ]
    assert node_entry(store, "pi") == {"name": "pi", "assign": ["web"], "pins": {"database": "nas"}}


def test_a_document_that_pins_elsewhere_is_the_move_and_only_says_so(third: Path) -> None:
    """Part 8: "a change that *is* the move (pinning elsewhere) only says so"."""
    nodes = [{"name": "vps", "assign": ["postgres"]}, {"name": "pi", "pins": {"database": "vps"}}]
    said = "  pi takes 'database' from vps (postgres) instead of nas (postgres)"
    assert said in imported({"format": 1, "nodes": nodes}, "--dry-run").splitlines()
    assert said in imported({"format": 1, "nodes": nodes}).splitlines()
    assert node_entry(third, "pi")["pins"] == {"database": "vps"}


def test_all_or_nothing(store: Path) -> None:
    """One fault in the last line of a document, one node that would be refused: nothing of it is taken."""
    nano, tv = {"name": "nano", "version": "7"}, {"name": "tv"}
    good = {"format": 1, "modules": [nano], "nodes": [tv]}
    malformed = {**good, "nodes": [tv, {"name": "TV"}]}
    refused = {**good, "nodes": [tv, {"name": "nas", "assign": []}]}
    disagrees = {
        **good,
        "modules": [nano, {"name": "a", "version": "1", "provides": ["database"]}],
    }
    with nothing_written(store):
        for document, code in ((malformed, 1), (refused, 3), (disagrees, 3)):
            ran = mesh("import", "-", stdin=json.dumps(document))
            assert ran.code == code
            assert ran.err
            assert mesh("import", "-", "--dry-run", stdin=json.dumps(document)).code == code


def test_a_dry_run_says_what_would_be_refused(store: Path) -> None:
    document = {"format": 1, "nodes": [{"name": "nas", "assign": []}]}
    with nothing_written(store):
        ran = mesh("import", "-", "--dry-run", stdin=json.dumps(document))
        assert ran.code == 3
        assert "1 node would be refused: pi" in ran.err
        ran = mesh("import", "-", "--dry-run", "--anyway", stdin=json.dumps(document))
        assert ran.code == 0
        assert "1 node would be refused: pi" in ran.out
        assert ran.out.endswith("nothing was recorded: --dry-run\n")


def test_manifests_that_change_scope_together_come_together(store: Path) -> None:
    """The database is no longer reached over the network: whoever provides it and whoever takes it say so."""
    document = {
        "format": 1,
        "modules": [
            {"name": "postgres", "version": "17", "provides": ["database"]},
            {"name": "redis", "version": "7", "provides": ["database"]},
        ],
        "nodes": [{"name": "pi", "assign": ["postgres", "web"], "pins": {}}],
    }
    imported(document)
    versions = {module["name"]: module["version"] for module in exported(store)["modules"]}
    assert versions == {"postgres": "17", "redis": "7", "web": "1.4.0", "zsh": "5.9"}
    assert mesh("plan").code == 0
    imported({"format": 1, "modules": MODULES, "nodes": NODES}, "--replace")
    assert exported(store) == ok_document(MESH)


def ok_document(document: dict[str, Any]) -> dict[str, Any]:
    """A document in the form that export writes."""
    return mesh_to_data(mesh_from_data(document))


def test_toml_and_json_say_the_same(empty: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("import", HOMELAB, "--anyway")
    ok("export", folder / "mesh.json")
    monkeypatch.chdir(HOMELAB.parent)  # what comes from stdin names files of the current folder
    for line in ("plan", "plan --json", "graph --format dot", "lint --json"):
        assert mesh(*line.split(), "--file", folder / "mesh.json") == mesh(*line.split(), "--file", HOMELAB)
        piped = mesh(*line.split(), "--file", "-", stdin=HOMELAB.read_bytes())
        assert piped == without_next(mesh(*line.split()))


def test_export_writes_a_new_file_whole_or_nothing(store: Path, folder: Path) -> None:
    printed = ok("export").out
    ok("export", "mesh.json")
    assert (folder / "mesh.json").read_text() == printed
    assert ok("export", "other.json", "--json").json == {"format": 1, "export": "other.json"}
    assert ok("export", "--json").out == printed
    assert json.loads(printed) == ok_document(MESH)
    assert mesh("export", "mesh.json").code == 1


def test_text_of_all_kinds_comes_back_to_the_letter(empty: Path, folder: Path) -> None:
    """Nothing in a text means anything to the program: no markup, no escape, no line end."""
    odd = (
        "[bold]b[/bold] \x1b[31m \x00 \u202e \u2028 \ud83d\ude00 \r\n\t\\ \" ' {{ x }} %s $HOME `id`".encode(
            "utf-16", "surrogatepass"
        ).decode("utf-16")
    )
    document = {
        "format": 1,
        "modules": [
            {
                "name": "odd",
                "version": "[red]1[/red]",
                "provides": [{"name": "x", "scope": "node", "exports": {"k [b]": odd}}],
                "resources": [
                    {"kind": "odd", "path": "/odd", "content": odd, "number": 1.0, "deep": [None, {"": odd}]}
                ],
            }
        ],
        "nodes": [
            {"name": "nas", "assign": ["odd"], "capabilities": {"gpu": {"present": False, "detail": odd}}}
        ],
    }
    imported(document)
    assert exported(empty)["modules"][0]["resources"][0]["content"] == odd
    assert exported(empty) == ok_document(document)
    assert '"number": 1.0' in ok("export").out
    for line in ("plan", "plan nas", "node show nas", "node list", "module show odd", "module list", "graph"):
        said = ok(*line.split()).out
        assert not set(said) & set("\x1b\x00\u202e\u2028\r\t"), line
    assert r"[bold]b[/bold] \x1b[31m \x00 \u202e" in ok("node", "show", "nas").out
    assert "odd [red]1[/red]" in ok("plan").out
