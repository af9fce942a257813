"""`mesh plan --json` against the literal oracle: "for any mesh document, `mesh plan --file - --json` prints
what part 3 and 5 say, to the letter".
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from mesh_core.canonical import canonical_json
from mesh_core.testing import documents, resolve_literally
from tests.integration.cli.program import EXAMPLES, MESH, MODULES, Ran, mesh, ok, process, without_next

FIVE = {
    "format": 1,
    "nodes": {
        "attic": {
            "status": "refused",
            "problems": [
                {
                    "capability": "gpu",
                    "code": "missing-capability",
                    "module": "ml",
                    "verdict": "never-reported",
                }
            ],
        },
        "nas": {
            "status": "planned",
            "modules": [{"name": "postgres", "version": "16.2", "reason": "assigned", "by": []}],
            "answers": [],
            "takes": [],
            "unsettled": [],
        },
        "pi": {
            "status": "planned",
            "modules": [
                {
                    "name": "zsh",
                    "version": "5.9",
                    "reason": "pulled-in",
                    "by": [{"module": "web", "requires": "shell"}],
                },
                {"name": "web", "version": "1.4.0", "reason": "assigned", "by": []},
            ],
            "answers": [
                {
                    "provision": "database",
                    "every": False,
                    "node": "nas",
                    "module": "postgres",
                    "required_by": ["web"],
                }
            ],
            "takes": [
                {
                    "provision": "database",
                    "every": False,
                    "node": "nas",
                    "module": "postgres",
                    "required_by": ["web"],
                }
            ],
            "unsettled": [],
        },
    },
}
"""What design, part 5, shows, letter for letter."""

WITH_ATTIC = {
    "format": 1,
    "modules": [*MODULES, {"name": "ml", "version": "1", "capabilities": ["gpu"]}],
    "nodes": [*MESH["nodes"], {"name": "attic", "assign": ["ml"]}],
}
"""The mesh that it is shown for: part 4's, and a third node."""


def expected_code(document: dict[str, Any]) -> int:
    return 3 if any(node["status"] == "refused" for node in document["nodes"].values()) else 0


def check(ran: Ran, expected: dict[str, Any], network: dict[str, Any] | None = None) -> None:
    found = ran.json
    assert found.pop("network", None) == network
    # As text: 1 and true are equal in Python, and the order of a list is part of the document.
    assert found == expected
    assert canonical_json(found) == canonical_json(expected)
    assert list(found["nodes"]) == list(expected["nodes"]), "nodes, sorted"
    assert ran.code == expected_code(expected)
    assert not ran.err


def test_the_example_of_the_design_as_a_whole_process() -> None:
    check(process("plan", "--file", "-", "--json", stdin=json.dumps(WITH_ATTIC).encode()), FIVE)


@settings(max_examples=2 * settings().max_examples)
@given(document=documents())
def test_any_document_gives_what_the_oracle_says(document: dict[str, Any]) -> None:
    ran = mesh("plan", "--file", "-", "--json", stdin=json.dumps(document))
    check(ran, resolve_literally(document), network_of(document))


def network_of(document: dict[str, Any], node: str | None = None) -> dict[str, Any] | None:
    """What `mesh network show` has of it; with a node, what of that is about the node."""
    if "network" not in document:
        return None
    shown = ok("network", "show", "--file", "-", "--json", stdin=json.dumps(document)).json
    return {
        "network": shown["network"],
        "nodes": {name: it for name, it in shown["nodes"].items() if node in (None, name)},
        "notes": [note for note in shown["notes"] if node is None or node in about(note)],
    }


def about(note: dict[str, Any]) -> list[str]:
    """The nodes that a note names."""
    named: list[str] = note.get("nodes", [note.get("node"), note.get("provider")])
    return named


@given(document=documents(), data=st.data())
def test_one_node_is_that_part_of_it(document: dict[str, Any], data: st.DataObject) -> None:
    whole = resolve_literally(document)
    if whole["nodes"]:
        node = data.draw(st.sampled_from(sorted(whole["nodes"])))
        ran = mesh("plan", node, "--file", "-", "--json", stdin=json.dumps(document))
        check(ran, {"format": 1, "nodes": {node: whole["nodes"][node]}}, network_of(document, node))


@given(document=documents())
def test_the_plan_for_people_agrees_with_it(document: dict[str, Any]) -> None:
    """Every node is named, each refused one as refused, and the exit code is the same."""
    whole = resolve_literally(document)
    ran = mesh("plan", "--file", "-", stdin=json.dumps(document))
    assert ran.code == expected_code(whole)
    assert not ran.err
    refused = [name for name, node in whole["nodes"].items() if node["status"] == "refused"]
    if not whole["nodes"]:
        assert ran.out == "there are no nodes yet; add one: mesh node add NAME\n"
    elif refused:
        count = "1 node refused." if len(refused) == 1 else f"{len(refused)} nodes refused."
        assert ran.out.splitlines()[-1].endswith(count)
        assert f"{len(refused)} refused" in ran.out.splitlines()[0]
        assert "refused: " in ran.out
    else:
        assert "refused" not in ran.out.splitlines()[0]


@given(document=documents())
def test_the_graph_has_every_module_and_every_answer(document: dict[str, Any]) -> None:
    whole = resolve_literally(document)
    graph = mesh("graph", "--json", "--file", "-", stdin=json.dumps(document)).json
    planned = {name: node for name, node in whole["nodes"].items() if node["status"] == "planned"}
    drawn = {(place["node"], place["module"]) for place in graph["nodes"] if place["planned"]}
    assert drawn == {(name, module["name"]) for name, node in planned.items() for module in node["modules"]}
    edges = {
        (edge["from"]["node"], edge["from"]["module"], edge["to"]["node"], edge["to"]["module"], requirement)
        for edge in graph["edges"]
        for requirement in edge["requirements"]
    }
    for name, node in planned.items():
        for answer in node["answers"]:
            for module in answer["required_by"]:
                assert (name, module, answer["node"], answer["module"], answer["provision"]) in edges
        for module in node["modules"]:
            for by in module["by"]:
                assert (name, by["module"], name, module["name"], by["requires"]) in edges
    assert all(edge["crosses"] == (edge["from"]["node"] != edge["to"]["node"]) for edge in graph["edges"])


def test_the_store_gives_the_same_as_the_file(empty: object) -> None:
    ok("import", EXAMPLES / "homelab" / "mesh.toml", "--anyway")
    for line in (["plan"], ["plan", "--json"], ["plan", "pi"], ["graph"], ["lint"]):
        by_file = mesh(*line, "--file", EXAMPLES / "homelab" / "mesh.toml")
        assert without_next(mesh(*line)) == by_file
