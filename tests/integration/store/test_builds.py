"""Builds: the contract of `Store` and `Session` in `mesh_core.ports`, sentence by sentence."""

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.store import SqliteStore, builds
from mesh_core import InvalidValue, Module, Provision
from mesh_core.model.build import Answer, Build, Taken
from mesh_core.model.source import Newest
from tests.integration.store.helpers import commits, counts, everything
from tests.integration.store.works import (
    BUILT,
    FAILED,
    GIVEN_UP,
    HEAD,
    MANIFEST,
    REQUEST,
    SOURCE,
    ask,
    numbered,
    tell,
    workshop,
)

TAKEN = Taken(request=REQUEST.id, builder="nas")


def cancel(store: SqliteStore, id: str, at: str = "t") -> bool:
    with store.writing() as session:
        return session.cancel(id, at)


# Asking.


def test_what_is_asked_for_is_written_down_under_a_number_that_only_grows(path: Path) -> None:
    with closing(SqliteStore.create(path)) as store:
        first, second = ask(store, REQUEST, numbered(2), at="t1", who="bøb \0")
        assert first == Build(number=1, request=REQUEST, asked_at="t1", asked_by="bøb \0")
        assert second.number == 2
    with closing(SqliteStore.open(path)) as store:
        assert store.builds() == (second, first)
        assert store.open_builds() == (first, second)
        assert store.builds(1) == (second,)
        assert store.builds(0) == store.builds(-1) == ()
        assert (store.build(REQUEST.id), store.build("ffffffff")) == (first, None)


def test_an_id_is_asked_for_once_for_ever(store: SqliteStore, path: Path) -> None:
    (build,) = ask(store, REQUEST)
    for again in (REQUEST, evolve(REQUEST, module="shell")):
        with store.writing() as session:
            with pytest.raises(ValueError, match="already"):
                session.ask(again, "t2", "bob")
            assert session.builds() == (build,)
    assert cancel(store, REQUEST.id)
    with pytest.raises(ValueError, match="already"):
        ask(store, REQUEST)
    assert counts(path)["builds"] == 1


def test_a_request_that_does_not_read_as_it_was_written_is_not_asked(store: SqliteStore, path: Path) -> None:
    with store.writing() as session:
        with pytest.raises(ValueError, match="surrogates"):
            session.ask(REQUEST, "t", "\ud800")
        with pytest.raises(ValueError, match="as it was written"):
            session.ask(REQUEST, "t", 5)  # type: ignore[arg-type]
        assert session.ask(REQUEST, "t", "ann").number == 1
    assert counts(path)["builds"] == 1


def test_sent_is_when_a_broker_last_confirmed_it(store: SqliteStore) -> None:
    ask(store, REQUEST, numbered(2), numbered(3))
    with store.writing() as session:
        session.asked(iter([REQUEST.id, numbered(3).id, "ffffffff"]), "t1")
        session.asked([], "t2")
    assert [build.sent_at for build in store.open_builds()] == ["t1", None, "t1"]
    tell(store, BUILT)
    with store.writing() as session:
        session.asked([REQUEST.id], "t3")
    assert [build.sent_at for build in reversed(store.builds())] == ["t3", None, "t1"]


# What builders say.


@pytest.mark.parametrize("answer", [BUILT, FAILED, GIVEN_UP, evolve(BUILT, same=None, log=())])
def test_the_first_answer_counts_and_no_other(path: Path, answer: Answer) -> None:
    with closing(SqliteStore.create(path)) as store:
        (asked,) = ask(store, REQUEST)
        assert tell(store, answer, at="t1") == [True]
        for other in (answer, BUILT, FAILED, TAKEN):
            assert tell(store, other, at="t2") == [False]
    with closing(SqliteStore.open(path)) as store:
        assert store.builds() == (evolve(asked, answer=answer, answered_at="t1"),)
        assert store.open_builds() == ()


def test_that_it_was_taken_counts_until_it_is_over(store: SqliteStore) -> None:
    (asked,) = ask(store, REQUEST)
    for builder, at in (("nas", "t1"), ("pi", "t2"), ("pi", "t3")):
        assert tell(store, Taken(request=REQUEST.id, builder=builder), at=at) == [True]
        assert store.open_builds() == (evolve(asked, taken_by=builder, taken_at=at),)
    assert tell(store, BUILT, TAKEN, at="t4") == [True, False]
    taken = evolve(asked, taken_by="pi", taken_at="t3")
    assert store.builds() == (evolve(taken, answer=BUILT, answered_at="t4"),)


def test_of_a_cancelled_build_nothing_counts(store: SqliteStore) -> None:
    (asked,) = ask(store, REQUEST)
    tell(store, TAKEN, at="t1")
    assert cancel(store, REQUEST.id, "t2")
    assert tell(store, BUILT, FAILED, TAKEN, at="t3") == [False, False, False]
    assert not cancel(store, REQUEST.id, "t4")
    assert store.builds() == (evolve(asked, taken_by="nas", taken_at="t1", cancelled_at="t2"),)
    assert store.open_builds() == ()


def test_what_is_over_is_not_cancelled_nor_is_what_nobody_knows(store: SqliteStore) -> None:
    ask(store, REQUEST)
    tell(store, FAILED)
    before = store.builds()
    assert not cancel(store, REQUEST.id)
    assert not cancel(store, "ffffffff")
    assert tell(store, *(evolve(said, request="ffffffff") for said in (BUILT, FAILED, TAKEN))) == [False] * 3
    assert store.builds() == before


def test_an_answer_that_does_not_read_as_it_was_written_is_not_kept(store: SqliteStore) -> None:
    ask(store, REQUEST)
    with store.writing() as session:
        for bad in (evolve(BUILT, log=["\ud800"]), evolve(FAILED, why="\ud800")):
            with pytest.raises(ValueError, match="surrogates"):
                session.builder_said(bad, "t")
        alone = evolve(MANIFEST, provides=[Provision(name="database")])  # and requires it itself
        with pytest.raises(ValueError, match="answer itself"):
            session.builder_said(evolve(BUILT, manifest=alone), "t")
        odd = evolve(BUILT, commit=evolve(HEAD.commit, at=("t",)))  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="as it was written"):
            session.builder_said(odd, "t")
        assert not session.builder_said(evolve(odd, request="ffffffff"), "t")
        assert session.builder_said(FAILED, "t")


# Held, and builders.


def test_what_is_held_takes_the_place_of_what_was(store: SqliteStore, path: Path) -> None:
    ask(store, REQUEST, numbered(2), numbered(3, "shell"))
    tell(store, BUILT, *(evolve(BUILT, request=numbered(n).id) for n in (2, 3)))
    with store.writing() as session:
        for module, build in (("web", REQUEST.id), ("shell", numbered(3).id), ("web", numbered(2).id)):
            session.hold(module, build)
    assert {module: build.request.id for module, build in store.held().items()} == {
        "shell": numbered(3).id,
        "web": numbered(2).id,
    }
    assert list(store.held()) == ["shell", "web"]
    assert store.held()["web"] == store.builds()[1]
    assert counts(path)["held"] == 2


def test_what_made_nothing_is_not_held(store: SqliteStore, path: Path) -> None:
    workshop(store)
    ask(store, numbered(4))
    tell(store, evolve(FAILED, request=numbered(4).id))
    held = store.held()
    with store.writing() as session:
        for module, build, why in (
            ("web", "ffffffff", "no build"),
            ("web", numbered(2).id, "made nothing"),
            ("web", numbered(3).id, "made nothing"),
            ("web", numbered(4).id, "made nothing"),
            ("shell", REQUEST.id, "not of shell"),
        ):
            with pytest.raises(ValueError, match=why):
                session.hold(module, build)
    assert store.held() == held
    assert counts(path)["held"] == 1


def test_builders_may_speak_until_they_are_removed(store: SqliteStore, path: Path) -> None:
    workshop(store)
    with store.writing() as session:
        session.add_builder("vps", "t1")
        session.add_builder("vps", "t2")
        session.add_builder("away", "t3")
        with pytest.raises(InvalidValue):
            session.add_builder("No Name", "t4")
    assert store.builders() == ("away", "nas", "vps")
    assert counts(path)["builders"] == 3
    before = store.builds()
    with store.writing() as session:
        assert session.remove_builder("nas")
        assert not session.remove_builder("nas")
        assert not session.remove_builder("ghost")
    assert store.builders() == ("away", "vps")
    assert store.builds() == before


# Transactions, and how much is read.


def test_a_whole_build_in_one_session_is_one_commit_or_nothing(store: SqliteStore, path: Path) -> None:
    workshop(store)
    before, written = counts(path), commits(path)

    def half_a_command() -> None:
        with store.writing() as session:
            session.ask(numbered(9), "t", "ann")
            session.builder_said(evolve(BUILT, request=numbered(9).id), "t")
            session.hold("web", numbered(9).id)
            session.saw("web", SOURCE, Newest(commit=HEAD.commit), "t9")
            session.remove_builder("nas")
            raise ZeroDivisionError

    said = store.builds(), store.held(), store.heads(), store.builders()
    with pytest.raises(ZeroDivisionError):
        half_a_command()
    assert counts(path) == before
    assert (store.builds(), store.held(), store.heads(), store.builders()) == said
    with store.writing() as session:
        session.ask(numbered(9), "t", "ann")
        session.asked([numbered(9).id], "t")
        session.builder_said(Taken(request=numbered(9).id, builder="nas"), "t")
        assert session.builds(1) == (session.build(numbered(9).id),)
        assert session.builds(1)[0].taken_by == "nas"
        session.cancel(numbered(9).id, "t")
    assert commits(path) == written + 1


def test_reading_builds_changes_no_byte(path: Path) -> None:
    with closing(SqliteStore.create(path)) as store:
        workshop(store)
    before = everything(path.parent)
    with closing(SqliteStore.open(path)) as store:
        questions: tuple[Callable[[], object], ...] = (
            store.builds,
            lambda: store.build(REQUEST.id),
            store.open_builds,
            store.held,
            store.builders,
            store.heads,
            store.puts,
            store.current,
        )
        for question in questions:
            question()
        with store.writing():
            for question in questions:
                with pytest.raises(RuntimeError):
                    question()
    assert everything(path.parent) == before


def test_a_session_that_has_ended_asks_nobody(store: SqliteStore) -> None:
    with store.writing() as session:
        pass
    uses: tuple[Callable[[], object], ...] = (
        lambda: session.saw("web", SOURCE, HEAD, "t"),
        lambda: session.ask(REQUEST, "t", "ann"),
        lambda: session.asked([], "t"),
        lambda: session.cancel(REQUEST.id, "t"),
        lambda: session.builder_said(TAKEN, "t"),
        session.builds,
        lambda: session.build(REQUEST.id),
        lambda: session.put_of("web"),
        session.heads,
        lambda: session.hold("web", REQUEST.id),
        lambda: session.add_builder("nas", "t"),
        lambda: session.remove_builder("nas"),
    )
    with store.writing():
        for use in uses:
            with pytest.raises(RuntimeError):
                use()


def test_a_question_is_one_query_and_reads_no_answer_that_is_not_asked_for(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = [numbered(number) for number in range(300)]
    ask(store, *many)
    tell(store, *(evolve(BUILT, request=request.id) for request in many[:290]))
    with store.writing() as session:
        session.hold("web", many[7].id)
    read: list[str] = []
    answer = builds._answer

    def reading(document: str, shelf: dict[str, Module]) -> Answer:
        read.append(document)
        return answer(document, shelf)

    monkeypatch.setattr(builds, "_answer", reading)
    asked: list[str] = []
    store._connection.db.conn.set_trace_callback(asked.append)
    for question, size, answers in (
        (lambda: store.builds(20), 20, 10),
        (store.open_builds, 10, 0),
        (lambda: [store.build(many[3].id)], 1, 1),
        (store.held, 1, 1),
        (store.builds, 300, 290),
    ):
        asked.clear()
        read.clear()
        assert len(question()) == size
        assert len(read) == answers
        assert len([statement for statement in asked if "SELECT" in statement]) == 1
    store._connection.db.conn.set_trace_callback(None)


def test_those_that_are_open_are_found_by_their_index(store: SqliteStore) -> None:
    plan = store._connection.db.execute(f"EXPLAIN QUERY PLAN SELECT id FROM {builds._OPEN} ORDER BY number")
    assert [step[-1] for step in plan] == ["SCAN builds USING INDEX open_builds"]
