"""`mesh declare`: the declaration that a push would send, whole, or why there is none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from mesh_core.wire.declaration import declaration_to_data, read_declaration
from mesh_core.wire.text import DECLARATION_LIMIT
from tests.integration.cli.program import EXAMPLES, MESH, MODULES, mesh, nothing_written, ok, process, written

HOMELAB = EXAMPLES / "homelab" / "mesh.toml"


def test_with_json_it_is_the_document_itself(store: Path) -> None:
    with nothing_written(store):
        ran = ok("declare", "pi", "--json")
    declaration = read_declaration(ran.out.encode())
    assert ran.json == declaration_to_data(declaration)
    assert (declaration.node, declaration.generation) == ("pi", 1), "nothing was declared before it"
    assert [module.name for module in declaration.modules] == ["zsh", "web"]
    assert ran.json["modules"][1]["answers"] == {
        "database": {"node": "nas", "module": "postgres", "exports": {"port": "5432"}},
        "shell": {"node": "pi", "module": "zsh", "exports": {}},
    }


def test_a_person_sees_what_is_in_it(store: Path) -> None:
    lines = ok("declare", "pi").out.splitlines()
    assert lines[:-1] == [
        "pi, generation 1: 2 modules, 3 items",
        "  zsh 5.9",
        "      package:zsh",
        "  web 1.4.0",
        "      database: nas (postgres) port=5432",
        "      shell: pi (zsh)",
    ]
    assert re.fullmatch(r"digest [0-9a-f]{64}", lines[-1])
    assert lines[-1].endswith(ok("declare", "pi", "--json").json["digest"])


def test_a_generation_and_the_word_for_removals_can_be_said(store: Path) -> None:
    data = ok("declare", "pi", "--json", "--generation", 43, "--allow-removals").json
    assert (data["generation"], data["allow_removals"], data.get("empty")) == (43, True, None)
    ok("node", "add", "tv")
    assert ok("declare", "tv", "--json", "--allow-removals").json["empty"] is True
    assert "empty" not in ok("declare", "tv", "--json").json
    for wrong in ("-1", "x", "1.5"):
        assert mesh("declare", "pi", "--generation", wrong).code == 64


def test_without_a_store(folder: Path) -> None:
    path = written(folder, "mesh.json", MESH)
    assert ok("declare", "pi", "--file", path, "--json").json["items"] == 3
    assert ok("declare", "pi", "--file", "-", "--json", stdin=json.dumps(MESH)).json["items"] == 3
    assert mesh("declare", "pi", "--file", path, "--store", "x").code == 64


def test_the_same_in_every_process() -> None:
    first, second = (process("declare", "laptop", "--file", HOMELAB, "--json") for _ in range(2))
    assert first.code == 0, first.err
    assert first.out == second.out


def test_a_node_that_does_not_exist(store: Path) -> None:
    ran = mesh("declare", "nass")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "there is no node 'nass'; near: nas\n"
    assert mesh("declare", "Nas").code == 64


def test_a_refused_node_gets_none_and_the_reason_is_that_of_plan(store: Path) -> None:
    assert mesh("assign", "pi", "gone", "--anyway").code == 0
    ran = mesh("declare", "pi")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == mesh("plan", "pi").out
    error = mesh("declare", "pi", "--json").error
    assert error["code"] == "refused"
    assert error["node"] == "pi"
    assert error["problems"] == mesh("plan", "pi", "--json").json["nodes"]["pi"]["problems"]
    assert ok("declare", "nas").out, "the others are no worse for it"


def big(parts: int, size: int) -> dict[str, Any]:
    def module(number: int) -> dict[str, Any]:
        resource = {"kind": "file", "path": f"/big{number}", "content": "x" * (size + number)}
        return {"name": f"m{number}", "version": "1", "resources": [resource]}

    modules = [module(number) for number in range(parts)]
    nodes = [{"name": "pi", "assign": [module["name"] for module in modules]}]
    return {"format": 1, "modules": modules, "nodes": nodes}


def test_one_that_is_too_large_is_refused_with_its_largest_parts(folder: Path) -> None:
    path = written(folder, "mesh.json", big(9, 1_000_000))
    ran = mesh("declare", "pi", "--file", path)
    assert (ran.code, ran.out) == (1, "")
    first, head, *parts = ran.err.splitlines()
    assert re.fullmatch(
        rf"the declaration of pi has 9\d{{6}} bytes, and at most {DECLARATION_LIMIT} are sent", first
    )
    assert head == "its largest parts:"
    assert [part.split(" of ")[0].strip() for part in parts] == ["path:/big8", "path:/big7", "path:/big6"]
    assert mesh("declare", "pi", "--file", path, "--json").error["code"] == "too-large"


def test_one_that_only_fits_without_indents_is_printed_without(folder: Path) -> None:
    document = big(8, 1_000_000)
    document["modules"][0]["resources"] = [
        {"kind": "directory", "path": f"/d{number}", "mode": "0700"} for number in range(5000)
    ]
    document["modules"][0]["resources"].append(
        {"kind": "file", "path": "/rest", "content": "x" * (DECLARATION_LIMIT - 7_000_000 - 360_000)}
    )
    ran = ok("declare", "pi", "--json", "--file", written(folder, "mesh.json", document))
    assert ran.out.count("\n") == 1
    assert len(ran.out) > DECLARATION_LIMIT - 200_000
    assert read_declaration(ran.out.rstrip("\n").encode()).items > 5000


@pytest.mark.parametrize("node", ["laptop", "nas", "vps", "attic"])
def test_the_homelab_can_be_declared(node: str) -> None:
    declaration = read_declaration(ok("declare", node, "--file", HOMELAB, "--json").out.encode())
    assert declaration.items > 20
    assert all("content_from" not in r.attributes for m in declaration.modules for r in m.resources)


def test_modules_are_what_is_declared_with_their_checks(store: Path) -> None:
    checked = {**MODULES[1], "checks": [{"kind": "tcp", "port": 5432}]}
    ok("module", "add", "-", stdin=json.dumps(checked))
    data = ok("declare", "nas", "--json").json
    assert data["modules"][0]["checks"] == [{"kind": "tcp", "port": 5432}]
    assert data["items"] == 2
