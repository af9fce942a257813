"""What is heard of nodes, and what it keeps: the contract of `Session` in `mesh_core.ports`."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.store import SqliteStore, exchange
from mesh_core import DropModule, DropNode, PutModule, Unassign
from mesh_core.model.said import Doing, Report
from mesh_core.ports import ModuleInUse
from tests.integration.store.correspondence import FULL, SAID, applied, hear, kept, send, small
from tests.integration.store.helpers import (
    POSTGRES,
    counts,
    homelab,
    record,
)


@pytest.fixture
def lab(path: Path) -> Iterator[SqliteStore]:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        yield store


# Hearing.


def test_a_report_takes_the_place_of_the_one_before(lab: SqliteStore, path: Path) -> None:
    send(lab, FULL)
    hear(lab, SAID, "t1")
    hear(lab, evolve(SAID, why=(), capabilities=(), modules=["web"], healthy=None), "t2")
    standing = lab.standings()["nas"]
    assert standing.report == evolve(SAID, why=(), capabilities=(), modules=["web"], healthy=None)
    assert standing.heard_at == "t2"
    assert counts(path) | {"reports": 1, "running": 1} == counts(path)


def test_a_report_says_nothing_of_the_mesh_and_nothing_of_who_spoke(lab: SqliteStore) -> None:
    """Its capabilities are an event, which somebody else records; whose it is, `seen` is asked."""
    mesh, history = lab.mesh(), lab.history()
    hear(lab, evolve(SAID, generation=None))
    assert (lab.mesh(), lab.history()) == (mesh, history)
    standing = lab.standings()["nas"]
    assert (standing.machine, standing.seen_at, standing.last) == (None, None, 0)


@pytest.mark.parametrize(
    "bad",
    [
        evolve(SAID, generation=2**63),
        evolve(SAID, machine="\ud800"),
        evolve(SAID, left_out=-1),
        evolve(SAID, why=[f"{number} {'x' * 1000}" for number in range(300)]),
    ],
    ids=["uncountable", "surrogate", "no-count", "too-long"],
)
def test_a_report_that_cannot_be_read_back_is_not_written(lab: SqliteStore, path: Path, bad: Report) -> None:
    hear(lab, SAID)
    before, rows = lab.standings(), counts(path)
    with lab.writing() as session, pytest.raises(ValueError):  # noqa: PT011
        session.hear(bad, "t")
    assert (lab.standings(), counts(path)) == (before, rows)


def test_a_newer_generation_than_was_sent_is_gone_on_from(lab: SqliteStore, path: Path) -> None:
    """Design, part 11: the store is an old one, and "goes on from the one it heard"."""
    send(lab, FULL, evolve(FULL, generation=5), evolve(FULL, node="pi"))
    hear(lab, applied(43))
    standing = lab.standings()["nas"]
    assert (standing.last, standing.sent, standing.report) == (43, (), applied(43))
    assert counts(path) | {"sent": 1, "sent_modules": 2, "generations": 2} == counts(path)
    assert lab.pending() == (("pi", 4, b"pi 4"),)
    assert lab.newest(["nas", "pi"]) == (("pi", 4, b"pi 4"),)
    with lab.writing() as session:
        session.published("nas", 5)
        with pytest.raises(ValueError, match="not newer than 43"):
            session.send(small(43), b"")
    send(lab, small(44))
    hear(lab, applied(43))
    assert (kept(lab), lab.standings()["nas"].last) == ([44], 44)


def test_one_never_sent_to_is_gone_on_from_too(lab: SqliteStore) -> None:
    hear(lab, applied(2))
    assert lab.standings()["nas"].last == 2
    hear(lab, applied(1))
    assert lab.standings()["nas"].last == 2, "a late report takes nothing back"


@pytest.mark.parametrize(
    ("report", "left"),
    [
        (applied(1), [1, 2, 3, 4]),
        (applied(3), [3, 4]),
        (applied(3, Doing.DRIFTED), [3, 4]),
        (applied(4), [4]),
        (applied(3, Doing.FAILED), [1, 2, 3, 4]),
        (applied(3, Doing.APPLYING), [1, 2, 3, 4]),
        (applied(3, Doing.REFUSED), [1, 2, 3, 4]),
        (evolve(applied(4), applied=3), [1, 2, 3, 4]),
        (evolve(applied(4), applied=None), [1, 2, 3, 4]),
        (evolve(applied(4), generation=None, applied=None), [1, 2, 3, 4]),
    ],
)
def test_what_a_node_has_reported_past_is_dropped(
    lab: SqliteStore, path: Path, report: Report, left: list[int]
) -> None:
    """As `Standing.released` says; and of other nodes nothing."""
    send(lab, *(evolve(FULL, generation=generation) for generation in (1, 2, 3, 4)))
    send(lab, *(evolve(FULL, node="pi", generation=generation) for generation in (1, 2)))
    hear(lab, report)
    assert kept(lab) == left
    assert kept(lab, "pi") == [1, 2]
    rows = counts(path)
    assert (rows["sent"], rows["sent_modules"]) == (len(left) + 2, 2 * (len(left) + 2))


def test_the_newest_is_always_kept(lab: SqliteStore) -> None:
    """Also where a generation between was heard of and never sent, and the newest is older than that."""
    hear(lab, applied(9))
    send(lab, small(10), small(11))
    for _ in range(2):
        hear(lab, applied(11))
        assert kept(lab) == [11]
    with lab._connection.writing() as db:
        db.execute("UPDATE generations SET last = 20")
    hear(lab, applied(15))
    assert kept(lab) == [11]
    assert lab.newest(["nas"]) == (("nas", 11, b"nas 11"),)


# Who is who (design, part 11).


def test_the_first_machine_that_speaks_is_the_nodes_own_and_strangers_change_nothing_else(
    lab: SqliteStore, path: Path
) -> None:
    with lab.writing() as session:
        assert session.seen("nas", "6f3c", "t1")
    before, rows = lab.standings()["nas"], counts(path)
    assert (before.machine, before.seen_at, before.strangers) == ("6f3c", "t1", ())
    with lab.writing() as session:
        assert not session.seen("nas", "other", "t2")
        assert not session.seen("nas", "other", "t3")
        assert session.seen("pi", "other", "t3"), "under another name it is its own"
    assert lab.standings()["nas"] == evolve(before, strangers=("other",))
    assert counts(path) == rows | {"strangers": 1, "machines": 2}
    with lab.writing() as session:
        assert session.seen("nas", "6f3c", "t4")
    assert lab.standings()["nas"] == evolve(before, seen_at="t4", strangers=("other",))


def test_a_name_that_is_given_away_belongs_to_the_next_that_speaks(lab: SqliteStore) -> None:
    with lab.writing() as session:
        session.seen("nas", "6f3c", "t1")
        session.seen("nas", "other", "t2")
        session.seen("pi", "pi's", "t2")
        session.seen("pi", "stranger", "t2")
        session.hear(SAID, "t2")
        before = session.standings()
        session.give_to_another("nas")
    after = lab.standings()
    assert after["nas"] == evolve(before["nas"], machine=None, strangers=())
    assert after["pi"] == before["pi"]
    with lab.writing() as session:
        assert session.seen("nas", "third", "t3")
        assert not session.seen("nas", "6f3c", "t4")
    assert lab.standings()["nas"] == evolve(before["nas"], machine="third", seen_at="t3", strangers=("6f3c",))


# A module that a machine has, or may come to have.


def forget(store: SqliteStore, module: str) -> ModuleInUse | None:
    try:
        record(store, DropModule(module=module))
    except ModuleInUse as refusal:
        return refusal
    return None


def test_a_module_in_a_generation_that_is_kept_is_not_forgotten(lab: SqliteStore) -> None:
    record(lab, PutModule(module=POSTGRES), Unassign(node="nas", module="postgres"))
    send(lab, small(1, "vps", "postgres"), small(2, "vps"), small(1, "nas", "postgres"), small(2, "nas"))
    send(lab, small(1, "pi", "postgres"))
    refusal = forget(lab, "postgres")
    assert refusal is not None
    facts = (refusal.assigned_to, refusal.declared_on, refusal.running_on)
    assert facts == ((), ("nas", "pi", "vps"), ())
    assert str(refusal) == "postgres is in use on nas, pi, vps"
    send(lab, small(2, "pi"))
    for node in ("nas", "pi"):
        hear(lab, applied(2, node=node))
    refusal = forget(lab, "postgres")
    assert refusal is not None
    assert refusal.declared_on == ("vps",)
    hear(lab, applied(2, node="vps"))
    assert forget(lab, "postgres") is None


def test_a_module_that_a_machine_runs_is_not_forgotten(lab: SqliteStore) -> None:
    record(lab, Unassign(node="pi", module="web"))
    hear(lab, SAID)
    hear(lab, evolve(SAID, node="vps"))
    refusal = forget(lab, "web")
    assert refusal is not None
    facts = (refusal.assigned_to, refusal.declared_on, refusal.running_on)
    assert facts == ((), (), ("nas", "vps"))
    assert str(refusal) == "web is in use on nas, vps"
    hear(lab, evolve(SAID, modules=()))
    record(lab, DropNode(node="vps"))
    assert forget(lab, "web") is None


def test_the_store_counts_as_far_as_its_numbers_go(lab: SqliteStore) -> None:
    send(lab, small(exchange.HIGHEST))
    hear(lab, applied(exchange.HIGHEST))
    assert lab.standings()["nas"].last == exchange.HIGHEST
