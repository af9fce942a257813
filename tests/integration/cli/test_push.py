"""`mesh push` and `mesh collect`: what is sent, what waits and why, and how it is said."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.opening import open_broker, open_host
from mesh_cli.main import run
from mesh_core.model.said import Doing, Report
from mesh_core.ports import BrokerUnreachable, Unreachable
from mesh_core.wire.declaration import read_declaration
from mesh_core.wire.said import report_to_bytes
from tests.integration.cli.program import Ran, mesh, ok

MOTD = """
format = 1
modules = [
  {name = "motd", version = "1", resources = [{kind = "file", path = "/etc/motd", content = "hello"}]},
  {name = "postgres", version = "16", provides = [{name = "database", scope = "mesh"}]},
  {name = "web", version = "1", requires = ["database"]},
]
nodes = [
  {name = "nas", assign = ["postgres"]},
  {name = "pi", assign = ["web"]},
  {name = "vps", assign = ["motd"]},
]
"""


@pytest.fixture
def name(monkeypatch: pytest.MonkeyPatch) -> str:
    """An in-process broker of its own."""
    name = uuid4().hex
    monkeypatch.setenv("MESH_BROKER", f"memory://{name}")
    return name


@pytest.fixture
def there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> str:
    """A store with a mesh, and the name of its broker."""
    monkeypatch.setenv("MESH_STORE", str(tmp_path / "mesh.db"))
    document = tmp_path / "mesh.toml"
    document.write_text(MOTD)
    ok("init")
    ok("import", document)
    broker = open_broker(MemoryAddress(name=name))
    broker.add_nodes(["nas", "pi", "vps"])
    broker.close()
    return name


def objects(ran: Ran) -> list[dict[str, Any]]:
    """The stream, one object a line."""
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert all(one["format"] == 1 for one in found)
    return found


def say(name: str, node: str, generation: int, **more: Any) -> None:
    """A machine reports."""
    host = open_host(MemoryAddress(name=name), node)
    given: dict[str, Any] = {"machine": node, "applied": generation, "doing": Doing.APPLIED} | more
    host.report(report_to_bytes(Report(node=node, generation=generation, **given)))
    host.close()


def taken(name: str, node: str) -> int | None:
    """The generation that waited for a node."""
    host = open_host(MemoryAddress(name=name), node)
    delivery = host.take(0)
    if delivery is None:
        return None
    delivery.ack()
    assert isinstance(delivery.content, bytes)
    return read_declaration(delivery.content).generation


def test_each_node_is_sent_its_own_and_then_nothing(there: str) -> None:
    ran = ok("push")
    assert ran.out.splitlines() == [
        "nas  sent generation 1",
        "pi   sent generation 1",
        "vps  sent generation 1",
        "3 sent",
    ]
    assert [taken(there, node) for node in ("nas", "pi", "vps")] == [1, 1, 1]
    assert ok("push").out == "3 unchanged\n"
    assert taken(there, "nas") is None


def test_dry_run_sends_and_writes_nothing_and_needs_no_broker(
    there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MESH_BROKER")
    ran = ok("push", "--dry-run")
    assert ran.out.splitlines()[-2:] == ["3 would be sent", "nothing was sent: --dry-run"]
    assert ok("push", "--dry-run").out == ran.out


def test_a_refused_node_is_told_with_its_reasons_and_the_others_go_out(there: str) -> None:
    """> Refused nodes keep what they had and are listed with their reasons, the others go out (exit 4)"""
    mesh("assign", "vps", "ghost", "--anyway")
    ran = mesh("push")
    assert ran.code == 4
    assert "'ghost'" in ran.out
    assert ran.out.splitlines()[-1] == "2 sent, 1 refused"
    assert taken(there, "vps") is None


def test_a_moved_answer_waits_and_says_how_to_let_it_go(there: str) -> None:
    ok("push")
    ok("assign", "vps", "postgres", "--anyway")
    ok("unassign", "nas", "postgres", "--anyway")
    ran = mesh("push", "pi")
    assert ran.code == 4
    assert "pi  waits: its database would come from vps (postgres), and came from nas (postgres)" in ran.out
    assert "mesh push --move pi/database" in ran.out
    assert ok("push", "pi", "--move", "pi/database").out.splitlines()[-1] == "1 sent"


def test_an_empty_node_needs_the_word_and_plan_says_so_beforehand(there: str) -> None:
    """> `plan` and `push --dry-run` say beforehand which nodes need which"""
    ok("push")
    ok("unassign", "vps", "motd")
    word = "mesh push vps --allow-removals vps"
    assert word in mesh("plan").out
    assert word in mesh("push", "--dry-run").out
    assert mesh("push").code == 4
    assert ok("push", "--allow-removals", "vps").out.splitlines()[0] == "vps  sent generation 2"


def test_a_plan_that_is_not_the_one_that_was_shown_is_not_sent(there: str) -> None:
    """> `--plan FINGERPRINT` refuses if the mesh has moved since that plan was shown"""
    shown = mesh("plan").out.split()[1]
    ok("assign", "nas", "motd")
    ran = mesh("push", "--plan", shown)
    assert ran.code == 3
    assert "has moved since" in ran.err
    assert taken(there, "nas") is None
    assert mesh("push", "--plan", mesh("plan").out.split()[1]).code == 0


@pytest.mark.parametrize("length", [0, 1, 6])
def test_a_fingerprint_that_is_too_short_names_no_plan(there: str, length: int) -> None:
    shown = mesh("plan").out.split()[1]
    assert mesh("push", "--plan", shown[:length]).code == 3
    assert taken(there, "nas") is None


def test_json_is_one_object_a_line(there: str) -> None:
    events = objects(ok("push", "--json"))
    assert [event["event"] for event in events] == ["plan", *["decided"] * 3, *["sent"] * 3, "ended"]
    assert events[4] == {"format": 1, "event": "sent", "node": "nas", "generation": 1}


@contextmanager
def answering(name: str, **doing: Doing) -> Iterator[None]:
    """Hosts at work: each reports, of what it is sent, what the test says."""
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.01):
            for node, how in doing.items():
                generation = taken(name, node)
                if generation is not None:
                    why = ["file /etc/motd: the disk is full"] if how is Doing.FAILED else []
                    say(name, node, generation, doing=how, why=why)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_wait_says_how_each_machine_took_it(there: str) -> None:
    with answering(there, nas=Doing.APPLIED, pi=Doing.DRIFTED, vps=Doing.FAILED):
        ran = mesh("push", "--wait", "--timeout", "20")
    assert ran.code == 4
    assert "vps  failed after 0 s   file /etc/motd: the disk is full" in ran.out
    assert "nas  applied after 0 s" in ran.out


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., tuple[int, str]]]:
    """Runs a command whose stdout is a terminal of 40 lines: how it ended, and all that was written."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 100, 0, 0))
    monkeypatch.setenv("TERM", "xterm")
    written = bytearray()

    def read() -> None:
        with suppress(OSError):  # which is how a terminal ends
            while some := os.read(leader, 65536):
                written.extend(some)

    def command(*arguments: object) -> tuple[int, str]:
        reading = threading.Thread(target=read)
        reading.start()
        with open(follower, "w", encoding="utf-8") as stdout, redirect_stdout(stdout):
            code = int(run([str(argument) for argument in arguments]))
        reading.join(timeout=20)
        return code, written.decode()

    yield command
    os.close(leader)


def shown(written: str) -> list[str]:
    """The lines that are left on a terminal in the end, above where it would go on."""
    lines, at = [""], 0
    for token in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|\r|\n|[^\x1b\r\n]+", written):
        if token == "\n":
            at += 1
            lines += [""] * (at + 1 - len(lines))
        elif token == "\x1b[1A":
            at -= 1
        elif token == "\x1b[2K" or token == "\x1b[K":
            lines[at] = ""
        elif not token.startswith(("\x1b", "\r")):
            lines[at] += token
    return [line.rstrip() for line in lines[: at + 1]]


def test_on_a_terminal_there_is_a_table_that_is_drawn_again_and_stays(
    there: str, terminal: Callable[..., tuple[int, str]]
) -> None:
    with answering(there, nas=Doing.APPLIED, vps=Doing.FAILED):
        code, written = terminal("push", "--wait", "--timeout", "1.5")
    assert code == 4
    head = "NODE  SENT  STATE    TIME  WHY"
    assert written.count("NODE  SENT  STATE") > 3, "it is drawn again and again"
    assert "taking in what the machines have said ..." in written
    assert "3 nodes at work (ctrl-c stops watching, not the change)" in written
    left = shown(written)
    assert left[:2] == ["3 sent", ""]
    assert left[2] == head
    assert [re.sub(r"\d s", "_ s", line) for line in left[3:]] == [
        "nas   1     applied  _ s",
        "pi    1     sent     _ s   was never seen; it gets it when it says hello",
        "vps   1     failed   _ s   file /etc/motd: the disk is full",
        "",
        "1 applied, 1 failed, 1 waiting",
        "",
    ]
    assert "\x1b[32mapplied" in written


def test_an_outage_on_a_terminal_stands_on_a_line_of_its_own(
    there: str, terminal: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> None:
        raise BrokerUnreachable("memory://", Unreachable.NO_ANSWER, "nobody answers")

    monkeypatch.setattr("mesh_adapters.flows.push._publish", away)
    code, written = terminal("push", "nas")
    assert code == 5
    assert "sending, 0 of 1 are sent ..." in written
    assert shown(written) == [""], "what went on when it ended is not left there"


def test_without_wait_a_terminal_has_the_same_lines_as_a_pipe(
    there: str, terminal: Callable[..., tuple[int, str]]
) -> None:
    code, written = terminal("push")
    assert code == 0
    sent = [f"{node.ljust(3)}  sent generation 1" for node in ("nas", "pi", "vps")]
    assert shown(written) == [*sent, "3 sent", ""]
    assert "sending, 0 of 3 are sent ..." in written


def test_where_ctrl_c_ends_it_the_table_stays_as_it_was(
    there: str, terminal: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mesh_adapters.flows.collect.collect_for", pressed)
    monkeypatch.setattr("mesh_cli.wiring_flows.collect", lambda *_: None)
    code, written = terminal("push", "nas", "--wait")
    assert code == 130
    assert shown(written)[-4:] == [
        "nas   1     sent   0 s   was never seen; it gets it when it says hello",
        "",
        "1 waiting",
        "",
    ]
    assert taken(there, "nas") == 1


def test_many_nodes_are_sent_a_part_at_a_time(
    there: str, terminal: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesh_cli.wiring_flows._PUBLISHED_AT_ONCE", 2)
    monkeypatch.setattr("mesh_cli.wiring_flows._PARTS", 2)
    code, written = terminal("push")
    assert code == 0
    assert re.findall(r"(\d of \d) are sent", written) == ["0 of 3", "2 of 3"]
    assert [taken(there, node) for node in ("nas", "pi", "vps")] == [1, 1, 1]
    assert ok("push").out == "3 unchanged\n"


def test_one_that_says_the_same_again_is_no_news(there: str) -> None:
    """A host that is long at work says so every few minutes, with another instant each time."""
    instants = [f"2027-01-01T00:00:0{n}Z" for n in range(4)]

    def again() -> None:
        while taken(there, "nas") is None:
            time.sleep(0.01)
        for at in instants:
            say(there, "nas", 1, applied=None, doing=Doing.APPLYING, at=at)
            time.sleep(0.1)
        say(there, "nas", 1, at=instants[-1])

    host = threading.Thread(target=again)
    host.start()
    ran = ok("push", "nas", "--wait", "--timeout", "20")
    host.join()
    assert [line.split(" after")[0] for line in ran.out.splitlines()[2:]] == ["nas  taken", "nas  applied"]


def test_wait_ends_well_where_all_machines_do(there: str) -> None:
    with answering(there, nas=Doing.APPLIED):
        assert ok("push", "nas", "--wait", "--timeout", "20", "--json").code == 0


def test_wait_ends_with_4_where_a_machine_says_nothing(there: str) -> None:
    assert mesh("push", "nas", "--wait", "--timeout", "0.1").code == 4
    assert mesh("push", "nas").code == 0, "one that is merely away is no failure otherwise"


def test_collect_takes_in_what_waits_and_says_it(there: str) -> None:
    ok("push")
    say(there, "nas", 1)
    say(there, "pi", 1, machine="one")
    assert ok("collect").out.splitlines() == ["nas: applied generation 1", "pi: applied generation 1"]
    assert ok("collect").out == "nothing was waiting\n"
    say(there, "pi", 1, machine="another")
    found = ok("collect", "--json").json
    assert found["strangers"] == {"pi": "another"}


def test_what_a_killed_push_left_goes_out_with_the_next(there: str) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("mesh_adapters.flows.push._publish", _killed)
        with pytest.raises(_Killed):
            mesh("push")
    assert taken(there, "nas") is None
    ran = ok("push")
    assert ran.out.splitlines()[0] == "nas  sent generation 1, which had waited"
    assert taken(there, "nas") == 1


class _Killed(Exception):
    pass


def _killed(*_: object) -> None:
    raise _Killed


@pytest.mark.parametrize("more", [[], ["nas"], ["--wait"], ["--what-is-this"]])
def test_the_old_name_says_the_new_one_before_anything_is_opened(
    more: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """> An old name, `mesh overlay push`, answers `use: mesh push`, exit 64"""
    monkeypatch.setenv("MESH_STORE", "/nowhere/at/all")
    ran = mesh("overlay", "push", *more)
    assert (ran.code, ran.err) == (64, "use: mesh push\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nass"], 1, "near: nas"),
        (["--move", "pi"], 64, "--move wants NODE/PROVISION"),
        (["--move", "ghost/database"], 1, "there is no node 'ghost'"),
        (["--allow-removals", "ghost"], 1, "there is no node 'ghost'"),
    ],
)
def test_what_is_not_there_is_told(there: str, words: list[str], code: int, said: str) -> None:
    ran = mesh("push", *words)
    assert ran.code == code
    assert said in ran.err
    assert taken(there, "nas") is None


def test_plan_tells_of_a_manifest_that_changed_and_a_push_sends_it(there: str, tmp_path: Path) -> None:
    """What a push would send is a change, although every module keeps its name."""
    ok("push")
    assert "3 unchanged" in ok("plan").out
    motd = tmp_path / "motd.toml"
    motd.write_text('name = "motd"\nversion = "2"\nresources = [{kind = "directory", path = "/srv"}]\n')
    ok("module", "add", motd)
    told = ok("plan").out
    assert "1 node changes, 2 unchanged" in told
    assert re.search(r"^vps +~ motd 2 +assigned$", told, re.MULTILINE)
    assert told.splitlines()[-1] == "0 to add, 1 to change, 0 to remove.      Next: mesh push"
    assert mesh("plan", "--detailed-exitcode").code == 2
    ok("push")
    assert mesh("plan", "--detailed-exitcode").code == 0


def test_plan_tells_of_what_is_only_told_otherwise(there: str, tmp_path: Path) -> None:
    ok("push")
    postgres = tmp_path / "postgres.toml"
    exports = '{name = "database", scope = "mesh", exports = {port = "5433"}}'
    postgres.write_text(f'name = "postgres"\nversion = "16"\nprovides = [{exports}]\n')
    ok("module", "add", postgres)
    told = ok("plan").out
    assert re.search(r"^pi +~ what its modules are told of others$", told, re.MULTILINE)
    assert "nas" not in told.split("nothing to change on")[0]
