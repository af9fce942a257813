"""What is no message of the mesh, in the queues of a node: garbage, too much, and what unpacks to more."""

from __future__ import annotations

import bz2
import sys
from functools import partial
from typing import Any

import pytest

from mesh_core.ports import DECLARATION_LIMIT, REPORT_LIMIT, Kind
from tests.integration.cli.program import mesh
from tests.integration.push.programs import Plane, Talking, motd, node, spawned, until

MB = 1024 * 1024
BOMB = bz2.compress(bytes(10 * MB)) * 30
"""300 MB, in one or two thousand bytes: bzip2 unpacks what was put together as one."""
MOST = 150
"""MB that a program may ever have: its own, and twice the largest that comes. Unpacked a bomb is 300."""
PACKED: dict[str, Any] = {
    "content_type": "application/json",
    "content_encoding": "utf-8",
    "application_headers": {"compression": "application/x-bz2"},
}
TOO_LARGE = {Kind.DECLARATION: 3 * DECLARATION_LIMIT, Kind.REPORT: 3 * REPORT_LIMIT}
UNREADABLE = "what came is no declaration"


def hostile(kind: Kind) -> list[tuple[bytes, dict[str, Any], str]]:
    """Messages as they are put into a queue, and what a host says of each."""
    size = TOO_LARGE.get(kind, TOO_LARGE[Kind.REPORT])
    return [
        (b"\xff\x00 garbage", {}, UNREADABLE),
        (b"{}", {"content_encoding": "utf-16"}, UNREADABLE),
        (b"[" * 100_000, {}, UNREADABLE),
        (bytes(size), {}, f"larger than a declaration may be ({size} bytes)"),
        (BOMB, PACKED, UNREADABLE),
        (BOMB, {**PACKED, "content_encoding": "bzip2"}, UNREADABLE),
    ]


@pytest.fixture
def joined(plane: Plane) -> Plane:
    plane.has([motd(1)], [node("pi", "motd")])
    assert mesh("push").code == 0
    return plane


def test_a_host_refuses_them_and_takes_what_is_good(joined: Plane) -> None:
    """> garbage in a queue: refused, reported

    > kombu decompresses before it looks at `accept`: 0.3 MB took 300 MB
    """
    pi = joined.machine()
    with joined.serving(), pi.running() as daemon:
        until(lambda: joined.stands("pi") == (1, 1, "applied"), "it has the good one")
        for body, more, why in hostile(Kind.DECLARATION):
            refused = partial(_refused_since, daemon, len(daemon.said), why)
            joined.put("pi", Kind.DECLARATION, body, **more)
            until(refused, why)
            assert (pi.generation, pi.text("/etc/motd")) == (1, "1\n")
        until(lambda: joined.stands("pi") == (1, 1, "refused"), "the last refusal is known")
        joined.has([motd(2)])
        assert mesh("push").code == 0
        until(lambda: joined.stands("pi") == (2, 2, "applied"), "it has the next good one")
        assert daemon.highest_memory < MOST
    assert pi.text("/etc/motd") == "2\n"


def _refused_since(daemon: Talking, before: int, why: str) -> bool:
    return any(
        report["doing"] == "refused" and any(why in line for line in report["why"])
        for report in daemon.said[before:]
    )


def test_serve_sets_them_aside_and_takes_in_what_is_good(joined: Plane) -> None:
    """> garbage in a queue: set aside, counted, shown"""
    pi = joined.machine()
    with joined.serving() as daemon:
        assert pi.once().code == 0
        until(lambda: joined.stands("pi") == (1, 1, "applied"), "a report")
        told = [(kind, *one) for kind in (Kind.REPORT, Kind.HELLO) for one in hostile(kind)]
        for number, (kind, body, more, _) in enumerate(told, 1):
            joined.put("pi", kind, body, **more)
            until(partial(_has_set_aside, daemon, number), f"the {number}. is set aside")
        assert joined.stands("pi") == (1, 1, "applied"), "garbage says nothing of a machine"
        joined.has([motd(2)])
        assert mesh("push").code == 0
        assert pi.once().code == 0
        until(lambda: joined.stands("pi") == (2, 2, "applied"), "the next report")
        assert daemon.highest_memory < MOST


def _has_set_aside(daemon: Talking, count: int) -> bool:
    counts: list[int] = [event.get("strange", {}).get("pi", 0) for event in daemon.said]
    return sum(counts) == count


COLLECT = """
import atexit
def tell():
    print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
atexit.register(tell)
from mesh_cli.program import main
main()
"""


@pytest.mark.parametrize("body", [BOMB, bytes(TOO_LARGE[Kind.REPORT])], ids=["bomb", "oversized"])
def test_collect_sets_them_aside_and_ends(joined: Plane, body: bytes) -> None:
    """> no kombu decoding of other people's messages: take bytes, check size, decode JSON yourself"""
    pi = joined.machine()
    assert pi.once().code == 0
    joined.put("pi", Kind.REPORT, body, **PACKED)
    joined.put("pi", Kind.HELLO, body, **PACKED)
    with spawned([sys.executable, "-c", COLLECT, "collect"]) as process:
        out, err = process.communicate(timeout=30)
    said, memory = out.decode().splitlines()
    assert (process.returncode, err) == (0, b"")
    assert said == "pi: 2 messages that nobody can read, set aside"
    assert int(memory) < MOST * 1024
    assert joined.stands("pi") == (1, None, "never-seen"), "its report was displaced, and nothing is made up"
    assert pi.once().code == 0
    assert mesh("collect").code == 0
    assert joined.stands("pi") == (1, 1, "applied")
