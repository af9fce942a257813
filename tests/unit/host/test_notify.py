"""What systemd is told: datagrams, at the right times, and nothing where nobody asked."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from mesh_adapters.host import notify
from mesh_adapters.host.commands import Command, Ended, command
from mesh_adapters.host.notify import Notifier


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.setblocking(False)
        yield listening


def heard(listening: socket.socket) -> list[str]:
    found = []
    try:
        while True:
            found.append(listening.recv(4096).decode())
    except BlockingIOError:
        return found


def notifier(listening: socket.socket, **more: str) -> Notifier:
    return Notifier({"NOTIFY_SOCKET": listening.getsockname(), **more})


def test_it_is_told_of_the_beginning_the_state_and_the_end(systemd: socket.socket) -> None:
    told = notifier(systemd)
    told.ready()
    told.status("generation 43: applied")
    told.stopping()
    assert heard(systemd) == ["READY=1\nWATCHDOG=1", "STATUS=generation 43: applied", "STOPPING=1"]


def test_a_name_that_is_no_path_is_understood() -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(f"\0mesh-host-{os.getpid()}")
        listening.setblocking(False)
        Notifier({"NOTIFY_SOCKET": f"@mesh-host-{os.getpid()}"}).ready()
        assert heard(listening) == ["READY=1\nWATCHDOG=1"]


@pytest.mark.parametrize("where", [{}, {"NOTIFY_SOCKET": ""}, {"NOTIFY_SOCKET": "/nowhere/at/all"}])
def test_where_nobody_listens_nothing_happens(where: dict[str, str]) -> None:
    told = Notifier(where | {"WATCHDOG_USEC": "1000"})
    told.ready()
    told.alive()
    told.stopping()


def test_the_watchdog_is_fed_at_half_its_time(
    systemd: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(notify, "monotonic", lambda: now[0])
    told = notifier(systemd, WATCHDOG_USEC="600000000", WATCHDOG_PID=str(os.getpid()))
    told.alive()
    told.alive()
    assert heard(systemd) == ["WATCHDOG=1"]
    now[0] += 299
    told.alive()
    assert heard(systemd) == []
    now[0] += 1
    told.alive()
    assert heard(systemd) == ["WATCHDOG=1"]


@pytest.mark.parametrize(
    "watching", [{}, {"WATCHDOG_USEC": "600000000", "WATCHDOG_PID": "1"}, {"WATCHDOG_USEC": "soon"}]
)
def test_a_watchdog_that_looks_elsewhere_is_not_fed(systemd: socket.socket, watching: dict[str, str]) -> None:
    told = notifier(systemd, **watching)
    told.alive()
    told.around(ended)(command("true", seconds=9999))
    assert heard(systemd) == []


def ended(asked: Command) -> Ended:
    return Ended(command=asked, code=0, output="", errors="")


def test_for_a_command_that_may_take_long_the_watchdog_waits(systemd: socket.socket) -> None:
    told = notifier(systemd, WATCHDOG_USEC="600000000")
    pull = command("podman", "pull", seconds=1800)
    assert told.around(ended)(pull) == ended(pull)
    assert heard(systemd) == ["WATCHDOG_USEC=1860000000\nWATCHDOG=1", "WATCHDOG_USEC=600000000\nWATCHDOG=1"]
    told.around(ended)(command("true", seconds=5))
    assert heard(systemd) == ["WATCHDOG=1"], "a short one is only a sign of life"


def test_it_waits_no_longer_once_a_command_was_broken_off(systemd: socket.socket) -> None:
    told = notifier(systemd, WATCHDOG_USEC="600000000")

    def broken(_command: Command) -> Ended:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        told.around(broken)(command("apt-get", seconds=1800))
    assert heard(systemd)[-1] == "WATCHDOG_USEC=600000000\nWATCHDOG=1"
