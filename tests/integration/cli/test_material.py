"""A template that names what does not exist: told at plan time, never sent (design, part 6).

> for everything after the resolution (exit codes, unsettled takes, push) that node counts as refused.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.integration.cli.program import MODULES, events, mesh, nothing_written, ok

WEBSITE = {"name": "website", "scope": "mesh", "exports": {"port": "80"}}


def web(template: str) -> dict[str, Any]:
    resources = [{"kind": "file", "path": "/etc/web.conf", "template": template}]
    return {**MODULES[2], "provides": [WEBSITE], "resources": resources}


GOOD = web("{{ answers.database.node }}:{{ answers.database.exports.port }}\n")
BAD = web("{{ answers.database.node }}:{{ answers.database.exports.prot }}\n")
CADDY = {
    "name": "caddy",
    "version": "2",
    "requires": [{"name": "website", "from": "every"}],
    "resources": [{"kind": "file", "path": "/c", "template": "{{ answers.website | length }}"}],
}
NODES: list[dict[str, Any]] = [
    {"name": "nas", "assign": ["postgres"], "capabilities": {"systemd": True}},
    {"name": "pi", "assign": ["web"]},
    {"name": "vps", "assign": ["caddy"]},
]
WHY = "the template: 'dict object' has no attribute 'prot'"


def document(of: dict[str, Any], nodes: list[dict[str, Any]] = NODES) -> str:
    return json.dumps({"format": 1, "modules": [*MODULES[:2], of, CADDY], "nodes": nodes})


def test_a_plan_shows_it_as_a_refusal_and_says_who_takes_from_it() -> None:
    ran = mesh("plan", "--file", "-", stdin=document(BAD))
    assert ran.code == 3
    assert not ran.err
    head, *lines = ran.out.splitlines()
    assert head.endswith("2 nodes change, 1 refused")
    assert f"pi   refused: web on pi cannot be made: /etc/web.conf: {WHY}" in lines
    assert "       fix: mend the manifest of web, and add it again: mesh module add FILE".lstrip() in ran.out
    assert "     1 node takes from it: vps" in lines
    assert "     it keeps what it has" in lines
    assert "takes website from every: pi (web) (unsettled)" in ran.out
    assert "+ web" not in ran.out, "what cannot be declared is not planned"
    assert lines[-1] == "2 to add, 0 to remove, 1 node refused."
    alone = mesh("plan", "pi", "--file", "-", stdin=document(BAD))
    assert alone.code == 3
    assert alone.out.startswith(f"pi   refused: web on pi cannot be made: /etc/web.conf: {WHY}\n")
    assert mesh("plan", "vps", "--detailed-exitcode", "--file", "-", stdin=document(BAD)).code == 2
    assert ok("plan", "vps", "--file", "-", stdin=document(BAD)).out


def test_as_json_it_stands_beside_the_nodes() -> None:
    ran = mesh("plan", "--json", "--file", "-", stdin=document(BAD))
    assert ran.code == 3
    assert ran.json["material"] == [
        {"node": "pi", "module": "web", "resource": "path:/etc/web.conf", "why": WHY}
    ]
    assert ran.json["nodes"]["pi"]["status"] == "planned"
    assert [take["node"] for take in ran.json["nodes"]["vps"]["unsettled"]] == ["pi"]
    assert "material" not in ok("plan", "vps", "--json", "--file", "-", stdin=document(BAD)).json
    good = ok("plan", "--json", "--file", "-", stdin=document(GOOD)).json
    assert list(good) == ["format", "nodes"]
    assert good["nodes"]["vps"]["unsettled"] == []


def test_the_same_on_many_nodes_is_told_once() -> None:
    nodes = [*NODES[:2], *({"name": f"pi{n}", "assign": ["web"]} for n in range(3))]
    ran = mesh("plan", "--file", "-", stdin=document(BAD, nodes))
    assert ran.out.count("cannot be made") == 1
    assert "refused for the same: pi0, pi1, pi2" in ran.out
    assert "they keep what they have" in ran.out
    assert ran.out.splitlines()[-1].endswith("4 nodes refused.")


def test_nothing_is_declared_with_it() -> None:
    ran = mesh("declare", "pi", "--file", "-", stdin=document(BAD))
    assert (ran.code, ran.out) == (3, "")
    assert WHY in ran.err
    error = mesh("declare", "pi", "--json", "--file", "-", stdin=document(BAD)).error
    assert error["material"][0]["why"] == WHY
    assert error["problems"] == []
    caddy = ok("declare", "vps", "--json", "--file", "-", stdin=document(BAD)).json["modules"][0]
    assert caddy["answers"] == {"website": []}, "an unsettled take from every is left out"
    assert "is left out" in ok("declare", "vps", "--file", "-", stdin=document(BAD)).out


def test_a_take_that_is_unsettled_is_rendered_all_the_same() -> None:
    nodes = [{**NODES[0], "assign": ["postgres", "gone"]}, NODES[1]]
    ran = mesh("plan", "--json", "--file", "-", stdin=document(GOOD, nodes))
    assert ran.code == 3
    assert "material" not in ran.json
    assert [take["node"] for take in ran.json["nodes"]["pi"]["unsettled"]] == ["nas"]
    text = ok("declare", "pi", "--file", "-", stdin=document(GOOD, nodes)).out
    assert "database from nas is unsettled, since that node is refused; it holds a push until it is" in text


def test_a_change_that_would_bring_one_is_refused_and_recorded_anyway(empty: Path) -> None:
    ok("import", "-", stdin=document(GOOD))
    with nothing_written(empty):
        ran = mesh("module", "add", "-", stdin=json.dumps(BAD))
    assert (ran.code, ran.out) == (3, "")
    assert ran.err.splitlines() == [
        "refused: mesh module add -",
        "  1 node would count as refused:",
        f"    web on pi cannot be made: /etc/web.conf: {WHY}",
        "nothing was recorded; --anyway records it all the same",
    ]
    error = mesh("module", "add", "-", "--json", stdin=json.dumps(BAD)).error
    assert error["material"] == [
        {"node": "pi", "module": "web", "resource": "path:/etc/web.conf", "why": WHY}
    ]
    assert error["fixes"] == []
    done = ok("module", "add", "-", "--anyway", stdin=json.dumps(BAD))
    assert "  refused now: pi (`mesh plan` says why)" in done.out
    assert len(events(empty)) == 2


def test_one_that_is_there_stops_nothing_else_and_mending_it_is_told(empty: Path) -> None:
    ok("import", "-", "--anyway", stdin=document(BAD))
    ok("node", "add", "tv")
    assert mesh("assign", "tv", "web").code == 3, "tv had none"
    rows = ok("node", "list").out.splitlines()
    assert [line.split()[:2] for line in rows[1:]] == [
        ["nas", "planned"],
        ["pi", "refused"],
        ["tv", "planned"],
        ["vps", "planned"],
    ]
    status = {node["name"]: node["status"] for node in ok("node", "list", "--json").json["nodes"]}
    assert status == {"nas": "planned", "pi": "refused", "tv": "planned", "vps": "planned"}
    assert "refused (`mesh plan pi`" in ok("node", "show", "pi").out
    assert ok("node", "show", "pi", "--json").json["material"][0]["module"] == "web"
    assert "material" not in ok("node", "show", "vps", "--json").json
    mended = ok("module", "add", "-", stdin=json.dumps(GOOD))
    assert mended.out.splitlines()[1:] == ["  no longer refused: pi"]
    assert mesh("plan").code == 0


def test_a_kind_that_is_not_known_is_no_fault() -> None:
    of = {**GOOD, "resources": [{"kind": "odd", "path": "/x", "template": "{{ nowhere }}"}]}
    assert ok("plan", "--file", "-", stdin=document(of)).out
