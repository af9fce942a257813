"""`mesh network attach`: how a node is reached, said by somebody who types fast."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.networks import KEYS, addresses, peers, refused
from tests.integration.cli.program import events, mesh, node_entry, nothing_written, ok

SAID = [
    ("vps.example.org", "vps.example.org:51820"),
    ("vps.example.org:7", "vps.example.org:7"),
    ("vps", "vps:51820"),
    ("203.0.113.10", "203.0.113.10:51820"),
    ("203.0.113.10:7", "203.0.113.10:7"),
    ("fd00::5", "[fd00::5]:51820"),
    ("[fd00::5]", "[fd00::5]:51820"),
    ("[fd00::5]:7", "[fd00::5]:7"),
]


@pytest.mark.parametrize(("said", "at"), SAID)
def test_an_endpoint_is_said_with_or_without_a_port(networked: Path, said: str, at: str) -> None:
    ok("network", "attach", "vps", "--endpoint", said)
    assert node_entry(networked, "vps")["network"]["endpoints"] == [at]


NO_ENDPOINTS = [
    "",
    ":",
    ":51820",
    "a b",
    "a:",
    "a:0",
    "a:65536",
    "a:07",
    "a:x",
    "-a",
    "a..b",
    "a.",
    "a/b",
    "https://a",
    "10.0.0.300",
    "10.0.0",
    "FD00::5",
    "[10.0.0.1]:7",
    "[fd00::5",
    "a" * 254,
    "a\x1b[31m",
    "a;reboot",
]


@pytest.mark.parametrize("option", ["--endpoint", "--lan"])
@pytest.mark.parametrize("said", NO_ENDPOINTS, ids=repr)
def test_what_is_no_endpoint_is_wrong_usage(networked: Path, option: str, said: str) -> None:
    with nothing_written(networked):
        words = ["network", "attach", "vps", "--site", "home", f"{option}={said}"]
        ran = mesh(*words)
        refused(ran, 64, "is no endpoint: HOST:PORT, like vps.example.org:51820 or [fd00::5]:51820")
        assert "\x1b" not in ran.err
        assert mesh(*words, "--json").error["code"] == "bad-network"


@pytest.mark.parametrize(
    ("words", "code", "error", "said"),
    [
        (["vsp"], 1, "no-such-node", "there is no node 'vsp'; near: vps"),
        (["Vps"], 64, "bad-name", "'vps' would do"),
        ([], 64, "usage", "Missing argument 'NODE'"),
        (["vps", "--address", "10.77.0.1"], 1, "bad-network", "10.77.0.1 is the address of nas"),
        (["vps", "--address", "10.77.0.0"], 1, "bad-network", "is no address of a machine in 10.77.0.0/24"),
        (["vps", "--address", "10.77.0.255"], 1, "bad-network", "is no address of a machine"),
        (["vps", "--address", "10.78.0.9"], 1, "bad-network", "is no address of a machine"),
        (["vps", "--address", "fd77::9"], 1, "bad-network", "is no address of a machine"),
        (["vps", "--address", "10.77.0.9/24"], 64, "bad-network", "is no address: one of IPv4"),
        (["vps", "--address", "nine"], 64, "bad-network", "'nine' is no address"),
        (["vps", "--address", ""], 64, "bad-network", "'' is no address"),
        (["vps", "--address", "FD77::9"], 64, "bad-network", "is written fd77::9"),
        (["vps", "--lan", "192.168.1.5"], 64, "no-site", "say which with --site"),
        (["vps", "--lan", "192.168.1.5", "--site", ""], 64, "no-site", "say which with --site"),
        (["vps", "--site", "At home"], 64, "bad-network", "'At home' is no name of a site"),
        (["vps", "--site", "a" * 64], 64, "bad-network", "is no name of a site: 1 to 63 of"),
        (["vps", "--no-endpoint", "--lan", "a"], 64, "two-endpoints", "it goes with neither"),
        (["vps", "--endpoint", "10.77.0.3"], 1, "bad-network", "10.77.0.3 is in the network itself"),
        (["vps", "--endpoint", "10.77.0.99:7"], 1, "bad-network", "is in the network itself"),
        (["vps", "--endpoint", "nas.example.org"], 1, "bad-network", "is where nas is reached"),
        (["vps", "--site", "home", "--lan", "192.168.1.2"], 1, "bad-network", "is where nas is reached"),
        (["vps", "--relay=yes"], 64, "usage", "does not take a value"),
        (["vps", "--key", "x"], 64, "usage", "No such option"),
    ],
)
def test_what_cannot_be_said_of_a_node_writes_nothing(
    networked: Path, words: list[str], code: int, error: str, said: str
) -> None:
    ok("network", "attach", "nas", "--site", "home", "--lan", "192.168.1.2", "--endpoint", "nas.example.org")
    with nothing_written(networked):
        refused(mesh("network", "attach", *words), code, said)
        as_json = mesh("network", "attach", "--json", *words)
        assert (as_json.code, as_json.error["code"]) == (code, error)


def test_without_a_network_all_but_an_address_can_be_said_already(house: Path) -> None:
    with nothing_written(house):
        refused(mesh("network", "attach", "vps", "--address", "10.77.0.9"), 1, "the mesh has no network")
    said = ok("network", "attach", "vps", "--endpoint", "vps.example.org", "--relay").out
    assert said == (
        "vps is attached to the network: no address yet, reached at vps.example.org:51820, a relay\n"
    )
    assert "no address yet, reached at vps.example.org:51820, a relay" in ok("node", "show", "vps").out
    ok("network", "set", "10.77.0.0/24")
    assert node_entry(house, "vps")["network"] == {
        "address": "10.77.0.3",
        "key": KEYS["vps"],
        "endpoints": ["vps.example.org:51820"],
        "relay": True,
    }


def test_what_takes_the_place_of_what(networked: Path) -> None:
    """An endpoint is added to nothing: those of its kind go, those of the other kind stay."""

    def attached(*words: str) -> list[Any]:
        ok("network", "attach", "nas", *words)
        found = node_entry(networked, "nas")["network"].get("endpoints", [])
        assert isinstance(found, list)
        return found

    near, far = {"at": "192.168.1.2:51820", "site": "home"}, "h.example.org:51820"
    assert attached("--site", "home", "--lan", "192.168.1.2", "--endpoint", "h.example.org") == [near, far]
    assert attached("--relay") == [near, far]
    assert attached("--endpoint", "a", "--endpoint", "b:7") == [near, "a:51820", "b:7"]
    assert attached("--endpoint", "h.example.org") == [near, far]
    assert attached("--lan", "192.168.1.3:7") == [{"at": "192.168.1.3:7", "site": "home"}, far]
    assert attached("--no-endpoint") == []
    assert node_entry(networked, "nas")["network"]["relay"], "and nothing else of it went"


@pytest.mark.parametrize("site", ["garden", ""])
def test_a_machine_that_leaves_a_site_is_not_found_in_its_lan_any_more(networked: Path, site: str) -> None:
    """Else the others there would go on looking for it at an address that is somebody else's by now."""
    ok("network", "attach", "nas", "--site", "home", "--lan", "192.168.1.2", "--endpoint", "h.example.org")
    ok("network", "attach", "pi", "--site", "home", "--endpoint", "pi.example.org")
    ok("network", "attach", "nas", "--site", "home")
    assert len(node_entry(networked, "nas")["network"]["endpoints"]) == 2, "it has not left"
    said = ok("network", "attach", "nas", "--site", site).out
    assert "192.168.1.2" not in said
    assert node_entry(networked, "nas")["network"]["endpoints"] == ["h.example.org:51820"]
    if site:
        ok("network", "attach", "nas", "--site", "home", "--lan", "192.168.1.9")
        ok("network", "attach", "nas", "--site", site, "--lan", "172.16.0.9")
        near = {"at": "172.16.0.9:51820", "site": site}
        assert node_entry(networked, "nas")["network"]["endpoints"][0] == near


def test_what_came_with_a_document_does_not_stand_in_the_way_of_something_else(networked: Path) -> None:
    """Two machines at one port is what no command makes; a router's owner may come to it by steps."""
    nodes = [{"name": name, "network": {"endpoints": ["h.example.org:7"]}} for name in ("nas", "pi")]
    ok("import", "-", stdin=json.dumps({"format": 1, "nodes": nodes}))
    ok("network", "attach", "pi", "--relay")
    ok("network", "attach", "pi", "--endpoint", "h.example.org:8")


def test_another_address_is_kept_and_the_one_before_goes_to_nobody(networked: Path) -> None:
    assert "10.77.0.9" in ok("network", "attach", "vps", "--address", "10.77.0.9").out
    ok("node", "add", "tv")
    assert addresses() == {"nas": "10.77.0.1", "pi": "10.77.0.2", "tv": "10.77.0.4", "vps": "10.77.0.9"}
    ok("network", "attach", "vps", "--address", "10.77.0.3")
    assert addresses()["vps"] == "10.77.0.3", "but to itself, where that is said"


def test_history_has_it_as_it_was_typed(networked: Path) -> None:
    lines = [
        "--endpoint '[fd00::5]:7' --endpoint vps.example.org --lan 10.0.0.1 --site home --relay",
        "--site '' --no-relay",
        "--address 10.77.0.9",
        "--no-endpoint",
    ]
    for line in lines:
        ok("network", "attach", "vps", *(word.strip("'") for word in line.split()))
    found = [event["command"] for event in events(networked)[: len(lines)]]
    assert found[::-1] == [f"mesh network attach vps {line}" for line in lines]
    with nothing_written(networked):
        said = ok("network", "attach", "vps").out
    assert said == "nothing to change: the mesh is so already\n"


def test_who_is_reached_in_the_lan_and_who_from_everywhere(networked: Path) -> None:
    for name, place in (("nas", "home"), ("pi", "home"), ("vps", "berlin")):
        ok("network", "attach", name, "--site", place)
    assert peers()["pi"] == []
    ok("network", "attach", "nas", "--lan", "192.168.1.2")
    assert peers() == {"nas": ["pi"], "pi": ["nas"], "vps": []}
    shown = mesh("network", "show").out
    assert "192.168.1.2:51820 (home)" in shown
    ok("network", "attach", "pi", "--site", "garden")
    assert peers()["pi"] == [], "it stands elsewhere now"
