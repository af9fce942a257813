"""`mesh status`, and the state in `mesh node list` and `mesh node show`, on a store with a history."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import pytest

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.opening import open_broker, open_host
from mesh_cli import wiring, wiring_flows
from mesh_core.model.node import Capability
from mesh_core.model.said import Doing, Report
from mesh_core.model.sent import Sent
from mesh_core.ports import Session
from mesh_core.wire.said import report_to_bytes
from tests.integration.cli.program import environment, mesh, nothing_written, ok, started

HELD = "service web: port 8080 is held by pid 812; the rest is applied"
ODD = "[red]/etc/motd[/red] \x1b[31mwas \u202eedited"


def ago(seconds: float) -> str:
    """An instant so long ago, as a store keeps it."""
    return (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.fixture
def standing_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program's clock stands: what is told twice has the same ages, however long this machine takes."""
    stands = datetime.now(UTC)

    class Standing(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(stands.timestamp(), tz)

    monkeypatch.setattr(wiring, "datetime", Standing)


@contextmanager
def writing(store: Path) -> Iterator[Session]:
    with wiring.opened_store(store) as opened, opened.writing() as session:
        yield session


def send(session: Session, node: str, generation: int, *, confirmed: bool = True) -> None:
    sent = Sent(node=node, generation=generation, fingerprint=f"f{generation}", modules=["web"], at=ago(60))
    session.send(sent, b"{}")
    if confirmed:
        session.published(node, generation)


def hear(session: Session, node: str, seconds: float, **said: Any) -> None:
    """What a node's own machine has said, so long ago."""
    session.seen(node, "m", ago(seconds))
    session.hear(Report(node=node, machine="m", **said), ago(seconds))


@contextmanager
def broker_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryAddress]:
    """A broker inside this process, with the queues of every node."""
    address = MemoryAddress(name=uuid4().hex)
    broker = open_broker(address)
    broker.add_nodes(["nas", "pi"])
    with monkeypatch.context() as patched:
        patched.setenv("MESH_BROKER", str(address))
        yield address
    broker.close()


@pytest.fixture
def fleet(store: Path) -> Path:
    """Nodes in every state, and none of them refused by the mesh but attic."""
    ok("node", "add", "attic", "car", "loft", "shed", "tv", "vps")
    assert mesh("assign", "attic", "nothing", "--anyway").code == 0
    with writing(store) as session:
        send(session, "nas", 43)
        hear(session, "nas", 8, generation=43, applied=43, modules=["postgres", "zsh"])
        send(session, "pi", 43)
        hear(session, "pi", 5, generation=43, applied=43, doing=Doing.FAILED, why=[HELD], left_out=2)
        send(session, "attic", 43)
        hear(session, "attic", 9, generation=43, applied=43)
        send(session, "car", 41)
        hear(session, "car", 3 * 86400 + 60, generation=41, applied=41)
        send(session, "car", 43)
        send(session, "loft", 7, confirmed=False)
        send(session, "shed", 3)
        hear(session, "shed", 9, generation=2, applied=2, doing=Doing.REFUSED, refused=3)
        session.seen("shed", "another", ago(3))
        hear(session, "vps", 9, generation=43, applied=43, doing=Doing.DRIFTED, why=[ODD])
    return store


def table(printed: str) -> dict[str, list[str]]:
    """By node, the cells of its first line."""
    (block,) = [block for block in printed.split("\n\n") if block.startswith("NODE")]
    head, *lines = block.splitlines()
    assert re.split(r"  +", head) == ["NODE", "WANTS", "HAS", "STATE", "LAST SEEN", "WHY"]
    cells = [re.split(r"  +", line, maxsplit=5) for line in lines if not line.startswith(" ")]
    return {name: rest for name, *rest in cells}


def test_the_table_has_every_node_with_what_it_wants_and_has_and_why(fleet: Path) -> None:
    with nothing_written(fleet):
        printed = ok("status").out
    found = table(printed)
    assert found["nas"][:3] == ["43", "43", "applied"]
    assert re.fullmatch(r"\d+ s", found["nas"][3])
    assert found["pi"][:3] == ["43", "43", "failed"]
    assert found["pi"][4] == HELD
    assert "2 more lines did not fit into its report" in printed
    assert found["attic"][:3] == ["43", "43", "refused"]
    assert found["attic"][4].startswith("'nothing' is assigned to attic, and no module in the catalogue")
    assert found["car"] == ["43", "41", "silent", "3 d", "gets 43 when it returns"]
    assert found["loft"] == ["7", "-", "never seen", "-", "7 is not at the broker yet; `mesh push` sends it"]
    assert found["shed"][2] == "refused"
    assert found["shed"][4] == "it refused 3, and keeps 2"
    assert "1 other machine speaks under its name, and nothing is sent there: another" in printed
    assert found["tv"] == ["-", "-", "never seen", "-"]
    assert found["vps"][:3] == ["-", "43", "drifted"]
    assert printed.splitlines()[-2:] == [
        "1 applied, 1 drifted, 1 failed, 2 refused, 1 silent, 2 never seen",
        "1 node has something that is not at the broker yet: loft.      Next: mesh push",
    ]


def test_a_report_that_waited_at_the_broker_is_as_old_as_it_is(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that is dead for a month is not `applied`, since somebody took in what it said last."""
    with broker_of(monkeypatch) as address:
        said = Report(node="pi", machine="m", doing=Doing.APPLIED, at=ago(30 * 86400 + 60))
        has, at = [Capability(name="systemd")], "1970-01-01T00:02:11Z"
        wrong = Report(node="nas", machine="n", doing=Doing.APPLIED, capabilities=has, at=at)
        for report in (said, wrong):
            open_host(address, report.node).report(report_to_bytes(report))
        assert ok("collect").out.splitlines() == ["nas: applied", "pi: applied (said 30 d ago)"]
    printed = ok("status").out
    assert table(printed)["pi"] == ["-", "-", "silent", "30 d"]
    assert table(printed)["nas"][2] == "applied"
    assert "its clock or the one here is wrong: its report was taken in at 20" in printed
    assert ", and says that it was sent at 1970-01-01T00:02:11Z" in printed
    assert [one["clock"] for one in ok("status", "--json").json["nodes"].values()] == ["behind", None]


def test_user_text_is_shown_and_never_acted_on(fleet: Path) -> None:
    for line in ("status", "status vps", "node show vps"):
        printed = ok(*line.split()).out
        assert r"[red]/etc/motd[/red] \x1b[31mwas \u202eedited" in printed
        assert not set(printed) & set("\x1b\u202e")


def test_as_json_every_node_has_codes_and_all_lines(fleet: Path) -> None:
    with nothing_written(fleet):
        nodes = ok("status", "--json").json["nodes"]
    assert [*nodes] == ["attic", "car", "loft", "nas", "pi", "shed", "tv", "vps"]
    assert nodes["car"].pop("seen_at") < ago(3 * 86400)
    assert nodes["car"].pop("silent_for") in range(3 * 86400 + 60, 3 * 86400 + 120)
    assert nodes["car"] == {
        "wants": 43,
        "has": 41,
        "state": "silent",
        "why": ["gets 43 when it returns"],
        "left_out": 0,
        "pending": False,
        "modules": [],
        "strangers": [],
        "healthy": None,
        "problems": [],
        "turned_down": None,
        "unsent": None,
        "clock": None,
    }
    assert nodes["nas"]["modules"] == ["postgres", "zsh"]
    assert (nodes["pi"]["why"], nodes["pi"]["left_out"]) == (
        [HELD, "2 more lines did not fit into its report"],
        2,
    )
    assert (nodes["tv"]["state"], nodes["tv"]["seen_at"]) == ("never-seen", None)
    assert (nodes["loft"]["pending"], nodes["shed"]["strangers"]) == (True, ["another"])
    assert (nodes["shed"]["turned_down"], nodes["vps"]["unsent"]) == (3, 43)
    assert nodes["attic"]["problems"] == ["unknown-module"]
    assert "silent_for" not in nodes["nas"]


def test_some_nodes_are_asked_for_by_name(fleet: Path) -> None:
    assert [*table(ok("status", "pi", "car").out)] == ["car", "pi"]
    assert [*ok("status", "pi", "--json").json["nodes"]] == ["pi"]
    ran = mesh("status", "nas", "shedd")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith("there is no node or module 'shedd'; near: shed")


def test_of_many_lines_the_table_has_a_few_and_the_node_itself_all(store: Path) -> None:
    with writing(store) as session:
        many = [f"file /etc/{n}: read-only" for n in range(9)]
        hear(session, "pi", 1, doing=Doing.FAILED, why=many)
    printed = ok("status").out
    assert "/etc/2" in printed
    assert "/etc/3" not in printed
    assert "6 more lines: mesh status pi" in printed
    for line in ("status pi", "node show pi"):
        assert all(why in ok(*line.split()).out for why in many)


def test_a_store_that_sent_nothing_yet_is_calm(store: Path, empty: Path) -> None:
    assert ok("status").out.splitlines() == [
        "NODE  WANTS  HAS  STATE       LAST SEEN  WHY",
        "nas   -      -    never seen  -",
        "pi    -      -    never seen  -",
        "",
        "2 never seen",
        "Nothing was sent to any of them yet.      Next: mesh push",
    ]
    ok("node", "remove", "pi", "--yes")
    ok("node", "remove", "nas", "--yes")
    assert ok("status").out == "there are no nodes yet; add one: mesh node add NAME\n"
    assert ok("status", "--json").json["nodes"] == {}


def test_reports_that_wait_at_the_broker_are_told_and_left_there(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "waiting" not in ok("status", "--json").json, "no broker is named"
    with broker_of(monkeypatch) as address:
        assert "at the broker" not in ok("status").out
        open_host(address, "pi").report(report_to_bytes(Report(node="pi", machine="m")))
        for _ in range(2):
            last = ok("status").out.splitlines()[-1]
            assert last == "reports of 1 node wait at the broker: pi.      Next: mesh collect"
        told = {"nodes": ["pi"], "all_asked": True, "why_not": None}
        assert ok("status", "--json").json["waiting"] == told
        assert "at the broker" not in ok("status", "nas").out, "it was asked of the other alone"
        assert "at the broker" not in ok("status", "--no-look").out
        ok("collect")
        assert "at the broker" not in ok("status").out


@pytest.fixture
def frozen() -> Iterator[int]:
    """The port of something that takes connections, and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def test_a_broker_that_does_not_answer_is_waited_for_a_second_and_no_fault(store: Path, frozen: int) -> None:
    place = store.parent / "broker.json"
    place.write_text('{"account": "mesh", "password": "secret"}')
    place.chmod(0o600)
    for port, why in ((frozen, "no answer came in time"), (1, "nobody answers there")):
        named = {"MESH_BROKER": f"amqp://127.0.0.1:{port}", "MESH_BROKER_CREDENTIAL": str(place)}
        with pytest.MonkeyPatch.context() as patched:
            for variable, value in named.items():
                patched.setenv(variable, value)
            begun = time.monotonic()
            last = ok("status").out.splitlines()[-1]
            assert time.monotonic() - begun < 4.5, "elsewhere it is waited for for 5 s"
            assert not ok("status", "--json").json["waiting"]["nodes"]
        where = f"amqp://127.0.0.1:{port} is out of reach"
        assert last.startswith(f"what waits at the broker is not known: {where}: {why}")


def test_a_broker_that_nobody_could_ask_is_no_fault_either(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESH_BROKER", "amqp://nas")
    assert "is not known: there is no credential for amqp://nas" in ok("status").out
    monkeypatch.setenv("MESH_BROKER", "http://nas")
    assert "is not known: MESH_BROKER" in ok("status").out


def test_where_there_is_no_time_to_ask_for_all_it_says_so(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring_flows, "_NODES_AT_ONCE", 1)
    monkeypatch.setattr(wiring_flows, "LOOK_SECONDS", -1.0)
    with broker_of(monkeypatch) as address:
        for node in ("nas", "pi"):
            open_host(address, node).report(report_to_bytes(Report(node=node, machine=node)))
        assert "reports of at least 1 node wait at the broker: nas." in ok("status").out


def test_node_list_and_node_show_say_the_same(fleet: Path) -> None:
    whole = ok("status", "--json").json["nodes"]
    for entry in ok("node", "list", "--json").json["nodes"]:
        state = whole[entry["name"]]
        assert state.items() <= entry.items() or "silent_for" in state
        assert entry["status"] in ("planned", "refused")
        shown = ok("node", "show", entry["name"], "--json").json
        assert state.items() <= shown.items() or "silent_for" in state
        assert shown["state"] == entry["state"] == state["state"]
    head, *lines = ok("node", "list").out.splitlines()
    columns = ["NODE", "PLAN", "MODULES", "TAKES FROM", "WANTS", "HAS", "STATE", "LAST SEEN", "CAPABILITIES"]
    assert re.split(r"  +", head) == columns
    cells = {line.split()[0]: re.split(r"  +", line) for line in lines}
    assert cells["car"][4:8] == ["43", "41", "silent", "3 d"]
    assert cells["nas"][1] == "planned"
    shown_lines = [re.split(r"  +", line) for line in ok("node", "show", "car").out.splitlines()]
    for row in (["wants", "43"], ["has", "41"], ["state", "silent"], ["last seen", "3 d"]):
        assert row in shown_lines
    assert ["why", "gets 43 when it returns"] in shown_lines
    assert ["runs", "postgres, zsh"] in [
        re.split(r"  +", x) for x in ok("node", "show", "nas").out.splitlines()
    ]


def line_of(running: subprocess.Popen[bytes]) -> str:
    """What it printed next, within a while; no more is read, since nobody waits for what lies in a buffer."""
    assert running.stdout is not None
    line = b""
    while not line.endswith(b"\n"):
        assert select.select([running.stdout], [], [], 20)[0], f"it says no more than {line!r}"
        more = os.read(running.stdout.fileno(), 1)
        assert more, "it has ended"
        line += more
    return line.decode()


def stopped(running: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    return running.returncode, out, err


def test_who_watches_in_a_pipe_gets_a_line_for_each_change(store: Path) -> None:
    with started("status", "--watch") as running:
        assert line_of(running) == "nas  wants -, has -: never seen\n"
        assert line_of(running) == "pi  wants -, has -: never seen\n"
        with writing(store) as session:
            hear(session, "pi", 0, generation=2, applied=2, doing=Doing.FAILED, why=[HELD])
        assert line_of(running).startswith(
            "pi  wants -, has 2: failed   it was sent 2, and not by this store"
        )
        with writing(store) as session:
            session.seen("pi", "m", ago(0))
            send(session, "pi", 3)
        assert line_of(running).startswith(
            "pi  wants 3, has 2: waiting   has not taken 3 yet; last said: fail"
        )
        ok("node", "remove", "pi", "--anyway")
        assert line_of(running) == "pi  is no node any more\n"
        assert stopped(running) == (130, b"", b"stopped watching\n")


def test_as_json_it_is_an_object_for_each_change(store: Path) -> None:
    with started("status", "pi", "--watch", "--json") as running:
        first = json.loads(line_of(running))
        assert (first["format"], first["nodes"]["pi"]["state"]) == (1, "never-seen")
        with writing(store) as session:
            hear(session, "pi", 0)
        assert json.loads(line_of(running))["nodes"]["pi"]["state"] == "applied"
        ok("node", "remove", "pi", "--anyway")
        assert json.loads(line_of(running))["nodes"] == {"pi": None}
        code, out, _ = stopped(running)
        assert (code, json.loads(out)["error"]["code"]) == (130, "interrupted")


def test_who_has_had_enough_of_watching_closes_the_pipe(store: Path) -> None:
    with started("status", "--watch") as running:
        line_of(running)
        assert running.stdout is not None
        running.stdout.close()
        with writing(store) as session:
            hear(session, "pi", 0)
        assert running.wait(timeout=20) == 0


def test_on_a_terminal_the_table_is_drawn_again(store: Path) -> None:
    leader, follower = pty.openpty()
    with started("status", "--watch", terminal=follower, env=environment(TERM="xterm")) as running:
        os.close(follower)
        printed = b""
        while printed.count(b"\x1b[H\x1b[J") < 2:
            assert select.select([leader], [], [], 20)[0]
            printed += os.read(leader, 65536)
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=20) == 130
    os.close(leader)
    assert printed.count(b"NODE  WANTS  HAS  STATE") >= 1


def test_states_have_colours_on_a_terminal_and_none_elsewhere(
    fleet: Path, standing_clock: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = ok("status").out
    assert "\x1b" not in plain
    monkeypatch.setattr("mesh_cli.render.status.styled", lambda text, colour: f"<{colour}>{text}</>")
    printed = ok("status").out
    assert "<green>applied</>" in printed
    assert "<red>failed</>" in printed
    assert re.sub(r"</?[a-z]*>", "", printed) == plain, "and columns stay where they are"
