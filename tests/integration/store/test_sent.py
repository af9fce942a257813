"""What is sent to nodes: the contract of `Session` and `Store` in `mesh_core.ports`."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.store import SqliteStore
from mesh_core import DropNode, Node, NoSuchNode, PutNode
from mesh_core.model.sent import Offered, Standing
from tests.integration.store.correspondence import FULL, SAID, applied, hear, send, small
from tests.integration.store.helpers import (
    commits,
    counts,
    everything,
    homelab,
    record,
)


@pytest.fixture
def lab(path: Path) -> Iterator[SqliteStore]:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        yield store


# Standings.


def test_every_node_has_a_standing_also_one_with_which_there_was_nothing(lab: SqliteStore) -> None:
    assert lab.standings() == {name: Standing(node=name) for name in ("nas", "pi", "vps")}


def test_what_was_sent_and_heard_is_there_in_another_process_life(path: Path) -> None:
    homelab(path)
    newer = evolve(FULL, generation=6, claims=(), at="t6")
    with closing(SqliteStore.open(path)) as store, store.writing() as session:
        session.send(FULL, b"4")
        session.send(newer, b"\0 6")
        session.published("nas", 4)
        session.hear(SAID, "t7")
        session.seen("nas", "6f3c", "t8")
        session.seen("nas", "other", "t9")
        session.seen("nas", "another", "t9")
        inside = session.standings()
    expected = Standing(
        node="nas",
        last=6,
        sent=(evolve(FULL, published=True), newer),
        report=SAID,
        heard_at="t7",
        seen_at="t8",
        machine="6f3c",
        strangers=("another", "other"),
    )
    assert inside["nas"] == expected
    with closing(SqliteStore.open(path)) as store:
        assert store.standings() == {
            "nas": expected,
            "pi": Standing(node="pi"),
            "vps": Standing(node="vps"),
        }
        assert list(store.standings()) == ["nas", "pi", "vps"]


def test_a_thousand_standings_are_a_handful_of_queries(lab: SqliteStore) -> None:
    names = [f"n{number}" for number in range(1000)]
    record(lab, *(PutNode(node=Node(name=name)) for name in names))
    with lab.writing() as session:
        for name in names:
            session.send(evolve(FULL, node=name), b"")
            session.send(evolve(FULL, node=name, generation=5), b"")
            session.hear(evolve(SAID, node=name), "t")
            session.seen(name, "6f3c", "t")
    asked: list[str] = []
    lab._connection.db.conn.set_trace_callback(asked.append)
    standings = lab.standings()
    lab._connection.db.conn.set_trace_callback(None)
    assert len(standings) == 1003
    assert standings["n999"].sent[-1] == evolve(FULL, node="n999", generation=5)
    assert len([statement for statement in asked if "SELECT" in statement]) <= 10


def test_everything_in_one_session_is_one_commit_or_nothing(lab: SqliteStore, path: Path) -> None:
    record(lab, DropNode(node="vps"))
    before, rows, written = lab.standings(), counts(path), commits(path)

    def half_a_command() -> None:
        with lab.writing() as session:
            session.send(FULL, b"4")
            session.published("nas", 4)
            session.hear(evolve(SAID, generation=9), "t")
            session.seen("nas", "6f3c", "t")
            session.seen("nas", "other", "t")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half_a_command()
    assert (lab.standings(), counts(path)) == (before, rows)
    with lab.writing() as session:
        session.send(FULL, b"4")
        session.hear(SAID, "t")
        session.seen("nas", "6f3c", "t")
        session.give_to_another("nas")
    assert commits(path) == written + 1


def test_a_node_that_is_not_there_is_told_nothing_and_heard_of_nothing(lab: SqliteStore, path: Path) -> None:
    before = counts(path)
    with lab.writing() as session:
        for act in (
            lambda: session.send(small(1, "gone"), b""),
            lambda: session.hear(applied(1, node="gone"), "t"),
            lambda: session.seen("gone", "6f3c", "t"),
        ):
            with pytest.raises(NoSuchNode):
                act()
        session.published("gone", 1)
        session.give_to_another("gone")
    assert counts(path) == before


def test_reading_what_was_sent_changes_no_byte(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        send(store, FULL)
    before = everything(path.parent)
    with closing(SqliteStore.open(path)) as store:
        store.standings()
        store.pending()
        store.newest(["nas"])
    assert everything(path.parent) == before


def test_the_session_is_asked_inside_and_refuses_once_it_has_ended(lab: SqliteStore) -> None:
    with lab.writing() as session:
        for question in (lab.standings, lab.pending, lambda: lab.newest(["nas"])):
            with pytest.raises(RuntimeError):
                question()
    uses: tuple[Callable[[], object], ...] = (
        session.standings,
        lambda: session.send(FULL, b""),
        lambda: session.published("nas", 4),
        lambda: session.hear(SAID, "t"),
        lambda: session.seen("nas", "6f3c", "t"),
        lambda: session.give_to_another("nas"),
    )
    with lab.writing():
        for use in uses:
            with pytest.raises(RuntimeError, match="has ended"):
                use()


# Sending.


@pytest.mark.parametrize("generation", [-1, 0, 3, 4, 2**63])
def test_a_generation_that_is_not_newer_is_not_sent(lab: SqliteStore, path: Path, generation: int) -> None:
    send(lab, FULL)
    before, rows = lab.standings(), counts(path)
    with lab.writing() as session:
        with pytest.raises(ValueError, match="not newer"):
            session.send(small(generation), b"no")
        assert session.standings() == before
    assert (lab.standings(), counts(path), lab.newest(["nas"])) == (before, rows, (("nas", 4, b"nas 4"),))


def test_what_does_not_read_as_it_was_written_is_not_sent(lab: SqliteStore, path: Path) -> None:
    rows = counts(path)
    twice = Offered(provision="database", module="postgres", exports=[("port", "1"), ("port", "2")])
    with lab.writing() as session:
        for bad in (evolve(FULL, offers=[twice]), evolve(FULL, resources=["\ud800"])):
            with pytest.raises(ValueError, match=r"read as it was written|surrogates"):
                session.send(bad, b"no")
    assert counts(path) == rows


def test_a_generation_stays_when_its_node_is_removed_and_goes_on_when_it_is_back(
    lab: SqliteStore, path: Path
) -> None:
    """Design, part 11: "Generations only grow, for a node's name, for ever"."""
    before = counts(path)
    send(lab, FULL)
    hear(lab, SAID)
    with lab.writing() as session:
        session.seen("nas", "6f3c", "t")
        session.seen("nas", "other", "t")
    full = {"sent": 1, "sent_modules": 2, "reports": 1, "running": 2, "machines": 1, "strangers": 1}
    assert counts(path) == before | full | {"generations": 1, "declared": 2}
    record(lab, DropNode(node="nas"))
    found = counts(path)
    assert {name: found[name] for name in full} == dict.fromkeys(full, 0)
    assert found["generations"] == 1
    assert "nas" not in lab.standings()
    record(lab, PutNode(node=Node(name="nas")))
    assert lab.standings()["nas"] == Standing(node="nas", last=4)
    with lab.writing() as session, pytest.raises(ValueError, match="not newer than 4"):
        session.send(small(4), b"")
    send(lab, small(5))
    assert lab.standings()["nas"].sent == (small(5),)


def test_what_is_sent_is_what_was_last_declared(lab: SqliteStore) -> None:
    """Of a module that the catalogue does not have, only the standing knows."""
    send(lab, small(1, "nas", "web", "ghost"), small(1, "pi", "postgres"))
    assert lab.declared() == {"nas": ("web",), "pi": ("postgres",)}
    assert lab.standings()["nas"].sent[0].modules == ("ghost", "web")
    send(lab, small(2))
    assert lab.declared() == {"pi": ("postgres",)}


# Publishing.


def test_pending_is_the_newest_of_each_node_that_nobody_confirmed(lab: SqliteStore) -> None:
    assert lab.pending() == ()
    send(lab, small(7, "pi"), small(1), small(2), small(1, "vps"))
    assert lab.pending() == (("nas", 2, b"nas 2"), ("pi", 7, b"pi 7"), ("vps", 1, b"vps 1"))
    with lab.writing() as session:
        session.published("pi", 7)
        session.published("nas", 1)
        session.published("vps", 99)
    assert lab.pending() == (("nas", 2, b"nas 2"), ("vps", 1, b"vps 1"))
    send(lab, small(8, "pi"))
    assert [node for node, *_ in lab.pending()] == ["nas", "pi", "vps"]
    assert [sent.published for sent in lab.standings()["pi"].sent] == [True, False]


def test_newest_is_asked_for_nodes_confirmed_or_not(lab: SqliteStore) -> None:
    send(lab, small(7, "pi"), small(1), small(2))
    with lab.writing() as session:
        session.published("pi", 7)
    assert lab.newest([]) == ()
    assert lab.newest(["pi"]) == (("pi", 7, b"pi 7"),)
    assert lab.newest(iter(["vps", "pi", "gone", "nas", "pi"])) == (
        ("nas", 2, b"nas 2"),
        ("pi", 7, b"pi 7"),
    )


def test_bytes_are_given_back_as_they_were_and_kept_for_the_newest_alone(
    lab: SqliteStore, path: Path
) -> None:
    body = bytes(range(256)) * 5000
    with lab.writing() as session:
        session.send(small(1, "pi"), b"of another node")
        session.send(small(1), body)
    assert lab.newest(["nas"]) == (("nas", 1, body),)
    with lab.writing() as session:
        session.send(small(2), b"")
    assert lab.newest(["nas", "pi"]) == (("nas", 2, b""), ("pi", 1, b"of another node"))
    rows = lab._connection.db.execute("SELECT node, generation, body FROM sent ORDER BY 1, 2")
    assert rows.fetchall() == [("nas", 1, None), ("nas", 2, b""), ("pi", 1, b"of another node")]


def test_only_the_nodes_that_are_asked_for_are_looked_at(lab: SqliteStore) -> None:
    with lab.writing() as session:
        every = session.standings()
        assert session.standings(["pi", "ghost"]) == {"pi": every["pi"]}
        assert session.standings([]) == {}
