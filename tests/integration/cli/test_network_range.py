"""The range of a network: given, full, moved and taken away, by somebody who is in a hurry.

> Addresses are not reused while any free one is left; another range is a command of its own that shows who
> moves.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.networks import KEYS, addresses, fixes, notes, refused
from tests.integration.cli.program import events, exported, mesh, nothing_written, ok
from tests.integration.cli.test_output import on_terminal

RANGES = [
    ("10.77.0.1/24", "'10.77.0.1/24' is written 10.77.0.0/24"),
    ("10.77.0.0", "'10.77.0.0' is no range"),
    ("10.77.0/24", "is no range"),
    ("10.77.0.0/33", "is no range"),
    ("10.77.0.0/255.255.255.0", "is written 10.77.0.0/24"),
    ("010.77.0.0/24", "is no range"),
    ("10.77.0.0/31", "has no room for two machines"),
    ("fd77::/127", "has no room for two machines"),
    ("0.0.0.0/0", "is more than a network of one's own"),
    ("127.0.0.0/8", "is not for machines to be reached at"),
    ("224.0.0.0/8", "is not for machines to be reached at"),
    ("fe80::/64", "is not for machines to be reached at"),
    ("FD77::/64", "is written fd77::/64"),
    ("fd77::%eth0/64", "is no range"),
    ("", "is no range"),
    ("10.77.0.0/24; reboot", "is no range"),
    ("\x1b[31m/24", r"'\x1b[31m/24' is no range"),
    ("-1", "No such option"),
]


@pytest.mark.parametrize(("range_", "said"), RANGES, ids=[repr(range_) for range_, _ in RANGES])
@pytest.mark.parametrize("there", [False, True])
def test_what_is_no_range_is_wrong_usage_whether_there_is_a_network_or_not(
    house: Path, range_: str, said: str, there: bool
) -> None:
    """Least of all is it told to be moved to."""
    if there:
        ok("network", "set", "10.77.0.0/24")
    with nothing_written(house):
        ran = mesh("network", "set", range_)
        refused(ran, 64, said)
        assert "network move" not in ran.err
        as_json = mesh("network", "set", "--json", range_)
        assert (as_json.code, as_json.err) == (64, ran.err)
        assert as_json.error["code"] in ("bad-network", "usage")
        if there:
            refused(mesh("network", "move", range_), 64, said)


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["set", "--port", "70000"], 64, "70000 is no port: 1 to 65535"),
        (["set", "--port", "-1"], 64, "-1 is no port"),
        (["set", "--port", "x"], 64, "valid integer"),
        (["set", "--peers", "some"], 64, "'some' is not one of 'full', 'takes'"),
        (["set", "10.88.0.0/24", "--port", "0"], 64, "0 is no port"),
        (["set", "10.88.0.0/24"], 1, "the network is 10.77.0.0/24; `mesh network move 10.88.0.0/24` says"),
        (["set", "fd77::/64"], 1, "`mesh network move fd77::/64` says"),
        (["set", "10.77.0.0/24", "10.88.0.0/24"], 64, "unexpected extra argument"),
        (["move"], 64, "Missing argument 'RANGE'"),
        (["remove", "10.77.0.0/24"], 64, "unexpected extra argument"),
        (["st"], 64, "Did you mean 'set'"),
        (["show", "pi"], 64, "unexpected extra argument"),
        (["show", "--file", "nowhere.json"], 1, "nowhere.json cannot be read"),
        (["show", "--file", "x.json", "--store", "y.db"], 64, "are two meshes; give one"),
        (["show", "--store", "nowhere.db"], 5, "there is no store at"),
        (["set", "10.77.0.0/24", "--store", "nowhere.db"], 5, "there is no store at"),
    ],
)
def test_what_cannot_be_said_of_a_network_writes_nothing(
    networked: Path, words: list[str], code: int, said: str
) -> None:
    with nothing_written(networked):
        refused(mesh("network", *words), code, said)
        as_json = mesh("network", words[0], "--json", *words[1:])
        assert (as_json.code, said in as_json.err) == (code, True)
        assert as_json.error["code"]


def test_what_is_so_already_is_said_and_written_down_nowhere(networked: Path) -> None:
    with nothing_written(networked):
        for words in ("set", "set 10.77.0.0/24", "set --port 51820 --peers takes", "move 10.77.0.0/24"):
            assert ok("network", *words.split()).out == "nothing to change: the mesh is so already\n"
        assert ok("network", "set", "--json").json["event"] is None


def test_what_is_set_is_shown_and_recorded_as_it_was_typed(house: Path) -> None:
    said = ok("network", "set", "10.77.0.0/24", "--peers", "full", "--port", "4000").out.splitlines()
    assert said[0] == "the network is 10.77.0.0/24, on port 4000; every node is a peer of every other one"
    assert said[1:] == [
        f"{name} is attached to the network: 10.77.0.{n}" for n, name in enumerate(["nas", "pi", "vps"], 1)
    ]
    changes = ok("network", "move", "10.99.0.0/16", "--json").json["changes"]
    assert changes[0] == {
        "change": "set-network",
        "network": {"range": "10.99.0.0/16", "peers": "full", "port": 4000},
    }
    assert changes[1]["network"] == {"address": "10.99.0.1", "key": KEYS["nas"]}
    ok("network", "remove")
    assert [event["command"] for event in events(house)[:3]] == [
        "mesh network remove",
        "mesh network move 10.99.0.0/16",
        "mesh network set 10.77.0.0/24 --peers full --port 4000",
    ]


def test_endpoints_keep_their_port_and_that_is_told(networked: Path) -> None:
    """It may be the machine's own, and then nobody finds it any more, or one that a router forwards."""
    ok("network", "attach", "vps", "--endpoint", "vps.example.org")
    ok("network", "attach", "nas", "--endpoint", "home.example.org:7")
    ran = mesh("network", "set", "--port", "4000")
    assert (ran.code, ran.out.splitlines()[0].endswith("on port 4000; " + TAKES)) == (0, True)
    first, *who = ran.err.splitlines()
    assert first.startswith("endpoints keep their port")
    assert who == ["  vps is reached at vps.example.org:51820"]
    assert not mesh("network", "set", "--port", "4000").err
    ok("network", "attach", "vps", "--endpoint", "vps.example.org")
    assert ok("network", "set", "--peers", "full").out
    found = mesh("network", "set", "--port", "4001", "--json").json
    assert found["kept_endpoints"] == [{"node": "vps", "at": "vps.example.org:4000"}]


TAKES = "nodes are peers of those that they take from and give to"


def test_who_moves_is_shown_and_nothing_is_recorded_where_that_is_all_one_wants(networked: Path) -> None:
    ok("network", "attach", "pi", "--address", "10.77.0.77")
    with nothing_written(networked):
        said = ok("network", "move", "10.77.0.64/26", "--dry-run").out.splitlines()
        assert said == [
            "10.77.0.0/24 -> 10.77.0.64/26",
            "nas  10.77.0.1 -> 10.77.0.65",
            "vps  10.77.0.3 -> 10.77.0.66",
            "nothing was recorded: --dry-run",
        ]
        found = ok("network", "move", "10.77.0.64/26", "--dry-run", "--json").json
        assert (found["event"], len(found["changes"])) == (None, 3)
        said = ok("network", "move", "10.77.0.0/16", "--dry-run").out.splitlines()
        assert said[1] == "nobody has another address"
    assert ok("network", "move", "10.77.0.64/26").out.splitlines() == [
        "10.77.0.0/24 -> 10.77.0.64/26",
        "nas  10.77.0.1 -> 10.77.0.65",
        "vps  10.77.0.3 -> 10.77.0.66",
    ]
    assert addresses() == {"nas": "10.77.0.65", "pi": "10.77.0.77", "vps": "10.77.0.66"}


def test_a_person_is_asked_before_anybody_moves_or_the_network_goes(networked: Path) -> None:
    with nothing_written(networked):
        code, printed = on_terminal("network", "move", "10.99.0.0/24", typed=b"n\n")
        assert code == 1
        asked, _, _ = printed.partition("Go on? [y/N]:")
        assert asked.splitlines() == [
            f"~ the network is 10.99.0.0/24; {TAKES}",
            "~ node nas: 10.99.0.1 (it had 10.77.0.1)",
            "~ node pi: 10.99.0.2 (it had 10.77.0.2)",
            "~ node vps: 10.99.0.3 (it had 10.77.0.3)",
        ]
        assert printed.endswith("nothing was changed\n")
        code, printed = on_terminal("network", "remove", typed=b"\n")
        assert (code, printed.splitlines()[0]) == (
            1,
            "- the network 10.77.0.0/24, and everybody's address in it",
        )
        code, printed = on_terminal("network", "move", "10.99.0.0/24", "--dry-run")
        assert (code, "Go on?" in printed) == (0, False)
        code, printed = on_terminal("network", "move", "10.77.0.0/31")
        assert (code, "Go on?" in printed) == (64, False)
    code, printed = on_terminal("network", "move", "10.99.0.0/24", typed=b"y\n")
    assert (code, addresses()["pi"]) == (0, "10.99.0.2")
    for answer in ("--yes", "--no-input"):
        code, printed = on_terminal("network", "move", f"10.{len(answer)}.0.0/24", answer)
        assert (code, "Go on?" in printed) == (0, False)
    code, printed = on_terminal("network", "remove", typed=b"y\n")
    assert (code, printed.endswith("the mesh has no network\n")) == (0, True)


def test_a_network_that_is_taken_away_leaves_what_is_known_of_machines(networked: Path) -> None:
    ok("network", "attach", "vps", "--endpoint", "vps.example.org", "--site", "berlin", "--relay")
    ok("network", "remove", "--yes")
    assert mesh("network", "show").out.startswith("the mesh has no network; `mesh network set RANGE`")
    assert ok("network", "show", "--json").json["nodes"]["vps"] == {
        "key": KEYS["vps"],
        "endpoints": ["vps.example.org:51820"],
        "site": "berlin",
        "relay": True,
        "peers": [],
    }
    assert "network" not in ok("plan", "--json").json
    ok("network", "set", "fd77::/64")
    assert addresses() == {"nas": "fd77::1", "pi": "fd77::2", "vps": "fd77::3"}


def test_an_address_that_was_somebodys_is_the_last_to_be_given_again(house: Path) -> None:
    ok("network", "set", "10.77.0.0/29")
    mesh("node", "remove", "vps", "--yes")
    ok("node", "add", "a", "b", "c")
    assert addresses() == {
        "a": "10.77.0.4",
        "b": "10.77.0.5",
        "c": "10.77.0.6",
        "nas": "10.77.0.1",
        "pi": "10.77.0.2",
    }
    assert exported(house)["network"]["retired"] == ["10.77.0.3"]
    ok("node", "add", "d")
    assert addresses()["d"] == "10.77.0.3", "there is no other one"
    assert exported(house)["network"] == "10.77.0.0/29"
    mesh("node", "remove", "a", "--yes")
    ok("network", "attach", "b", "--address", "10.77.0.4")
    assert exported(house)["network"] == {"range": "10.77.0.0/29", "retired": ["10.77.0.5"]}


def placeless() -> list[str]:
    return [note["node"] for note in notes() if note["note"] == "no-address"]


def full() -> None:
    """A range with six addresses, and eight nodes."""
    ok("network", "set", "10.77.0.0/29")
    ok("node", "add", "a", "b", "c", "d", "e")


def test_a_range_that_is_full_is_told_by_whatever_adds_a_node(house: Path) -> None:
    said = ok("network", "set", "10.77.0.0/30").out.splitlines()
    assert said[-1].startswith("  vps has no address: the range has none left")
    assert ok("node", "add", "a", "b").out.splitlines() == [
        "+ node a",
        "+ node b",
        "  a and b have no address: the range has none left (`mesh network show` says what would do)",
    ]
    assert ok("node", "add", "c", "--json").json["without_address"] == ["c"]
    document = {"format": 1, "nodes": [{"name": "d"}]}
    said = ok("import", "-", stdin=json.dumps(document)).out.splitlines()
    assert said[-1].startswith("  d has no address: the range has none left")
    assert "no address" not in ok("network", "attach", "pi", "--relay").out, "that is no news"


def test_what_is_told_of_a_full_range_mends_it_and_nobody_moves(house: Path) -> None:
    full()
    before = {name: address for name, address in addresses().items() if address}
    assert placeless() == ["d", "e"]
    told = mesh("network", "show").err
    assert "network: d and e have no address: the range has none left\n" in told
    (first, *_) = fixes(told)
    assert first == ["network", "move", "10.77.0.0/28"]
    said = ok(*first).out.splitlines()
    assert said == [
        "10.77.0.0/29 -> 10.77.0.0/28",
        "d  no address -> 10.77.0.7",
        "e  no address -> 10.77.0.8",
    ]
    after = addresses()
    assert (after["d"], after["e"]) == ("10.77.0.7", "10.77.0.8")
    assert {name: after[name] for name in before} == before
    assert placeless() == []


def test_a_node_that_goes_makes_room_for_one_that_waits(house: Path) -> None:
    full()
    said = ok("node", "remove", "b", "--yes").out.splitlines()
    assert said[:2] == ["node b is removed", "d is attached to the network: 10.77.0.5"]
    assert addresses()["e"] is None


def test_a_full_range_breaks_nothing(house: Path) -> None:
    full()
    ok("network", "set", "--peers", "full")
    for line in ("plan", "plan d", "plan --json", "status --no-look", "node list", "node show d", "export"):
        assert mesh(*line.split()).code == 0, line
    assert "no address yet" in ok("node", "show", "d").out
    document: dict[str, Any] = json.loads(ok("declare", "d", "--json", "--generation", "1").out)
    assert document["network"] is None
    ok("network", "move", "10.77.0.0/30")
    assert [name for name, address in addresses().items() if address] == ["nas", "pi"]


def test_who_would_have_no_address_any_more_is_shown(networked: Path) -> None:
    with nothing_written(networked):
        said = ok("network", "move", "10.77.0.0/30", "--dry-run").out.splitlines()
        assert "vps  10.77.0.3 -> no address" in said
        found = ok("network", "move", "10.77.0.0/30", "--dry-run", "--json").json
        assert found["without_address"] == ["vps"]
    said = ok("network", "move", "10.77.0.0/30").out.splitlines()
    assert said[-1].startswith("  vps has no address: the range has none left")
