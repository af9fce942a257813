"""Where code lives, and what was seen there: the contract of `Store` and `Session` in `mesh_core.ports`."""

from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.store import SqliteStore
from mesh_core import InvalidValue, Mesh, PutModule
from mesh_core.change import DropModule, DropSource, SetSource
from mesh_core.model.source import (
    CommitGone,
    Looked,
    PathGone,
    RefGone,
    RefUnclear,
    RepositoryAway,
    Seen,
    Source,
)
from tests.integration.store.helpers import WEB, counts, event, record
from tests.integration.store.works import BUILT, ELSEWHERE, HEAD, LATER, REQUEST, SOURCE, ask, tell, workshop

AWAY = RepositoryAway(why="fatal: could not read from remote\n\0")
UNFOUND = [AWAY, RefGone(ref="main"), RefUnclear(ref="v2"), PathGone(path="a/å"), CommitGone(commit="a" * 40)]


def look(store: SqliteStore, looked: Looked, at: str, source: Source = SOURCE, module: str = "web") -> bool:
    with store.writing() as session:
        return session.saw(module, source, looked, at)


def test_a_source_is_of_the_mesh_and_its_module_need_not_be_there(path: Path) -> None:
    plain = Source(repository="/srv/git/shell")
    with closing(SqliteStore.create(path)) as store:
        record(store, SetSource(module="web", source=SOURCE), SetSource(module="shell", source=plain))
    with closing(SqliteStore.open(path)) as store:
        assert store.mesh() == Mesh(sources={"shell": plain, "web": SOURCE})
        assert store.heads() == {"shell": Seen(), "web": Seen()}
        assert list(store.heads()) == ["shell", "web"]
        record(store, SetSource(module="web", source=ELSEWHERE))
        assert store.mesh().source("web") == ELSEWHERE
        record(store, DropSource(module="web"), DropSource(module="ghost"))
        assert store.mesh() == Mesh(sources={"shell": plain})
        assert store.heads().keys() == {"shell"}


def test_the_order_of_paths_is_kept(store: SqliteStore) -> None:
    """The manifest is in the first."""
    source = Source(repository="/srv/git/web", paths=("z", "a"))
    record(store, SetSource(module="web", source=source))
    found = store.mesh().source("web")
    assert found is not None
    assert found.paths == ("z", "a")


def test_dropping_a_module_drops_its_source_also_of_one_that_was_never_built(
    store: SqliteStore, path: Path
) -> None:
    record(store, PutModule(module=WEB), SetSource(module="web", source=SOURCE))
    record(store, SetSource(module="shell", source=SOURCE))
    assert look(store, HEAD, "t")
    record(store, DropModule(module="web"), DropModule(module="shell"))
    assert store.mesh() == Mesh()
    assert counts(path) | {"sources": 0, "heads": 0, "modules": 0} == counts(path)


def test_a_source_goes_its_manifest_stays(store: SqliteStore) -> None:
    record(store, PutModule(module=WEB), SetSource(module="web", source=SOURCE))
    record(store, DropSource(module="web"))
    assert list(store.mesh().catalogue) == [WEB]


def test_a_name_that_is_none_has_no_source(store: SqliteStore, path: Path) -> None:
    with pytest.raises(InvalidValue):
        record(store, SetSource(module="No Name", source=SOURCE))
    record(store, DropSource(module="No Name"))
    assert counts(path)["sources"] == 0


# Heads.


def test_a_head_takes_the_place_of_the_one_before_whatever_its_date(store: SqliteStore) -> None:
    record(store, SetSource(module="web", source=SOURCE))
    assert look(store, HEAD, "t1")
    assert store.heads() == {"web": Seen(head=HEAD.commit, head_at="t1")}
    assert look(store, LATER, "t2")
    assert store.heads() == {"web": Seen(head=LATER.commit, head_at="t2")}
    assert look(store, LATER, "t3")
    assert store.heads() == {"web": Seen(head=LATER.commit, head_at="t3")}


@pytest.mark.parametrize("unfound", UNFOUND, ids=lambda unfound: type(unfound).__name__)
def test_what_a_look_ran_into_stands_beside_the_head_until_the_next(
    store: SqliteStore, unfound: Looked
) -> None:
    record(store, SetSource(module="web", source=SOURCE))
    assert look(store, unfound, "t1")
    assert store.heads() == {"web": Seen(unfound=unfound, unfound_at="t1")}  # type: ignore[arg-type]
    assert look(store, HEAD, "t2")
    assert store.heads() == {"web": Seen(head=HEAD.commit, head_at="t2")}
    assert look(store, AWAY, "t3")
    assert look(store, unfound, "t4")
    expected = Seen(head=HEAD.commit, head_at="t2", unfound=unfound, unfound_at="t4")  # type: ignore[arg-type]
    assert store.heads() == {"web": expected}


def test_a_look_at_a_source_that_is_another_by_now_is_nothing(store: SqliteStore, path: Path) -> None:
    assert not look(store, HEAD, "t1")
    record(store, SetSource(module="web", source=ELSEWHERE))
    for other in (
        SOURCE,
        evolve(ELSEWHERE, paths=("modules/web",)),
        evolve(ELSEWHERE, repository="/srv/web"),
    ):
        assert not look(store, HEAD, "t1", other)
        assert not look(store, AWAY, "t1", other)
    assert not look(store, HEAD, "t1", ELSEWHERE, "shell")
    assert counts(path)["heads"] == 0
    assert look(store, HEAD, "t2", ELSEWHERE)


@pytest.mark.parametrize(
    "other",
    [ELSEWHERE, evolve(SOURCE, repository="/srv/web"), evolve(SOURCE, paths=SOURCE.paths[::-1])],
    ids=["ref", "repository", "order of paths"],
)
def test_what_was_seen_is_forgotten_with_its_source_and_not_when_that_is_set_again(
    store: SqliteStore, path: Path, other: Source
) -> None:
    record(store, SetSource(module="web", source=SOURCE), SetSource(module="shell", source=SOURCE))
    assert look(store, HEAD, "t1")
    assert look(store, HEAD, "t1", module="shell")
    seen = Seen(head=HEAD.commit, head_at="t1")
    record(store, SetSource(module="web", source=SOURCE))
    assert store.heads() == {"shell": seen, "web": seen}
    record(store, SetSource(module="web", source=other))
    assert store.heads() == {"shell": seen, "web": Seen()}
    record(store, SetSource(module="web", source=SOURCE))
    assert store.heads() == {"shell": seen, "web": Seen()}
    assert look(store, HEAD, "t2")
    record(store, DropSource(module="web"), SetSource(module="web", source=SOURCE))
    assert store.heads() == {"shell": seen, "web": Seen()}
    assert counts(path)["heads"] == 1


def test_a_look_that_cannot_be_written_leaves_what_was_seen(store: SqliteStore) -> None:
    record(store, SetSource(module="web", source=SOURCE))
    assert look(store, HEAD, "t1")
    with store.writing() as session:
        with pytest.raises(ValueError, match="surrogates"):
            session.saw("web", SOURCE, RepositoryAway(why="\ud800"), "t2")
        session.saw("web", SOURCE, HEAD, "t3")
        assert session.heads() == {"web": Seen(head=HEAD.commit, head_at="t3")}
    assert store.heads() == {"web": Seen(head=HEAD.commit, head_at="t3")}


# What is held of a module's name, which need not be in the catalogue.


def test_a_put_or_a_drop_ends_what_is_held_and_the_build_stays(store: SqliteStore, path: Path) -> None:
    workshop(store)
    ask(store, evolve(REQUEST, id="0000beef", module="shell"))
    tell(store, evolve(BUILT, request="0000beef", manifest=evolve(WEB, name="shell")))
    with store.writing() as session:
        session.hold("shell", "0000beef")
    assert store.held().keys() == {"shell", "web"}
    built = store.builds()
    record(store, SetSource(module="web", source=ELSEWHERE), DropSource(module="web"))
    assert store.held().keys() == {"shell", "web"}
    record(store, DropModule(module="shell"))
    assert store.held().keys() == {"web"}
    record(store, PutModule(module=WEB))
    assert store.held() == {}
    with store.writing() as session:
        session.hold("web", REQUEST.id)
        with pytest.raises(ValueError, match="surrogates"):
            session.record(event(PutModule(module=WEB), who="\ud800"))
        session.record(event())
    assert store.held().keys() == {"web"}
    record(store, PutModule(module=WEB), DropModule(module="web"))
    assert store.held() == {}
    assert store.builds() == built
