"""Ctrl-c: what is in hand comes to its end, the journal is closed, and the next run goes on from there."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.host.files import Files
from tests.integration.cli.program import CTRL_C, environment
from tests.integration.host.cli.program import PROGRAM, declared, file, host, on_the_machine, well

STDIN = declared(43, *(file(f"/etc/{name}") for name in "abc"))


@pytest.fixture(autouse=True)
def _ctrl_c_means_something() -> Iterator[None]:
    """Whoever runs tests in the background of a shell has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupting(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Ctrl-c, that many times, while /etc/b is written."""
    write = Files.write_soon

    def interrupted(self: Files, path: str, content: bytes, **more: Any) -> None:
        if path == "/etc/b":
            for _ in range(times):
                os.kill(os.getpid(), signal.SIGINT)
        write(self, path, content, **more)

    monkeypatch.setattr(Files, "write_soon", interrupted)


@pytest.mark.parametrize(("times", "there"), [(1, ["a", "b"]), (2, [".mesh-host-a"])])
def test_the_first_waits_for_what_is_in_hand_the_second_does_not(
    root: Path, monkeypatch: pytest.MonkeyPatch, times: int, there: list[str]
) -> None:
    with monkeypatch.context() as patched:
        interrupting(patched, times)
        ran = host("apply", "-", "--root", root, stdin=STDIN)
    assert ran.code == 130
    first, last = ran.err.splitlines()
    assert first == "stopping when what is in hand is done; ctrl-c again stops at once"
    assert last == "interrupted; what was done stands in the journal, and the next apply goes on from there"
    assert sorted(path.name for path in (root / "etc").iterdir()) == there
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    again = well("apply", "-", "--root", root, stdin=STDIN)
    assert again.out.endswith(" made\n")
    assert sorted(path.name for path in (root / "etc").iterdir()) == ["a", "b", "c"]
    assert {one["why"] for one in well("owned", "--root", root, "--json").json["owned"]} == {
        "declared",
        "came-along",
    }
    well("apply", "-", "--root", root, stdin=declared(44, empty=True))
    assert on_the_machine(root) == {}


def test_json_says_so_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupting(monkeypatch, 1)
    ran = host("apply", "-", "--root", root, "--json", stdin=STDIN)
    assert (ran.code, ran.error["code"]) == (130, "interrupted")


def test_one_that_comes_with_the_last_action_stops_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupting(monkeypatch, 1)
    host("apply", "-", "--root", root, stdin=declared(1, file("/etc/b")))
    assert (root / "etc/b").exists()


def test_while_it_waits_for_its_input_it_ends_without_a_traceback(root: Path) -> None:
    begun = CTRL_C + "signal.signal(signal.SIGINT, signal.default_int_handler); "
    ready = "print('ready', file=sys.stderr, flush=True); "
    with subprocess.Popen(
        [sys.executable, "-c", begun + ready + PROGRAM, "apply", "-", "--json", "--root", str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as running:
        assert running.stderr is not None
        assert running.stdout is not None
        assert running.stderr.readline() == b"ready\n"
        waiting = Path(f"/proc/{running.pid}/wchan")
        for _ in range(500):
            if waiting.read_text() in ("pipe_read", "anon_pipe_read", "pipe_wait"):
                break
            import time

            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        out, err = running.stdout.read(), running.stderr.read()
        assert running.wait(timeout=30) == 130
    assert b"Traceback" not in err
    assert b"interrupted" in err
    if out:
        assert json.loads(out)["error"]["code"] == "interrupted"
    assert on_the_machine(root) == {}
