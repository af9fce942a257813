"""`mesh network`, as it is typed: who has which address, who is reached how, and what is amiss."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.cli.networks import HOUSE, KEYS, WEB, addresses, peers, refused
from tests.integration.cli.program import mesh, nothing_written, ok


def test_every_node_is_given_an_address_and_keeps_it(networked: Path) -> None:
    """> Addresses come out of a configured range, are given once and kept."""
    assert addresses() == {"nas": "10.77.0.1", "pi": "10.77.0.2", "vps": "10.77.0.3"}
    assert ok("node", "add", "attic").out == "+ node attic: 10.77.0.4\n"
    mesh("node", "remove", "nas", "--yes", "--anyway")
    ok("node", "add", "nas2")
    assert addresses() == {"attic": "10.77.0.4", "nas2": "10.77.0.5", "pi": "10.77.0.2", "vps": "10.77.0.3"}
    ok("network", "set", "--port", "51999")
    assert addresses()["pi"] == "10.77.0.2"


def test_a_range_that_is_full_is_told_and_takes_nothing_from_anybody(house: Path) -> None:
    ok("network", "set", "10.77.0.0/29")
    for name in ("a", "b", "c", "d"):
        ok("node", "add", name)
    assert sorted(address for address in addresses().values() if address) == [
        f"10.77.0.{n}" for n in range(1, 7)
    ]
    assert "d has no address: the range has none left" in mesh("plan").out
    ok("network", "move", "10.77.0.0/24", "--yes")
    assert (addresses()["d"], addresses()["pi"]) == ("10.77.0.7", "10.77.0.2")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["set", "10.77.0.1/24"], 64, "is written 10.77.0.0/24"),
        (["set", "10.77.0.0/31"], 64, "has no room for two machines"),
        (["set", "mesh"], 64, "is no range"),
        (["set"], 64, "the mesh has no network yet: say a range"),
        (["set", "10.77.0.0/24", "--port", "0"], 64, "0 is no port"),
        (["move", "10.77.0.0/24"], 1, "the mesh has no network"),
        (["remove", "--yes"], 1, "the mesh has no network"),
        (["attach", "pi", "--address", "10.77.0.9"], 1, "the mesh has no network"),
        (["attach", "nobody"], 1, "there is no node 'nobody'"),
        (["attach", "pi", "--endpoint", "a b"], 64, "is no endpoint"),
        (["attach", "pi", "--endpoint", "a:0"], 64, "is no endpoint"),
        (["attach", "pi", "--lan", "192.168.1.5"], 64, "say which with --site"),
        (["attach", "pi", "--site", "At Home"], 64, "is no name of a site"),
        (["attach", "pi", "--no-endpoint", "--endpoint", "a"], 64, "there is none"),
    ],
)
def test_what_cannot_be_is_one_sentence_and_nothing_is_written(
    house: Path, words: list[str], code: int, said: str
) -> None:
    with nothing_written(house):
        refused(mesh("network", *words), code, said)


def test_another_range_is_a_command_of_its_own_that_shows_who_moves(networked: Path) -> None:
    """> another range is a command of its own that shows who moves"""
    with nothing_written(networked):
        refused(mesh("network", "set", "10.99.0.0/24"), 1, "mesh network move 10.99.0.0/24")
        document = json.dumps({"format": 1, "network": "10.99.0.0/24"})
        refused(mesh("import", "-", stdin=document), 3, "mesh network move 10.99.0.0/24 --dry-run")
        shown = ok("network", "move", "10.99.0.0/24", "--dry-run").out
    assert "pi   10.77.0.2 -> 10.99.0.2\n" in shown
    ok("network", "move", "10.99.0.0/24", "--yes")
    assert addresses() == {"nas": "10.99.0.1", "pi": "10.99.0.2", "vps": "10.99.0.3"}


def test_an_address_that_is_anothers_or_outside_is_refused(networked: Path) -> None:
    with nothing_written(networked):
        refused(mesh("network", "attach", "pi", "--address", "10.77.0.1"), 1, "is the address of nas")
        refused(mesh("network", "attach", "pi", "--address", "10.78.0.1"), 1, "is no address of a machine in")
    ok("network", "attach", "pi", "--address", "10.77.0.200")
    assert addresses()["pi"] == "10.77.0.200"


def test_a_take_without_a_path_is_told_and_what_is_told_helps(networked: Path) -> None:
    """> a take without a path is told at plan time"""
    told = "pi takes 'database' from nas, and there is no path between them"
    assert told in mesh("plan").out
    assert mesh("plan", "--json").json["network"]["notes"] == [
        {"note": "no-path", "node": "pi", "provider": "nas", "provisions": ["database"]}
    ]
    (fix,) = [line for line in mesh("plan").out.splitlines() if "fix: " in line]
    ok(*fix.partition("fix: mesh ")[2].replace("HOST", "nas.example.org").split())
    assert told not in mesh("plan").out
    ok("network", "attach", "nas", "--no-endpoint")
    assert told in mesh("status", "--no-look").err
    ok("network", "attach", "vps", "--relay", "--endpoint", "vps.example.org")
    assert told not in mesh("plan").out
    assert peers() == {"nas": ["vps"], "pi": ["vps"], "vps": ["nas", "pi"]}


def test_who_is_a_peer_of_whom(networked: Path) -> None:
    """> Peers: every node (`full`), or only those that it gives to or takes from (`takes`)"""
    for name in ("nas", "vps"):
        ok("network", "attach", name, "--endpoint", f"{name}.example.org")
    assert peers() == {"nas": ["pi"], "pi": ["nas"], "vps": []}
    ok("network", "set", "--peers", "full")
    assert peers() == {"nas": ["pi", "vps"], "pi": ["nas", "vps"], "vps": ["nas", "pi"]}


def test_what_is_not_said_of_a_node_stays(networked: Path) -> None:
    ok("network", "attach", "nas", "--site", "home", "--lan", "192.168.1.5", "--endpoint", "h.example.org")
    ok("network", "attach", "nas", "--relay")
    shown = ok("node", "show", "nas").out
    said = "10.77.0.1, reached at 192.168.1.5:51820 (home) and h.example.org:51820, on the site home, a relay"
    assert said in shown
    assert KEYS["nas"] in shown
    ok("network", "attach", "nas", "--endpoint", "[fd00::5]:7", "--no-relay")
    assert "192.168.1.5:51820 (home) and [fd00::5]:7, on the site home\n" in ok("node", "show", "nas").out
    with nothing_written(networked):
        ok("network", "attach", "nas", "--no-relay")


def test_a_node_without_a_key_is_left_out_and_told(networked: Path) -> None:
    ok("node", "add", "attic")
    ok("network", "set", "--peers", "full")
    told = "attic is left out of the network: its machine has not reported a key yet"
    assert told in mesh("network", "show").err
    assert told in mesh("status", "--no-look").err
    assert all("attic" not in of_node for of_node in peers().values())


def test_a_plan_shows_the_address_that_something_is_taken_from(networked: Path) -> None:
    ok("network", "attach", "nas", "--endpoint", "nas.example.org")
    assert "takes database from nas (postgres) at 10.77.0.1   the only one that offers it" in ok("plan").out
    shown = ok("declare", "pi").out
    assert "in the network at 10.77.0.2" in shown
    assert "nas is at nas.example.org:51820: 10.77.0.1" in shown
    document = json.loads(ok("declare", "pi", "--json").out)
    assert document["network"]["names"] == {"nas": "10.77.0.1", "pi": "10.77.0.2"}
    assert document["modules"][0]["answers"]["database"]["address"] == "10.77.0.1"


def test_an_export_is_imported_as_it_was_and_a_document_may_be_silent(networked: Path, folder: Path) -> None:
    ok("network", "attach", "vps", "--relay", "--endpoint", "vps.example.org")
    whole = ok("export").out
    with nothing_written(networked):
        ok("import", "-", stdin=whole)
        ok("import", "-", stdin=json.dumps({"format": 1, "nodes": [{"name": "vps"}]}))
    other = folder / "other.db"
    ok("init", "--store", other)
    ok("import", "-", "--store", other, stdin=whole)
    assert ok("export", "--store", other).out == whole


def test_without_a_network_nobody_has_an_address(networked: Path) -> None:
    ok("network", "remove", "--yes")
    assert set(addresses().values()) == {None}
    assert "ADDRESS" not in ok("node", "list").out
    document = json.loads(ok("declare", "pi", "--json").out)
    assert document["network"] is None
    assert "address" not in document["modules"][0]["answers"]["database"]


def test_a_template_that_wants_an_address_where_there_is_no_network_is_told_what_would_do(
    house: Path,
) -> None:
    resource = {"kind": "file", "path": "/etc/web", "template": "{{ answers.database.address }}"}
    web = WEB | {"version": "2", "resources": [resource]}
    ran = mesh("module", "add", "-", stdin=json.dumps(web))
    refused(ran, 3, "nas has no address: the mesh has no network (mesh network set RANGE)")
    ok("network", "set", "10.77.0.0/24")
    assert mesh("module", "add", "-", stdin=json.dumps(web)).code == 0


def test_a_file_is_looked_at_without_a_store(folder: Path) -> None:
    document = folder / "mesh.json"
    document.write_text(json.dumps(HOUSE | {"network": "fd77::/64"}))
    shown = mesh("network", "show", "--file", document)
    assert (shown.code, "pi    fd77::2" in shown.out) == (0, True)
    assert "at fd77::1" in mesh("plan", "--file", document).out
