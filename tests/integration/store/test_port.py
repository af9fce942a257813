"""The contract of `Store` in `mesh_core.ports`, sentence by sentence, kept by the SQLite store.

That a store's mesh after a change is what `apply` says is a law: tests/property/test_store_machine.py.
"""

from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.store import SqliteStore
from mesh_core import (
    Assign,
    Capability,
    DropModule,
    DropNode,
    Mesh,
    Module,
    Node,
    NoSuchNode,
    PutModule,
    PutNode,
    Report,
    Verdict,
    apply_all,
)
from mesh_core.ports import NoSuchModule, Store, StoreExists
from tests.integration.store.helpers import HOMELAB, WEB, event, homelab, raw, record


def test_it_is_a_store(store: SqliteStore) -> None:
    port: Store = store  # mypy looks
    assert port.mesh() == Mesh()
    assert port.declared() == {}
    assert port.history() == ()
    assert port.manifests("web") == ()


def test_what_was_recorded_is_there_in_another_process_life(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        assert store.mesh() == apply_all(Mesh(), HOMELAB)
        assert store.declared() == {"nas": ("postgres",)}


def test_a_new_store_is_made_with_its_directories_and_not_over_anything(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "mesh.db"
    SqliteStore.create(path).close()
    assert [found.name for found in path.parent.iterdir()] == ["mesh.db"]
    before = path.read_bytes()
    with pytest.raises(StoreExists) as caught:
        SqliteStore.create(path)
    assert caught.value.path == str(path)
    assert path.read_bytes() == before


def test_a_log_without_its_store_is_not_taken_for_the_new_ones(path: Path) -> None:
    """Somebody removed mesh.db and left mesh.db-wal: SQLite would replay it into a new file."""
    log = Path(f"{path}-wal")
    log.write_bytes(b"x")
    with pytest.raises(StoreExists) as caught:
        SqliteStore.create(path)
    assert caught.value.path == str(log)
    assert not path.exists()


# Reports (design, part 2, *capability*): "A node that never reported has none."


def test_a_node_that_never_reported_has_no_capabilities(store: SqliteStore) -> None:
    record(store, PutNode(node=Node(name="pi")))
    (node,) = store.mesh().nodes
    assert node.capabilities is None
    assert node.lacks("gpu") is Verdict.NEVER_REPORTED


def test_one_reported_absent_is_not_counted_as_present(store: SqliteStore) -> None:
    gpu = Capability(name="gpu", present=False, detail="no device")
    record(store, PutNode(node=Node(name="pi")), Report(node="pi", capabilities=(gpu,)))
    (node,) = store.mesh().nodes
    assert node.capabilities == (gpu,)
    assert node.lacks("gpu") is Verdict.ABSENT
    assert node.lacks("kvm") is Verdict.UNREPORTED


def test_an_empty_report_is_a_report(store: SqliteStore) -> None:
    record(store, PutNode(node=Node(name="pi")), Report(node="pi", capabilities=()))
    assert store.mesh().nodes[0].capabilities == ()


def test_a_report_is_dated_when_it_was_made(store: SqliteStore, path: Path) -> None:
    """Also one that says the same again; a person who puts the entry again reports nothing."""
    report = Report(node="pi", capabilities=(Capability(name="gpu"),))

    def dated() -> str | None:
        with raw(path, foreign_keys=False) as conn:
            found: tuple[str | None] = conn.execute("SELECT reported_at FROM nodes").fetchone()
            return found[0]

    record(store, PutNode(node=Node(name="pi")), at="t1")
    assert dated() is None
    record(store, report, at="t2")
    assert dated() == "t2"
    record(store, report, at="t3")
    assert dated() == "t3"
    record(store, PutNode(node=store.mesh().nodes[0]), Assign(node="pi", module="web"), at="t4")
    assert dated() == "t3"
    record(store, PutNode(node=Node(name="pi", capabilities=())), at="t5")
    assert dated() == "t5"
    record(store, PutNode(node=Node(name="pi")), at="t6")
    assert dated() is None


# History and manifests.


def test_history_is_newest_first_equal_and_survives(path: Path) -> None:
    first = event(*HOMELAB, at="t1", command="mesh import 'a b'\n")
    second = event(DropNode(node="vps"), at="t2", who="bøb \0", command="")
    third = event(at="t0", who="")
    with closing(SqliteStore.create(path)) as store:
        for done in (first, second):
            with store.writing() as session:
                session.record(done)
    with closing(SqliteStore.open(path)) as store:
        with store.writing() as session:
            assert session.record(third) == 3
        found = store.history()
        assert [(entry.number, entry.event) for entry in found] == [
            (3, third),
            (2, second),
            (1, first),
        ]
        assert store.history(2) == found[:2]
        assert store.history(0) == store.history(-1) == ()


def test_every_manifest_is_kept_once_and_one_is_current(store: SqliteStore) -> None:
    newer, again = evolve(WEB, version="2.0"), evolve(WEB)
    record(store, PutModule(module=WEB), at="t1")
    record(store, PutModule(module=newer), at="t2")

    def found() -> list[tuple[Module, str, bool]]:
        return [(m.module, m.recorded_at, m.current) for m in store.manifests("web")]

    assert found() == [(WEB, "t1", False), (newer, "t2", True)]
    record(store, PutModule(module=again), at="t3")
    assert found() == [(WEB, "t1", True), (newer, "t2", False)]
    record(store, DropModule(module="web"), at="t4")
    assert found() == [(WEB, "t1", False), (newer, "t2", False)]
    assert store.mesh() == Mesh()


# What was declared.


def test_a_declaration_replaces_the_one_before(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        with store.writing() as session:
            session.declare("nas", iter(["web", "postgres", "web"]))
            session.declare("pi", ["web"])
        assert store.declared() == {"nas": ("postgres", "web"), "pi": ("web",)}
        with store.writing() as session:
            session.declare("nas", [])
        assert store.declared() == {"pi": ("web",)}


def test_a_declaration_that_cannot_be_leaves_the_one_before(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        with store.writing() as session:
            with pytest.raises(NoSuchModule) as unknown:
                session.declare("nas", ["web", "ghost"])
            with pytest.raises(NoSuchNode):
                session.declare("gone", ["web"])
        assert unknown.value.module == "ghost"
        assert store.declared() == {"nas": ("postgres",)}


def test_putting_a_node_again_keeps_what_was_declared_and_who_is_pinned_at_it(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        record(store, PutNode(node=Node(name="nas")))
        assert store.declared() == {"nas": ("postgres",)}
        assert {n.name for n in store.mesh().nodes if n.pin("database")} == {"pi", "vps"}


# Sessions.


def test_inside_a_session_the_session_is_asked(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        with store.writing() as session:
            session.record(event(Assign(node="vps", module="web")))
            asked = session.mesh().node("vps")
            assert asked is not None
            assert asked.assigned == ("web",)
            for question in (store.mesh, store.declared, store.history):
                with pytest.raises(RuntimeError):
                    question()
            with pytest.raises(RuntimeError), store.writing():
                pass
        assert store.mesh().node("vps") == asked


def test_a_session_that_has_ended_refuses_everything(store: SqliteStore) -> None:
    with store.writing() as session:
        pass
    with store.writing():
        for use in (session.mesh, lambda: session.declare("pi", []), lambda: session.record(event())):
            with pytest.raises(RuntimeError):
                use()


def test_closing_twice_does_nothing(store: SqliteStore) -> None:
    store.close()
    store.close()
