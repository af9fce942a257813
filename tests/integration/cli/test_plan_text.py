"""What `mesh plan` shows a person: what changes where and why, the cause first, what follows folded under it.

"Outputs put the cause first and fold what follows from it under it [...], and a plan shows which of its takes
are unsettled."
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from mesh_cli import wiring
from tests.integration.cli.program import MESH, MODULES, mesh, ok


def planned(document: dict[str, Any], *more: str) -> str:
    """The plan of a document, without its fingerprint, which is nothing to compare."""
    ran = mesh("plan", *more, "--file", "-", stdin=json.dumps(document))
    assert not ran.err
    return re.sub(r"^Plan [0-9a-f]{7} ", "Plan ------- ", ran.out)


def test_the_example_of_the_design() -> None:
    assert planned(MESH) == (
        "Plan -------   2 nodes change\n"
        "\n"
        "nas  + postgres 16.2           assigned\n"
        "\n"
        "pi   + zsh 5.9                 pulled in: web requires shell\n"
        "     + web 1.4.0               assigned\n"
        "         takes database from nas (postgres)   pinned\n"
        "\n"
        "3 to add, 0 to remove.\n"
    )


def test_a_refused_node_is_explained_once_and_its_takers_are_planned_with_unsettled_takes() -> None:
    takers = [{"name": f"pi{number}", "assign": ["web"]} for number in range(4)]
    document = {"format": 1, "modules": MODULES, "nodes": [{"name": "nas", "assign": ["postgres"]}, *takers]}
    printed = planned(document)
    assert printed.startswith("Plan -------   4 nodes change, 1 refused\n")
    unsettled = (
        "         takes database from nas (postgres)   the only one that offers it"
        "   unsettled: nas is refused, see below\n"
    )
    assert printed.count(unsettled.lstrip()) == 4
    assert printed.endswith(
        "nas  refused: postgres on nas needs 'systemd'; nas has never reported"
        " (it counts as having nothing until it does)\n"
        "     4 nodes take from it: pi0, pi1, pi2, pi3\n"
        "     it keeps what it has\n"
        "\n"
        "8 to add, 0 to remove, 1 node refused.\n"
    )
    assert printed.count("refused: ") == 1


def test_nodes_that_are_refused_for_the_same_are_told_together() -> None:
    nodes = [{"name": f"pi{number}", "assign": ["web"]} for number in range(3)]
    printed = planned({"format": 1, "modules": MODULES, "nodes": [*nodes, {"name": "nas"}]})
    assert printed.count("refused: web on ") == 1
    assert "refused for the same: pi1, pi2\n" in printed
    assert "they keep what they have\n" in printed
    assert printed.endswith("0 to add, 0 to remove, 3 nodes refused.\n")


def test_nodes_that_lack_the_same_for_another_reason_are_told_apart() -> None:
    """One reported it absent, one never reported: what one does about it differs."""
    reports: list[dict[str, Any]] = [{"capabilities": {"systemd": False}}, {"capabilities": {}}, {}]
    nodes = [{"name": f"n{n}", "assign": ["postgres"], **report} for n, report in enumerate(reports)]
    printed = planned({"format": 1, "modules": MODULES, "nodes": nodes})
    for said in ("which n0 reported absent", "which n1 did not report", "n2 has never reported"):
        assert said in printed
    assert "refused for the same" not in printed


def test_one_that_is_asked_from_every_and_one_on_itself() -> None:
    modules = [
        {"name": "exporter", "version": "1", "provides": [{"name": "metrics", "scope": "mesh"}]},
        {"name": "prom", "version": "2", "requires": [{"name": "metrics", "from": "every"}]},
        {"name": "db", "version": "3", "provides": [{"name": "database", "scope": "mesh"}]},
        {"name": "app", "version": "4", "requires": ["database"]},
        {"name": "ml", "version": "5", "capabilities": ["gpu"]},
    ]
    nodes = [
        {"name": "nas", "assign": ["app", "db", "exporter", "prom"]},
        {"name": "attic", "assign": ["exporter", "ml"]},
    ]
    printed = planned({"format": 1, "modules": modules, "nodes": nodes})
    assert "takes metrics from every: attic (exporter) (unsettled), nas (exporter)\n" in printed
    assert "has database from db on itself   the only one that offers it\n" in printed


def test_only_what_changes_is_shown_and_one_node_in_full(store: Path) -> None:
    """Against what was last declared: nothing is sent yet, so everything is new at first."""
    ok("module", "add", "-", stdin='{"name": "redis", "version": "7"}')
    with wiring.opened_store(store) as opened, opened.writing() as session:
        session.declare("nas", ["postgres"])
        session.declare("pi", ["redis", "zsh"])
    printed = ok("plan").out.splitlines()
    assert printed[0].endswith("   1 node changes, 1 unchanged")
    assert printed[2:] == [
        "pi   + web 1.4.0               assigned",
        "         takes database from nas (postgres)   pinned",
        "     - redis",
        "",
        "nothing to change on nas",
        "",
        "1 to add, 1 to remove.      Next: mesh push",
    ]
    assert ok("plan", "pi").out.splitlines() == [
        "pi   = zsh 5.9                 pulled in: web requires shell",
        "     + web 1.4.0               assigned",
        "         takes database from nas (postgres)   pinned",
        "     - redis",
    ]
    assert ok("plan", "nas").out.splitlines() == [
        "nas  = postgres 16.2           assigned",
        "1 node takes from it: pi",
    ]


def test_an_empty_mesh_says_what_to_do_next(empty: Path) -> None:
    assert ok("plan").out == "there are no nodes yet; add one: mesh node add NAME\n"
    assert ok("node", "list").out == "there are no nodes yet; add one: mesh node add NAME\n"
    assert ok("module", "list").out == "the catalogue is empty; add a manifest: mesh module add FILE\n"
    assert ok("history").out == "nothing was recorded yet\n"
    assert ok("lint").out == "nothing looks like a mistake\n"
    assert ok("graph").out == "there is nothing to draw: no module is on any node here\n"
    ok("node", "add", "tv")
    assert ok("plan").out.splitlines()[-1] == "0 to add, 0 to remove."
    assert ok("plan", "tv").out == "tv  nothing\n"


def test_the_fingerprint_tells_one_plan_from_another() -> None:
    def name(document: dict[str, Any]) -> str:
        return mesh("plan", "--file", "-", stdin=json.dumps(document)).out.split()[1]

    shuffled = {**MESH, "modules": MODULES[::-1], "nodes": MESH["nodes"][::-1]}
    assert name(MESH) == name(shuffled)
    assert name(MESH) != name({**MESH, "modules": [*MODULES[:2], MODULES[2] | {"version": "1.4.1"}]})


def test_the_graph_in_every_format(store: Path) -> None:
    assert ok("graph").out.splitlines() == [
        "nas",
        "  postgres 16.2  assigned",
        "",
        "pi",
        "  web 1.4.0  assigned",
        "    database -> postgres on nas",
        "    shell -> zsh",
        "  zsh 5.9  pulled-in",
    ]
    mermaid = ok("graph", "--format", "mermaid").out.splitlines()
    assert mermaid[0] == "flowchart LR"
    assert '  m1 -.->|"database"| m0' in mermaid
    dot = ok("graph", "-f", "dot").out
    assert dot.startswith("digraph mesh {\n")
    assert '  "pi/web" -> "nas/postgres" [label="database", style=dashed];\n' in dot
    assert dot.count("{") == dot.count("}")
    assert ok("graph", "--format", "json").json == ok("graph", "--json").json
    assert ok("graph", "nas").out.splitlines() == [
        "nas",
        "  postgres 16.2  assigned",
        "",
        "pi",
        "  web 1.4.0  assigned",
        "    database -> postgres on nas",
    ]
