"""`mesh push` and `mesh collect`: what is sent, what waits and why, and how it is said."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.opening import open_broker, open_host
from mesh_core.model.said import Doing, Report
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
