"""Where endpoints are: asked for all at once, and nobody waits for one that is not found."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mesh_adapters.host.overlay.finding import SECONDS, find

Answers = list[tuple[Any, ...]]


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """Whoever waits for it is let go at the end of the test."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, never: threading.Event) -> list[str]:
    """The names that were asked for; `hangs` is never answered, `4` and `6` have an address of their kind."""
    asked: list[str] = []

    def getaddrinfo(host: str, port: int, **_: Any) -> Answers:
        asked.append(host)
        if host.startswith("hangs"):
            never.wait()
        if host.startswith("both"):
            return [(0, 0, 0, "", ("2001:db8::1", port, 0, 0)), (0, 0, 0, "", ("192.0.2.1", port))]
        if "four" in host:
            return [(0, 0, 0, "", ("192.0.2.4", port)), (0, 0, 0, "", ("2001:db8::4", port, 0, 0))]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def in_time(do: Callable[[], dict[str, str]]) -> dict[str, str]:
    """What it gives; a test that waits for ever is none."""
    found: list[dict[str, str]] = []
    thread = threading.Thread(target=lambda: found.append(do()), daemon=True)
    thread.start()
    thread.join(timeout=20)
    assert found, "it waits for what never comes"
    return found[0]


def test_an_address_is_where_it_is_and_nobody_is_asked(asked: list[str]) -> None:
    given = ["192.0.2.7:51820", "[2001:db8::7]:9"]
    assert find(given) == {one: one for one in given}
    assert asked == []


def test_a_name_is_where_the_resolver_says_first(asked: list[str]) -> None:
    found = find(["both.example:51820", "four.example:1"])
    assert found == {"both.example:51820": "[2001:db8::1]:51820", "four.example:1": "192.0.2.4:1"}


def test_one_that_is_not_found_is_left_out(asked: list[str]) -> None:
    assert find(["nobody.example:1", "four.example:1"]) == {"four.example:1": "192.0.2.4:1"}


def test_one_that_never_answers_keeps_nobody_else_from_being_found(asked: list[str]) -> None:
    given = [f"hangs{number}.example:1" for number in range(20)]
    found = in_time(lambda: find([*given, "four.example:1", "192.0.2.7:1"], seconds=0.2))
    assert found == {"four.example:1": "192.0.2.4:1", "192.0.2.7:1": "192.0.2.7:1"}
    assert len(asked) == 21, "all were asked for at once"


def test_the_same_is_asked_for_once(asked: list[str]) -> None:
    find(["four.example:1", "four.example:1"])
    assert asked == ["four.example"]


def test_all_of_them_have_a_few_seconds_together() -> None:
    """The daemon tells its watchdog that it lives before that and after; a trial has a minute."""
    assert 0 < SECONDS <= 10


def test_what_is_found_too_late_changes_nothing_that_was_told(
    asked: list[str], never: threading.Event
) -> None:
    before = set(threading.enumerate())
    found = find(["hangs-four.example:1"], seconds=0.01)
    (late,) = set(threading.enumerate()) - before
    never.set()
    late.join(timeout=20)
    assert (found, late.is_alive()) == ({}, False)
