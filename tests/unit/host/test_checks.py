"""Checks: what is asked, for how long, and what is said of it (design, part 8)."""

import http.server
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.host.checking import KINDS, Asked, Checked, check_faults, run_checks
from mesh_adapters.host.commands import Command, Ended, run
from mesh_core.model.check import Check
from tests.unit.host.fake_systemd import FakeSystemd, FakeUnit, ended, machine_with


def check(kind: str, **attributes: object) -> Check:
    return Check(kind=kind, attributes_json=attributes)


def one(check: Check, command: Callable[[Command], Ended] = run) -> Checked:
    [checked] = run_checks([Asked(module="web", check=check)], machine_with(command))
    return checked


class Answers(http.server.BaseHTTPRequestHandler):
    """Answers by the path: its status, and `/drip` byte by byte for ever."""

    def do_GET(self) -> None:
        if self.path == "/drip":
            self.send_response(200)
            self.end_headers()
            while True:
                self.wfile.write(b".")
                time.sleep(0.05)
        self.send_response(int(self.path[1:4]))
        self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.end_headers()
        self.wfile.write(f"Welcome to {self.path}".encode())

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            return


@pytest.fixture
def port() -> Iterator[int]:
    """The port of a server on loopback."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server.server_address[1]
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def closed() -> int:
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        number: int = listening.getsockname()[1]
    return number


URL = "an http:// or https:// address"


@pytest.mark.parametrize(
    ("given", "key", "found", "wanted"),
    [
        (check("tcp"), "port", "missing", "a number from 1 to 65535"),
        (check("tcp", port=0), "port", "found 0", "a number from 1 to 65535"),
        (check("tcp", port=True), "port", "found true", "a number from 1 to 65535"),
        (check("tcp", port=1, x=2), "x", "unknown attribute", "a check tcp knows host, port, seconds"),
        (check("tcp", port=80, seconds=0), "seconds", "found 0", "a number of seconds above 0"),
        (check("http"), "url", "missing", URL),
        (check("http", url="ftp://x/"), "url", "found 'ftp://x/'", URL),
        (check("http", url="http:///x"), "url", "found 'http:///x'", URL),
        (check("http", url="http://u:p@x"), "url", "found 'http://u:p@x'", "without a user and a password"),
        (check("http", url="http://x/a b"), "url", "found 'http://x/a b'", "printable ASCII characters"),
        (check("http", url="http://x:99999"), "url", "found 'http://x:99999'", "Port out of range 0-65535"),
        (check("http", url="http://x/", status=99), "status", "found 99", "a status from 100 to 599"),
        (check("command"), "run", "missing", "text for the shell"),
        (check("service", name="*"), "name", "found '*'", "the name of a unit: letters"),
    ],
)
def test_what_a_kind_cannot_use_is_refused(given: Check, key: str, found: str, wanted: str) -> None:
    [fault] = check_faults(given)
    assert (fault.key, fault.found) == (key, found)
    assert wanted in fault.wanted
    checked = one(given)
    assert (checked.passed, checked.detail) == (False, str(fault))


def test_what_a_kind_can_use_has_no_fault() -> None:
    good: list[Mapping[str, Any]] = [
        {"kind": "tcp", "port": 65535, "host": "::1", "seconds": 0.5},
        {"kind": "http", "url": "https://[::1]:8443/a?b=c", "status": 204, "contains": "x"},
        {"kind": "command", "run": "true"},
        {"kind": "service", "name": "web"},
    ]
    assert {given["kind"] for given in good} == set(KINDS)
    for given in good:
        attributes = {key: value for key, value in given.items() if key != "kind"}
        assert list(check_faults(check(given["kind"], **attributes))) == []


def test_a_kind_that_is_not_known_did_not_pass() -> None:
    assert list(check_faults(check("icmp", host="x"))) == []  # the control plane's lint tells of it
    why = "this host knows no check 'icmp' (it knows command, http, service, tcp)"
    assert one(check("icmp", host="x")) == Checked(module="web", kind="icmp", passed=False, detail=why)


def test_nothing_runs_under_a_root(tmp_path: Path) -> None:
    def never(command: Command) -> Ended:
        raise AssertionError(command)

    asked = [Asked(module="web", check=check("command", run="true"))]
    assert run_checks(asked, machine_with(never, tmp_path)) == ()


def test_a_port(port: int, closed: int) -> None:
    assert one(check("tcp", port=port)).detail == f"127.0.0.1:{port} accepts connections"
    refused = one(check("tcp", port=closed, seconds=0.3))
    assert (refused.passed, refused.detail) == (False, f"127.0.0.1:{closed}: Connection refused")
    nowhere = one(check("tcp", host="no-such-host.invalid", port=closed, seconds=0.5))
    assert not nowhere.passed
    assert "no-such-host.invalid" in nowhere.detail


@pytest.mark.parametrize(
    ("path", "more", "passed", "detail"),
    [
        ("200", {}, True, "answers 200"),
        ("204", {}, True, "answers 204"),
        ("302", {}, True, "answers 302"),  # and nobody went where it leads, where nobody listens
        ("404", {}, False, "answers 404, not 200 to 399"),
        ("500", {}, False, "answers 500, not 200 to 399"),
        ("404", {"status": 404}, True, "answers 404"),
        ("200", {"status": 204}, False, "answers 200, not 204"),
        ("200", {"contains": "Welcome"}, True, "answers 200"),
        ("200?q=1", {"contains": "/200?q=1"}, True, "answers 200"),
        ("200", {"contains": "Goodbye"}, False, "answers 200, and 'Goodbye' is not in the answer"),
    ],
)
def test_an_answer(port: int, path: str, more: Mapping[str, object], passed: bool, detail: str) -> None:
    url = f"http://127.0.0.1:{port}/{path}"
    checked = one(check("http", url=url, seconds=0.3, **more))
    assert (checked.passed, checked.detail) == (passed, f"{url} {detail}")


def test_no_answer(closed: int, port: int) -> None:
    url = f"http://127.0.0.1:{closed}/"
    assert one(check("http", url=url, seconds=0.3)).detail == f"{url}: Connection refused"
    began = time.monotonic()
    url = f"http://127.0.0.1:{port}/drip"
    assert one(check("http", url=url, seconds=0.6)).detail.startswith(f"{url}: no answer within 0.")
    assert time.monotonic() - began < 5
    no_tls = one(check("http", url=f"https://127.0.0.1:{port}/200", seconds=0.3))
    assert not no_tls.passed


def test_one_that_says_nothing_is_not_waited_for_longer_than_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        began = time.monotonic()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        checked = one(check("http", url=url, seconds=0.5))
        assert not checked.passed
        assert time.monotonic() - began < 5


def test_a_command() -> None:
    assert one(check("command", run="true")).detail == "true: ended well"
    failed = one(check("command", run="echo no disk; exit 3", seconds=0.3))
    assert (failed.passed, failed.detail) == (False, "echo no disk; exit 3: no disk")
    late = one(check("command", run="sleep 60", seconds=0.4))
    assert not late.passed
    assert "it took longer than 0.4 s and was ended" in late.detail


def test_a_service() -> None:
    systemd = FakeSystemd(units={"web.service": FakeUnit(active="active", sub="running")})
    assert one(check("service", name="web"), systemd.run).detail == "web.service is active (running)"
    other = one(check("service", name="other", seconds=0.3), systemd.run)
    assert (other.passed, other.detail) == (False, "other.service is inactive (dead)")


def test_what_needs_a_moment_is_waited_for() -> None:
    tries: list[str] = []

    def third_time(command: Command) -> Ended:
        tries.append("tried")
        return ended(command, code=0 if len(tries) == 3 else 1)

    assert one(check("command", run="x"), third_time).passed
    assert len(tries) == 3


def test_all_wait_together_and_are_told_in_order() -> None:
    """Each failing one has its second; the last is looked at although the others are still waiting."""
    tried: list[str] = []

    def never(command: Command) -> Ended:
        tried.append(command.argv[2])
        return ended(command, code=0 if command.argv[2] == "good" else 1)

    runs = [*(f"bad {n}" for n in range(9)), "good"]
    asked = [Asked(module=text, check=check("command", run=text, seconds=1)) for text in runs]
    began = time.monotonic()
    checked = run_checks(asked, machine_with(never))
    assert time.monotonic() - began < 5
    assert [one.module for one in checked] == runs
    assert [one.passed for one in checked] == [False] * 9 + [True]
    assert tried[:10] == runs
    assert tried.count("good") == 1
    assert tried.count("bad 0") > 2
