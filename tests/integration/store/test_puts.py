"""What became current, and where it came from: the contract of `Store` in `mesh_core.ports`."""

from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.store import SqliteStore
from mesh_core import CatalogueError, DropModule, Module, Provision, PutModule, Scope, Unassign
from mesh_core.canonical import canonical_json
from mesh_core.model.origin import HANDED, Shipped
from mesh_core.wire.data import module_to_data
from tests.integration.store.helpers import POSTGRES, WEB, counts, event, homelab, record
from tests.integration.store.works import MANIFEST, ORIGIN

NEWER = evolve(WEB, version="2.0")


def test_an_equal_manifest_from_elsewhere_is_another_put_and_no_other_manifest(
    store: SqliteStore, path: Path
) -> None:
    record(store, PutModule(module=WEB), at="t1")
    record(store, PutModule(module=WEB, origin=ORIGIN), at="t2")
    record(store, PutModule(module=WEB, origin=ORIGIN), at="t3")
    assert [(put.number, put.manifest, put.origin, put.at, put.current) for put in store.puts()] == [
        (1, WEB, HANDED, "t1", False),
        (2, WEB, ORIGIN, "t2", False),
        (3, WEB, ORIGIN, "t3", True),
    ]
    assert [(m.recorded_at, m.current) for m in store.manifests("web")] == [("t1", True)]
    assert counts(path) | {"manifests": 1, "puts": 3, "modules": 1} == counts(path)


def test_a_put_knows_the_digest_of_its_manifest(store: SqliteStore) -> None:
    record(store, PutModule(module=MANIFEST, origin=Shipped(version="0.3")))
    (put,) = store.puts()
    assert put.digest == sha256(canonical_json(module_to_data(MANIFEST)).encode()).hexdigest()
    assert put.origin == Shipped(version="0.3")


def test_what_is_current_is_what_was_put_last_and_nothing_of_what_was_dropped(store: SqliteStore) -> None:
    record(store, PutModule(module=WEB), PutModule(module=POSTGRES), at="t1")
    record(store, PutModule(module=NEWER, origin=ORIGIN), at="t2")
    record(store, PutModule(module=WEB), at="t3")
    assert {name: (put.number, put.manifest) for name, put in store.current().items()} == {
        "postgres": (2, POSTGRES),
        "web": (4, WEB),
    }
    assert list(store.current()) == ["postgres", "web"]
    assert list(store.current().values()) == [*store.puts("postgres"), store.puts("web")[-1]]
    assert [(put.number, put.current) for put in store.puts("web")] == [(1, False), (3, False), (4, True)]
    record(store, DropModule(module="web"), at="t4")
    assert [(put.number, put.current) for put in store.puts()] == [
        (1, False),
        (2, True),
        (3, False),
        (4, False),
    ]
    assert store.current().keys() == {"postgres"}
    assert store.puts("ghost") == ()


def test_a_session_says_what_is_current_of_one_module(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        with store.writing() as session:
            assert session.put_of("ghost") is None
            session.record(event(PutModule(module=NEWER, origin=ORIGIN), at="t2"))
            put = session.put_of("web")
            assert put is not None
            assert (put.manifest, put.origin, put.at, put.current) == (NEWER, ORIGIN, "t2", True)
            session.record(event(PutModule(module=MANIFEST), Unassign(node="pi", module="web")))
            session.record(event(DropModule(module="web")))
            assert session.put_of("web") is None
            postgres = session.put_of("postgres")
        assert postgres == store.current()["postgres"]


def test_a_put_that_is_refused_leaves_no_put(store: SqliteStore, path: Path) -> None:
    record(store, PutModule(module=POSTGRES))
    before = counts(path)
    clash = Module(name="mine", version="1", provides=[Provision(name="database", scope=Scope.NODE)])
    with pytest.raises(CatalogueError):
        record(store, PutModule(module=WEB), PutModule(module=clash))
    with pytest.raises(ValueError, match="surrogates"):
        record(store, PutModule(module=WEB, origin=Shipped(version="\ud800")))
    assert counts(path) == before
    record(store, PutModule(module=WEB))
    assert [put.number for put in store.puts("web")] == [2]


def test_an_origin_that_does_not_read_as_it_was_written_is_not_put(store: SqliteStore, path: Path) -> None:
    with pytest.raises(ValueError, match="as it was written"):
        record(store, PutModule(module=WEB, origin=Shipped(version=("a",))))  # type: ignore[arg-type]
    assert counts(path)["puts"] == 0


def test_puts_are_one_query_and_each_manifest_is_parsed_once(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        with store.writing() as session:
            for number in range(200):
                version = str(number % 4)
                session.record(event(PutModule(module=evolve(WEB, version=version), origin=ORIGIN)))
        store._shelf.clear()
        asked: list[str] = []
        store._connection.db.conn.set_trace_callback(asked.append)
        assert len(store.puts()) == 202
        assert len(store.current()) == 2
        store._connection.db.conn.set_trace_callback(None)
        assert len([statement for statement in asked if "SELECT" in statement]) == 2
        assert len(store._shelf) == 6


def test_a_put_and_its_origin_are_there_in_another_process_life(path: Path) -> None:
    with closing(SqliteStore.create(path)) as store:
        record(store, PutModule(module=MANIFEST, origin=ORIGIN))
        said = store.history(), store.puts(), store.current()
    with closing(SqliteStore.open(path)) as store:
        assert (store.history(), store.puts(), store.current()) == said
        assert store.history()[0].event.changes == (PutModule(module=MANIFEST, origin=ORIGIN),)
