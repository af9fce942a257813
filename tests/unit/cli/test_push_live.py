"""The table of a push: what it says of each node, and what it shows where there is no room for all."""

from __future__ import annotations

from typing import Any

import pytest

from mesh_cli.render.push.live import Row, drawn, summary
from mesh_core.explain.push import Going, how_it_goes
from mesh_core.model.said import Doing, Report
from mesh_core.model.sent import Standing


def standing(doing: Doing | None, generation: int | None = 2, **more: Any) -> Standing:
    if doing is None:
        return Standing(node="pi", **more)
    report = Report(node="pi", machine="m", generation=generation, doing=doing, **more)
    return Standing(node="pi", report=report, seen_at="then")


WAITS = "has not taken it; it gets it when it returns"


@pytest.mark.parametrize(
    ("heard", "silent", "going"),
    [
        (standing(None), None, Going(state="sent", why="was never seen; it gets it when it says hello")),
        (standing(None, seen_at="then"), 8, Going(state="sent", why=WAITS)),
        (standing(Doing.APPLIED, 1, applied=1), 8, Going(state="sent", why=WAITS)),
        (
            standing(Doing.APPLIED, 1, applied=1),
            3 * 86400,
            Going(state="sent", why="silent for 3 d; it gets it when it returns"),
        ),
        (standing(Doing.APPLYING, applied=1), 8, Going(state="applying", taken=True)),
        (standing(Doing.APPLIED, applied=2), 8, Going(state="applied", taken=True, ended=True)),
        (
            standing(Doing.APPLIED, applied=2, healthy=False),
            8,
            Going(state="applied", why="not all of its checks pass", taken=True, ended=True),
        ),
        (
            standing(Doing.FAILED, applied=2, why=["the disk is full", "and more"]),
            8,
            Going(state="failed", why="the disk is full", taken=True, ended=True),
        ),
        (
            standing(Doing.REFUSED, 1, refused=2, why=["too many go"]),
            8,
            Going(state="refused", why="too many go", taken=True, ended=True),
        ),
    ],
)
def test_how_a_node_takes_what_it_was_sent(heard: Standing, silent: float | None, going: Going) -> None:
    assert how_it_goes(heard, 2, silent) == going


def row(node: str, state: str, seconds: float | None = None, why: str = "") -> Row:
    going = Going(state=state, why=why, taken=state != "sent", ended=seconds is not None)
    return Row(node=node, generation=7, going=going, seconds=seconds)


ROWS = [
    row("nas", "applied", 9),
    row("pi", "applying"),
    row("vps", "failed", 6, "\x1b[31mred"),
    row("x", "sent"),
]


def test_what_lasts_has_the_time_since_it_was_sent_and_what_ended_that_which_it_took() -> None:
    assert drawn(ROWS, 12) == [
        "NODE  SENT  STATE     TIME  WHY",
        "nas   7     applied   9 s",
        "pi    7     applying  12 s",
        "vps   7     failed    6 s   \\x1b[31mred",
        "x     7     sent      12 s",
        "",
        "1 applied, 1 failed, 1 applying, 1 waiting",
    ]


def test_where_there_is_no_room_for_all_those_that_are_not_done_are_shown() -> None:
    many = [row(f"n{n}", "applied", 1) for n in range(50)]
    lines = drawn([*many, row("pi", "applying"), row("x", "sent")], 12, 10)
    assert len(lines) <= 10
    assert [line.split()[0] for line in lines[1:4]] == ["pi", "x", "n0"]
    assert lines[-1] == "50 applied, 1 applying, 1 waiting   (46 nodes more)"
    assert len(drawn(ROWS, 12, 7)) == 7
    assert "more" not in drawn(ROWS, 12, 7)[-1]


def test_what_it_comes_to_names_only_what_there_is() -> None:
    assert summary([row("x", "sent")]) == "1 waiting"
    assert summary([row("x", "refused", 1), row("y", "drifted", 1)]) == "1 drifted, 1 refused"
