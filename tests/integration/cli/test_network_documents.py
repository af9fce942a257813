"""The network in mesh documents, and of one node: import, export, `--file`, `node show` and `node list`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.networks import HOUSE, KEYS, NO_PATH_TOLD, addresses, refused
from tests.integration.cli.program import events, exported, mesh, node_entry, nothing_written, ok, written


def document(**more: Any) -> str:
    return json.dumps({"format": 1, **more})


def test_a_document_with_a_network_gives_everybody_an_address(house: Path) -> None:
    """Those as well that it does not name, and nobody the one that it gives to somebody."""
    nodes = [{"name": "tv", "network": {"address": "10.77.0.1"}}, {"name": "car"}]
    said = ok("import", "-", stdin=document(network="10.77.0.0/24", nodes=nodes)).out
    assert addresses() == {
        "car": "10.77.0.2",
        "nas": "10.77.0.3",
        "pi": "10.77.0.4",
        "tv": "10.77.0.1",
        "vps": "10.77.0.5",
    }
    assert "~ node pi: 10.77.0.4\n" in said
    assert "+ node tv: 10.77.0.1\n" in said
    assert (events(house)[0]["command"], node_entry(house, "pi")["network"]["key"]) == (
        "mesh import -",
        KEYS["pi"],
    )


def test_a_dry_run_shows_the_addresses_that_it_would_come_to(house: Path) -> None:
    with nothing_written(house):
        given = document(network="10.77.0.0/24", nodes=[{"name": "tv"}])
        said = ok("import", "-", "--dry-run", stdin=given).out
        found = ok("import", "-", "--dry-run", "--json", stdin=given).json["changes"]
    assert "+ the network is 10.77.0.0/24; " in said
    assert "+ node tv: 10.77.0.3\n" in said
    assert ok("import", "-", "--json", stdin=given).json["changes"] == found
    assert addresses()["tv"] == "10.77.0.3"


@pytest.mark.parametrize("more", [[], ["--replace"], ["--anyway"], ["--dry-run"], ["--replace", "--anyway"]])
def test_a_document_of_another_range_is_told_the_command_that_moves(networked: Path, more: list[str]) -> None:
    given = json.dumps(HOUSE | {"network": {"range": "10.88.0.0/16", "port": 7}})
    with nothing_written(networked):
        ran = mesh("import", "-", *more, stdin=given)
        refused(ran, 3, "refused: its network is 10.88.0.0/16, and the mesh's is 10.77.0.0/24")
        assert "`mesh network move 10.88.0.0/16 --dry-run` shows who would have another address" in ran.err
        as_json = mesh("import", "-", *more, "--json", stdin=given)
        assert (as_json.code, as_json.error["code"]) == (3, "another-range")
        assert (as_json.error["range"], as_json.error["wanted"]) == ("10.77.0.0/24", "10.88.0.0/16")
    ok("network", "move", "10.88.0.0/16")
    ok("import", "-", *more, stdin=given)
    if "--dry-run" not in more:
        assert exported(networked)["network"] == {"range": "10.88.0.0/16", "port": 7}


def test_a_document_that_is_silent_about_the_network_leaves_it(networked: Path) -> None:
    ok("network", "set", "--port", "4000", "--peers", "full")
    ok("network", "attach", "vps", "--endpoint", "vps.example.org", "--relay")
    before = exported(networked)
    nodes = HOUSE["nodes"]
    silent = [{key: value for key, value in node.items() if key != "network"} for node in nodes]
    with nothing_written(networked):
        for given in (document(), document(nodes=silent), document(nodes=[])):
            assert ok("import", "-", stdin=given).out == "nothing to change: the mesh is so already\n"
    ok("import", "-", "--replace", stdin=document(modules=HOUSE["modules"], nodes=silent[:2]))
    after = exported(networked)
    assert after["nodes"] == before["nodes"][:2]
    assert after["network"] == before["network"] | {"retired": ["10.77.0.3"]}


def test_what_a_document_says_of_a_node_takes_the_place_but_of_its_address_and_key(networked: Path) -> None:
    ok("network", "attach", "vps", "--endpoint", "vps.example.org", "--site", "berlin", "--relay")
    nodes = [{"name": "vps", "network": {"key": KEYS["pi"], "endpoints": ["other.example.org:7"]}}]
    ok("import", "-", stdin=document(nodes=nodes))
    assert node_entry(networked, "vps")["network"] == {
        "address": "10.77.0.3",
        "key": KEYS["vps"],
        "endpoints": ["other.example.org:7"],
    }


@pytest.mark.parametrize(
    ("given", "code", "said"),
    [
        (
            {"nodes": [{"name": "pi", "network": {"address": "10.77.0.1"}}]},
            3,
            "10.77.0.1 is the address of nas",
        ),
        ({"nodes": [{"name": "tv", "network": {"address": "10.77.0.1"}}]}, 3, "10.77.0.1 is the address of"),
        (
            {"nodes": [{"name": "pi", "network": {"address": "10.78.0.1"}}]},
            3,
            "is no address of a machine in",
        ),
        ({"network": "10.77.0.0/244"}, 1, "$.network: found"),
        ({"network": "10.77.0.1/24"}, 1, "is written 10.77.0.0/24"),
        ({"network": None}, 1, "wanted a range or an object"),
        ({"network": {"range": "10.77.0.0/24", "port": 0}}, 1, "$.network.port"),
        ({"network": {"range": "10.77.0.0/24", "peers": "some"}}, 1, 'wanted "full" or "takes"'),
        ({"nodes": [{"name": "pi", "network": {"endpoints": ["a b"]}}]}, 1, "is no endpoint"),
        ({"nodes": [{"name": "pi", "network": {"site": "At home"}}]}, 1, "is no name of a site"),
        ({"nodes": [{"name": "pi", "network": {"relay": "yes"}}]}, 1, "$.nodes[0].network.relay"),
        ({"nodes": [{"name": "pi", "network": {"key": "x"}}]}, 1, "is no public key of WireGuard"),
        ({"nodes": [{"name": "pi", "network": {"addres": "x"}}]}, 1, "$.nodes[0].network"),
    ],
)
def test_a_document_that_cannot_be_is_refused_whole(
    networked: Path, given: dict[str, Any], code: int, said: str
) -> None:
    with nothing_written(networked):
        for more in ([], ["--anyway"], ["--dry-run"]):
            refused(mesh("import", "-", *more, stdin=document(**given)), code, said)


def test_export_and_import_lose_nothing_of_a_network(networked: Path, folder: Path) -> None:
    ok("network", "set", "--port", "4000", "--peers", "full")
    ok("network", "attach", "vps", "--endpoint", "a", "--endpoint", "[fd00::5]:7", "--relay")
    ok("network", "attach", "nas", "--lan", "192.168.1.2", "--site", "home", "--address", "10.77.0.99")
    mesh("node", "remove", "pi", "--yes", "--anyway")
    whole = exported(networked)
    assert whole["network"] == {
        "range": "10.77.0.0/24",
        "peers": "full",
        "port": 4000,
        "retired": ["10.77.0.1", "10.77.0.2"],
    }
    other = folder / "other.db"
    ok("init", "--store", other)
    ok("import", "-", "--store", other, stdin=json.dumps(whole))
    assert exported(other) == whole
    ok("node", "add", "tv", "--store", other)
    assert node_entry(other, "tv")["network"] == {"address": "10.77.0.4"}, "what was let go stays so"
    for line in ("network show", "network show --json"):
        assert mesh(*line.split(), "--file", "-", stdin=json.dumps(whole)) == mesh(*line.split()), line


def test_a_document_is_planned_and_shown_with_the_addresses_that_it_would_have(folder: Path) -> None:
    file = written(folder, "mesh.json", HOUSE | {"network": "10.77.0.0/24"})
    said = ok("plan", "--file", file).out
    assert "takes database from nas (postgres) at 10.77.0.1   the only one that offers it" in said
    assert NO_PATH_TOLD in said
    assert [*ok("plan", "--file", file, "--json").json["network"]["nodes"]] == ["nas", "pi", "vps"]
    ran = mesh("network", "show", "--file", file)
    assert "vps   10.77.0.3" in ran.out
    assert NO_PATH_TOLD in ran.err
    written(folder, "silent.json", HOUSE)
    assert ok("network", "show", "--file", "silent.json").out.startswith("the mesh has no network")
    assert "network" not in ok("plan", "--file", "silent.json", "--json").json
    assert not [*folder.glob("*.db")]


def test_one_node_is_shown_with_everything_that_is_known_of_its_network(networked: Path) -> None:
    ok("network", "attach", "nas", "--lan", "192.168.1.2", "--endpoint", "h.example.org:7", "--site", "home")
    ok("network", "attach", "nas", "--relay")
    lines = [line.split(maxsplit=1) for line in ok("node", "show", "nas").out.splitlines()]
    found = {row[0]: row[1] for row in lines if len(row) == 2}
    assert found["network"] == (
        "10.77.0.1, reached at 192.168.1.2:51820 (home) and h.example.org:7, on the site home, a relay"
    )
    assert found["key"] == KEYS["nas"]
    assert ok("node", "show", "nas", "--json").json["node"]["network"] == {
        "address": "10.77.0.1",
        "key": KEYS["nas"],
        "endpoints": [{"at": "192.168.1.2:51820", "site": "home"}, "h.example.org:7"],
        "site": "home",
        "relay": True,
    }
    ok("node", "add", "tv")
    assert "key        none yet: its machine has not reported one\n" in ok("node", "show", "tv").out


def test_the_list_has_a_column_of_addresses_where_there_is_a_network(house: Path) -> None:
    assert "ADDRESS" not in ok("node", "list").out
    assert "address" not in ok("node", "list", "--json").json["nodes"][0]["network"]
    ok("network", "set", "10.77.0.0/30")
    head, *rows = [line.split() for line in ok("node", "list").out.splitlines()]
    assert head[:3] == ["NODE", "ADDRESS", "PLAN"]
    assert [row[:3] for row in rows] == [
        ["nas", "10.77.0.1", "planned"],
        ["pi", "10.77.0.2", "planned"],
        ["vps", "-", "planned"],
    ]
    nodes = ok("node", "list", "--json").json["nodes"]
    assert [node["network"].get("address") for node in nodes] == ["10.77.0.1", "10.77.0.2", None]


def test_what_machines_and_commands_did_to_the_network_is_in_the_history(networked: Path) -> None:
    """One event for each command, with the addresses that it came to give."""
    ok("node", "add", "tv")
    found = events(networked)[0]
    assert found["command"] == "mesh node add tv"
    (change,) = found["changes"]
    assert change["node"]["network"] == {"address": "10.77.0.4"}
    mesh("node", "remove", "tv", "--yes")
    assert [event["command"] for event in events(networked)[:2]] == [
        "mesh node remove tv",
        "mesh node add tv",
    ]
