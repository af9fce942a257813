"""What stands in a report, and what a host says of itself: one line for each thing."""

from __future__ import annotations

from typing import Any

import pytest

from mesh_core.explain.reported import malformed, refused, set_aside, stands, turned_down, whys
from mesh_core.ports import SetAside, Strange
from mesh_core.reconcile import OlderGeneration
from mesh_core.wire.faults import Fault


def action(act: str, outcome: str = "done", **more: Any) -> dict[str, Any]:
    return {
        "action": act,
        "identity": "path:/etc/motd",
        "kind": "file",
        "modules": ["web"],
        "because": [],
        "changes": [],
        "was_there": True,
        "outcome": outcome,
        **more,
    }


SERVICE = {"identity": "service:web", "kind": "service"}
HELD = "port 8080 is held by pid 812"


def status(*actions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"actions": list(actions), "troubles": [], "checks": [], **more}


@pytest.mark.parametrize(
    ("told", "line"),
    [
        (action("change", "failed", why=HELD, **SERVICE), f"service web: {HELD}; the rest is applied"),
        (action("put-back", "failed", why="busy"), "file /etc/motd: busy; the rest is applied"),
        (action("put-back"), "file /etc/motd was put back: edited by hand"),
        (action("put-back", was_there=False), "file /etc/motd was put back: somebody took it away"),
        (
            action("put-back", changes=["mode 0644 -> 0600"]),
            "file /etc/motd was put back: changed by hand (mode 0644 -> 0600)",
        ),
        (action("leave"), "file /etc/motd is no longer declared, and stays: edited by hand"),
        (
            action("remove", "left", why="it is a directory now"),
            "file /etc/motd stays, and is the mesh's no more: it is a directory now",
        ),
    ],
)
def test_what_failed_and_what_drifted_has_a_line(told: dict[str, Any], line: str) -> None:
    assert whys(status(action("make"), told, action("remove", **SERVICE))) == (line,)


def test_what_went_well_has_none() -> None:
    quiet = [action(act) for act in ("make", "adopt", "change", "refresh", "confirm", "remove", "release")]
    needed = action("remove", "still-needed", why="vim needs it")
    assert whys(status(*quiet, needed, action("sweep", "still-needed", why="vim needs it"))) == ()


def test_what_was_not_touched_and_checks_that_do_not_pass_have_one_too() -> None:
    trouble = {"identity": "package:zsh", "kind": "package", "modules": ["zsh"], "why": "no package manager"}
    check = {"module": "web", "kind": "http", "passed": False, "detail": "404"}
    found = status(
        action("change", "failed", why=HELD, **SERVICE),
        troubles=[trouble | {"elsewhere": False}, trouble | {"elsewhere": True}],
        checks=[check, check | {"passed": True}],
    )
    assert whys(found) == (
        f"service web: {HELD}",
        "package zsh was not touched: no package manager; the rest is applied",
        "web: its check http does not pass: 404",
    )


def test_each_is_one_line_that_can_be_written_whatever_a_program_said() -> None:
    (line,) = whys(status(action("change", "failed", why="first\n  second\udcff\r\nthird")))
    assert line == "file /etc/motd: first second? third; the rest is applied"


@pytest.mark.parametrize(
    ("why", "words"),
    [
        (Strange.TOO_LARGE, "larger than a declaration may be (9000000 bytes)"),
        (Strange.COPIED, "asks to be copied elsewhere"),
        (Strange.UNSIGNED, "does not say by which account"),
    ],
)
def test_why_something_was_not_looked_into(why: Strange, words: str) -> None:
    assert words in set_aside(SetAside(why=why, size=9_000_000))


def test_of_many_faults_the_first_are_told_and_the_others_counted() -> None:
    faults = [Fault(path=f"$.{number}", found="5", wanted="a text") for number in range(23)]
    lines = malformed(faults)
    assert len(lines) == 21
    assert lines[0] == "what came is no declaration: $.0: 5; a text"
    assert lines[-1] == "and 3 more faults"
    assert len(malformed(faults[:20])) == 20


def test_why_it_was_not_taken_is_one_line_with_what_would_do() -> None:
    (line,) = turned_down(OlderGeneration(generation=42, taken=43))
    assert (
        line
        == "it is of generation 42, and 43 was taken before; one of generation 44 or newer would be taken"
    )
    assert refused([line]) == (f"refused: {line}",)


def test_how_it_stands_in_a_few_words() -> None:
    assert stands(None, "applied") == "nothing was declared yet"
    assert stands(43, "failed") == "generation 43: failed"
