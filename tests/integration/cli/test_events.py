"""What is recorded: "what one command did is one event", and what is so already is none."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.program import (
    MESH,
    events,
    nothing_written,
    ok,
    written,
)


def test_re_adding_the_same_manifest_changes_nothing_and_says_so(store: Path, folder: Path) -> None:
    """Part 11: "Re-adding the same manifest changes nothing and says so."""
    written(folder, "zsh.json", {**MESH["modules"][0], "requires": []})
    written(
        folder,
        "zsh.toml",
        'version = "5.9"\nname = "zsh"\nresources = [{name = "zsh", kind = "package"}]\n'
        'provides = [{name = "shell", scope = "node"}]\n',
    )
    with nothing_written(store):
        for name in ("zsh.json", "zsh.toml"):
            for more in ([], ["--keep"], ["--anyway"]):
                assert ok("module", "add", name, *more).out == "nothing to change: the mesh is so already\n"
            assert ok("module", "add", name, "--json").json["event"] is None
    written(folder, "nano.toml", 'name = "nano"\nversion = "7"\n')
    ran = ok("module", "add", "zsh.toml", "nano.toml")
    assert ran.out == "nano 7 is in the catalogue\nnothing to change in zsh: it is so already\n"
    assert [change["module"]["name"] for change in events(store)[0]["changes"]] == ["nano"]


@pytest.mark.parametrize(
    "line",
    [
        "assign pi web",
        "assign pi web web",
        "pin pi database nas",
        "node report nas -",
        "import -",
    ],
)
def test_what_is_so_already_is_no_event(store: Path, line: str) -> None:
    given = json.dumps(MESH["nodes"][0]["capabilities"] if "report" in line else MESH)
    with nothing_written(store):
        ran = ok(*line.split(), stdin=given)
        assert ran.out == "nothing to change: the mesh is so already\n"
        said = ok(*line.split(), "--json", stdin=given).json
        assert (said["event"], said["changes"]) == (None, [])


COMMANDS: list[tuple[str, list[dict[str, Any]]]] = [
    ("node add tv car", [{"change": "put-node"}, {"change": "put-node"}]),
    ("assign tv zsh nano", [{"change": "assign", "module": "zsh"}, {"change": "assign", "module": "nano"}]),
    ("assign tv zsh web --anyway", [{"change": "assign", "module": "web"}]),
    ("unassign tv zsh nano", [{"change": "unassign"}, {"change": "unassign"}]),
    ("unassign tv web", [{"change": "unassign", "node": "tv", "module": "web"}]),
    ("pin tv database nas", [{"change": "pin", "node": "tv", "provision": "database", "from": "nas"}]),
    ("unpin tv database", [{"change": "unpin", "node": "tv", "provision": "database"}]),
    ("node report tv report.json", [{"change": "report", "node": "tv", "capabilities": {"hdmi": True}}]),
    ("module remove nano", [{"change": "drop-module", "module": "nano"}]),
    ("node remove tv", [{"change": "drop-node", "node": "tv"}]),
]


def test_one_command_is_one_event_with_what_it_did(store: Path, folder: Path) -> None:
    """Part 11: "What one command did is one event."""
    written(folder, "report.json", {"hdmi": True})
    written(folder, "nano.toml", 'name = "nano"\nversion = "7"\n')
    ok("module", "add", "nano.toml")
    number = len(events(store))
    for line, expected in COMMANDS:
        as_json = ok(*line.split(), "--json").json
        number += 1
        newest, *older = events(store)
        assert (as_json["event"], newest["number"], len(older)) == (number, number, number - 1)
        assert as_json["changes"] == newest["changes"]
        assert newest["command"] == f"mesh {line}"
        assert len(newest["changes"]) == len(expected)
        for change, parts in zip(newest["changes"], expected, strict=True):
            assert parts.items() <= change.items()


def test_history_says_who_did_what_when_the_newest_first(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_USER", "ann\x1b[31m")
    ok("node", "add", "tv")
    head, first, second = ok("history").out.splitlines()
    assert head.split() == ["NUMBER", "WHEN", "WHO", "COMMAND"]
    assert re.fullmatch(r"2 +\d+ s ago +ann\\x1b\[31m +mesh node add tv", first)
    assert second.endswith("mesh import -")
    assert len(ok("history", "-n", 1).out.splitlines()) == 2
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", events(store)[0]["at"])


def test_every_manifest_is_kept_and_one_is_current(store: Path, folder: Path) -> None:
    for version in ("1.5.0", "1.6.0", "1.4.0"):
        written(folder, "web.json", {**MESH["modules"][2], "version": version})
        ok("module", "add", "web.json")
    recorded = ok("module", "show", "web", "--json").json["recorded"]
    assert [(entry["version"], entry["current"]) for entry in recorded] == [
        ("1.4.0", True),
        ("1.5.0", False),
        ("1.6.0", False),
    ]
    rows = [line.split()[:2] for line in ok("module", "show", "web").out.splitlines()]
    assert [row for row in rows if row[0] == "current"] == [["current", "1.4.0"]]
