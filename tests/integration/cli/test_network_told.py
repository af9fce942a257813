"""What is amiss in the network, told wherever somebody looks; what is told to do is done, and it does.

> a take without a path is told at plan time
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.opening import open_broker
from tests.integration.cli.networks import KEYS, NO_PATH, NO_PATH_TOLD, fixes, notes, peers
from tests.integration.cli.program import mesh, nothing_written, ok

NO_KEY = {"note": "no-key", "node": "attic"}
NO_KEY_TOLD = "attic is left out of the network: its machine has not reported a key yet"


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker inside this process, with the queues of every node."""
    name = uuid4().hex
    monkeypatch.setenv("MESH_BROKER", f"memory://{name}")
    made = open_broker(MemoryAddress(name=name))
    made.add_nodes(["attic", "nas", "pi", "vps"])
    made.close()


ATTACHED: list[tuple[list[str], list[str]]] = [
    ([], ["nas --endpoint h.example.org", "NODE --endpoint h.example.org --relay"]),
    (["vps --endpoint vps.example.org"], ["nas --endpoint h.example.org", "vps --relay"]),
    (["vps --relay"], ["nas --endpoint h.example.org", "vps --endpoint h.example.org"]),
    (
        ["nas --site home", "pi --site home"],
        ["nas --lan h.example.org", "nas --endpoint h.example.org", "NODE --endpoint h.example.org --relay"],
    ),
]
FIXES = [(before, told, place) for before, told in ATTACHED for place in range(len(told))]


@pytest.mark.parametrize(("before", "told", "place"), FIXES)
def test_every_fix_that_is_told_of_a_take_without_a_path_mends_it(
    networked: Path, before: list[str], told: list[str], place: int
) -> None:
    for line in before:
        ok("network", "attach", *line.split())
    found = fixes(mesh("plan").out)
    assert found == [["network", "attach", *words.split()] for words in told]
    assert found == fixes(mesh("network", "show").err) == fixes(mesh("plan", "pi").out)
    assert notes() == [NO_PATH]
    ok(*("vps" if word == "NODE" else word for word in found[place]))
    assert notes() == []
    assert NO_PATH_TOLD not in mesh("plan").out
    directly, forwarded = {"nas": ["pi"], "pi": ["nas"], "vps": []}, {"nas": ["vps"], "pi": ["vps"]}
    assert peers() in (directly, forwarded | {"vps": ["nas", "pi"]})


def test_two_machines_alone_are_told_of_no_relay(networked: Path) -> None:
    mesh("node", "remove", "vps", "--yes")
    assert fixes(mesh("plan").out) == [["network", "attach", "nas", "--endpoint", "h.example.org"]]


def test_machines_whose_keys_are_one_are_told_and_left_out(networked: Path) -> None:
    """A disk that was copied."""
    ok("network", "attach", "nas", "--endpoint", "nas.example.org")
    document = {"format": 1, "nodes": [{"name": "tv", "network": {"key": KEYS["nas"]}}]}
    ok("import", "-", stdin=json.dumps(document))
    assert notes() == [{"note": "same-key", "nodes": ["nas", "tv"]}]
    told = "nas and tv are left out of the network: their machines have one key, as copies do"
    for words in ("plan", "plan tv", "status --no-look", "status --no-look nas", "network show"):
        ran = mesh(*words.split())
        assert told in ran.out + ran.err, words
    assert peers()["pi"] == []


@pytest.fixture
def amiss(networked: Path) -> Path:
    """One node that takes without a path, and one without a key."""
    ok("node", "add", "attic")
    return networked


LOOKS = [
    ("network show", [NO_KEY_TOLD, NO_PATH_TOLD], []),
    ("status --no-look", [NO_KEY_TOLD, NO_PATH_TOLD], []),
    ("status --no-look attic", [NO_KEY_TOLD], [NO_PATH_TOLD]),
    ("status --no-look nas", [NO_PATH_TOLD], [NO_KEY_TOLD]),
    ("status --no-look pi attic", [NO_KEY_TOLD, NO_PATH_TOLD], []),
    ("status --no-look vps", [], [NO_KEY_TOLD, NO_PATH_TOLD]),
    ("status --no-look web", [], [NO_KEY_TOLD, NO_PATH_TOLD]),
    ("push --dry-run", [NO_KEY_TOLD, NO_PATH_TOLD], []),
    ("push --dry-run attic", [NO_KEY_TOLD], [NO_PATH_TOLD]),
    ("push --dry-run pi", [NO_PATH_TOLD], [NO_KEY_TOLD]),
    ("push --dry-run vps", [], [NO_KEY_TOLD, NO_PATH_TOLD]),
]


@pytest.mark.parametrize(("line", "told", "not_told"), LOOKS, ids=[line for line, *_ in LOOKS])
def test_it_is_told_on_stderr_and_of_nodes_that_are_named_only_what_is_about_them(
    amiss: Path, line: str, told: list[str], not_told: list[str]
) -> None:
    with nothing_written(amiss):
        ran = mesh(*line.split())
    assert ran.code == 0
    assert [one in ran.err for one in told] == [True] * len(told)
    assert [one in ran.err for one in not_told] == [False] * len(not_told)
    assert "network: " not in ran.out


def told_in_json(line: str) -> list[Any]:
    ran = mesh(*line.split(), "--json")
    assert (ran.code, ran.err) == (0, "")
    if line.startswith("push"):
        objects = [json.loads(one) for one in ran.out.splitlines()]
        return [without(one, "format", "event") for one in objects if one["event"] == "network"]
    found = ran.json if line.startswith("network") else ran.json["network"]
    assert isinstance(found["notes"], list)
    return found["notes"]


def without(data: dict[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in keys}


def test_json_has_the_same_as_codes(amiss: Path) -> None:
    for line in ("network show", "status --no-look", "plan", "push --dry-run"):
        assert told_in_json(line) == [NO_KEY, NO_PATH], line
    for line in ("status --no-look", "plan", "push --dry-run"):
        assert told_in_json(f"{line} attic") == [NO_KEY], line
        assert told_in_json(f"{line} nas") == [NO_PATH], line
        assert told_in_json(f"{line} vps") == [], line


def test_a_plan_tells_what_a_person_can_mend_and_leaves_keys_to_the_machines(amiss: Path) -> None:
    for line, told in (("plan", True), ("plan pi", True), ("plan nas", True), ("plan vps", False)):
        ran = mesh(*line.split())
        assert (NO_PATH_TOLD in ran.out, NO_KEY_TOLD in ran.out, ran.err) == (told, False, ""), line
    assert mesh("plan").out.splitlines()[-1].startswith("2 to add, 0 to remove.")
    assert set(ok("plan", "pi", "--json").json["network"]["nodes"]) == {"pi"}
    assert set(ok("plan", "--json").json["network"]["nodes"]) == {"attic", "nas", "pi", "vps"}


def test_a_push_tells_it_beside_what_it_does(amiss: Path, broker: None) -> None:
    ran = mesh("push")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "2 sent")
    assert NO_PATH_TOLD in ran.err
    assert NO_KEY_TOLD in ran.err


def test_without_a_network_nothing_is_told(house: Path) -> None:
    ok("node", "add", "attic")
    for line in ("plan", "status --no-look", "push --dry-run", "node list", "node show attic"):
        assert "network" not in ok(*line.split()).out, line
    for line in ("plan", "status --no-look"):
        assert "network" not in ok(*line.split(), "--json").json


def changes() -> dict[str, list[str]]:
    """By node, the lines of the plan; a node that does not change is not in it."""
    found: dict[str, list[str]] = {}
    body = ok("plan").out.partition("\n\n")[2].partition("nothing to change")[0]
    for line in body.splitlines()[: -1 if "to add" in body else None]:
        begun = re.match(r"(\w+) +(.*)", line)
        if begun:
            found[begun[1]] = [begun[2]]
    return found


def test_a_plan_says_that_nothing_but_its_network_is_another(networked: Path, broker: None) -> None:
    ok("network", "attach", "nas", "--endpoint", "nas.example.org")
    ok("push")
    assert changes() == {}
    ok("network", "attach", "nas", "--endpoint", "other.example.org")
    assert changes() == {"pi": ["~ its network"]}
    assert ok("plan", "pi").out.splitlines()[-1].split() == ["~", "its", "network"]
    assert "~" not in ok("plan", "nas").out
    assert mesh("plan", "--detailed-exitcode").code == 2
    ok("network", "attach", "nas", "--address", "10.77.0.9")
    assert changes() == {
        "nas": ["~ its network"],
        "pi": ["~ what its modules are told of others"],
    }, "the address that it takes from is told to its modules"
    ok("push")
    assert changes() == {}
    ok("network", "set", "--peers", "full")
    assert changes() == {"nas": ["~ its network"]}, "it is found by vps now, which finds nobody else"
    assert ok("push").out.splitlines()[-1] == "1 sent, 1 unchanged"
