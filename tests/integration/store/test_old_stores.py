"""Stores that programs of before wrote, as they wrote them (`old/`): nothing of them is lost on the way here.

Each file there is the dump of a store that the last program of its schema made, and is never changed.
"""

import os
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.store import SqliteStore, schema
from mesh_core import Change, DropModule, DropNode, Mesh, Module, PutModule, apply_all
from mesh_core.change import Attach, SetNetwork, SetSource
from mesh_core.event import Event
from mesh_core.model.build import Taken
from mesh_core.model.network import Attachment, Endpoint, Network
from mesh_core.model.origin import HANDED
from mesh_core.model.sent import Sent, Standing
from mesh_core.ports import ModuleInUse, StoreUnreadable, Unreadable
from tests.integration.store.correspondence import FULL, SAID
from tests.integration.store.helpers import (
    HOMELAB,
    POSTGRES,
    PYTHON,
    ROOT,
    WEB,
    commits,
    everything,
    raw,
    record,
)
from tests.integration.store.works import BUILT, HEAD, ORIGIN, REQUEST, SOURCE, numbered, workshop

ZSH = Module(name="zsh", version="5.9")
NEWER = evolve(WEB, version="1.5.0")
EVENTS = [
    Event(at="2026-12-01T08:00:00Z", who="ann", command="mesh import homelab.toml", changes=HOMELAB),
    Event(
        at="2026-12-01T09:00:00Z",
        who="ann",
        command="mesh module add web.toml",
        changes=[PutModule(module=NEWER)],
    ),
    Event(
        at="2026-12-01T10:00:00Z",
        who="ann",
        command="mesh module add zsh.toml",
        changes=[PutModule(module=ZSH)],
    ),
    Event(
        at="2026-12-01T11:00:00Z",
        who="ann",
        command="mesh module remove zsh",
        changes=[DropModule(module="zsh")],
    ),
    Event(
        at="2026-12-01T12:00:00Z",
        who="ann",
        command="mesh module add web.toml",
        changes=[PutModule(module=WEB)],
    ),
]
BUILDING = [
    Event(
        at="2026-12-01T14:00:00Z",
        who="ann",
        command="mesh collect",
        changes=[PutModule(module=WEB, origin=ORIGIN)],
    ),
    Event(
        at="2026-12-01T15:00:00Z",
        who="ann",
        command="mesh module source web",
        changes=[SetSource(module="web", source=SOURCE)],
    ),
]
HAPPENED = {1: [*EVENTS[:3], EVENTS[4]], 2: EVENTS, 3: [*EVENTS, *BUILDING]}
"""By the schema, what was done; that of schema 1 still has zsh."""


def build(store: SqliteStore) -> None:
    """What was built in the store of schema 3, as in `works.workshop`."""
    with store.writing() as session:
        session.saw("web", SOURCE, HEAD, "2026-12-01T15:10:00Z")
        for request in (REQUEST, numbered(2), numbered(3)):
            session.ask(request, "2026-12-01T15:20:00Z", "ann")
        session.asked([REQUEST.id, numbered(2).id], "2026-12-01T15:21:00Z")
        session.builder_said(Taken(request=REQUEST.id, builder="nas"), "2026-12-01T15:22:00Z")
        session.builder_said(BUILT, "2026-12-01T15:30:00Z")
        session.cancel(numbered(3).id, "2026-12-01T15:31:00Z")
        session.hold("web", REQUEST.id)
        session.add_builder("nas", "2026-12-01T15:00:00Z")


Rows = dict[str, list[tuple[object, ...]]]


def lay_down(path: Path, known: int) -> Rows:
    """Make the store that the dump is of; its rows."""
    dump = Path(__file__).parent / "old" / f"schema_{known}.sql"
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("PRAGMA journal_mode = WAL")
        conn.executescript(dump.read_text())
    return contents(path)


def contents(path: Path) -> Rows:
    """Every row of every table, by table."""
    with raw(path, foreign_keys=False) as conn:
        names = [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: conn.execute(f"SELECT * FROM {name} ORDER BY 1, 2").fetchall() for name in names}


def definitions(path: Path) -> set[tuple[str, str, str]]:
    """Tables, indexes and triggers."""
    with raw(path, foreign_keys=False) as conn:
        return {*conn.execute("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_stat%'")}


@pytest.mark.parametrize("known", [1, 2, 3])
def test_every_row_of_an_old_store_is_still_there(path: Path, known: int) -> None:
    """But for how a module names its manifest, what a node has besides, and the marks of who migrated it."""
    before = lay_down(path, known)
    SqliteStore.open(path).close()
    after = contents(path)
    changed = {"_sqlite_migrations", "sqlite_sequence", "nodes", *(["modules"] if known < 3 else [])}
    kept = {name: rows for name, rows in before.items() if name not in changed}
    assert kept.keys() >= {"manifests", "assignments", "pins", "declared", "events"}
    assert ("sent" in kept) == (known > 1)
    assert ("builds" in kept) == (known > 2)
    assert after | kept == after
    assert after["nodes"] == [(*row, None, None, None, 0) for row in before["nodes"]]
    assert after["network"] == after["retired_addresses"] == after["endpoints"] == []
    assert len(after["_sqlite_migrations"]) == len(before["_sqlite_migrations"]) + 4 - known == 4
    assert set(after["sqlite_sequence"]) >= set(before["sqlite_sequence"])


@pytest.mark.parametrize("known", [1, 2])
def test_an_old_store_says_what_it_said_and_every_module_was_put_by_hand(path: Path, known: int) -> None:
    lay_down(path, known)
    happened = HAPPENED[known]
    with closing(SqliteStore.open(path)) as store:
        assert commits(path) == 1
        assert store.mesh() == apply_all(Mesh(), [c for event in happened for c in event.changes])
        assert [entry.event for entry in reversed(store.history())] == happened
        assert [(m.module, m.current) for m in store.manifests("web")] == [(WEB, True), (NEWER, False)]
        puts = [(put.manifest, put.at) for put in store.puts()]
        assert puts == [(WEB, EVENTS[0].at), (POSTGRES, EVENTS[0].at), (ZSH, EVENTS[2].at)][: 4 - known]
        assert all((put.origin, put.current) == (HANDED, True) for put in store.puts())
        assert list(store.current().values()) == sorted(store.puts(), key=lambda put: put.manifest.name)
        assert (store.heads(), store.builds(), store.held(), store.builders()) == ({}, (), {}, ())


def test_of_schema_1_nothing_was_sent_yet(path: Path) -> None:
    lay_down(path, 1)
    with closing(SqliteStore.open(path)) as store:
        assert store.declared() == {"nas": ("postgres",)}
        assert store.standings() == {name: Standing(node=name) for name in ("nas", "pi", "vps")}


@pytest.mark.parametrize(("known", "manifests"), [(2, ()), (3, FULL.manifests)])
def test_it_is_known_what_was_sent_but_of_schema_2_not_by_which_manifests(
    path: Path, known: int, manifests: tuple[tuple[str, str], ...]
) -> None:
    lay_down(path, known)
    at = "2026-12-01T13:00:00Z"
    with closing(SqliteStore.open(path)) as store:
        assert store.declared() == {"nas": ("postgres", "web")}
        assert store.standings()["nas"] == Standing(
            node="nas",
            last=4,
            sent=(
                evolve(FULL, generation=3, modules=["postgres"], manifests=manifests),
                evolve(FULL, manifests=manifests, published=True),
            ),
            report=SAID,
            heard_at=at,
            seen_at=at,
            machine="6f3c",
            strangers=("other",),
        )
        assert store.newest(["nas"]) == (("nas", 4, b"four"),)


def test_of_schema_3_it_is_known_where_modules_came_from_and_what_is_built(path: Path) -> None:
    """As in a store of now to which the same was said."""
    lay_down(path, 3)
    fresh = path.parent / "fresh.db"
    with closing(SqliteStore.create(fresh)) as now, closing(SqliteStore.open(path)) as store:
        for event in HAPPENED[3]:
            with now.writing() as session:
                session.record(event)
        build(now)
        assert store.mesh() == now.mesh()
        assert store.history() == now.history()
        assert (store.puts(), store.current()) == (now.puts(), now.current())
        assert (store.heads(), store.held(), store.builders()) == (now.heads(), now.held(), now.builders())
        assert store.builds() == now.builds()
        assert len(store.builds()) == 3
        assert store.current()["web"].origin == ORIGIN


@pytest.mark.parametrize("known", [1, 2, 3])
def test_an_old_store_can_have_a_network(path: Path, known: int) -> None:
    lay_down(path, known)
    attached = Attachment(address="10.77.0.2", endpoints=[Endpoint(at="nas.example.org:51820")])
    with closing(SqliteStore.open(path)) as store:
        before = store.mesh()
        assert before.network is None
        assert all(node.network == Attachment() for node in before.nodes)
        changes: list[Change] = [
            SetNetwork(network=Network(range="10.77.0.0/24")),
            Attach(node="nas", network=attached),
            Attach(node="vps", network=evolve(attached, address="10.77.0.1")),
            DropNode(node="vps"),
        ]
        record(store, *changes)
        assert store.mesh() == apply_all(before, changes)
    fresh = path.parent / "fresh.db"
    SqliteStore.create(fresh).close()
    assert definitions(path) == definitions(fresh)


@pytest.mark.parametrize("known", [1, 2])
def test_an_old_store_has_the_rules_of_a_new_one_and_can_go_on(path: Path, known: int) -> None:
    lay_down(path, known)
    with closing(SqliteStore.open(path)) as store:
        with store.writing() as session:
            session.send(Sent(node="vps", generation=5, fingerprint="f", modules=["web"]), b"")
        with pytest.raises(ModuleInUse) as caught:
            record(store, DropModule(module="web"))
        assert "vps" in caught.value.declared_on
        record(store, PutModule(module=WEB, origin=ORIGIN))
        assert [(put.origin, put.current) for put in store.puts("web")] == [(HANDED, False), (ORIGIN, True)]
        workshop(store)
    fresh = path.parent / "fresh.db"
    SqliteStore.create(fresh).close()
    assert definitions(path) == definitions(fresh)
    with raw(path, foreign_keys=False) as conn:
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM declared; UPDATE modules SET manifest = 99 WHERE name = 'web'",
        "INSERT INTO declared VALUES ('nas', 'ghost')",
    ],
)
def test_a_damaged_old_store_is_told_as_one_and_stays_as_it_is(path: Path, damage: str) -> None:
    """A module without its manifest is not left out of the catalogue on the way."""
    lay_down(path, 2)
    with raw(path, foreign_keys=False) as conn:
        conn.executescript(damage)
    before = contents(path)
    with pytest.raises(StoreUnreadable) as caught:
        SqliteStore.open(path)
    assert caught.value.why is Unreadable.DAMAGED
    assert contents(path) == before


def test_killed_in_the_middle_of_a_migration(path: Path) -> None:
    """What stands in the log of a transaction that never ended is not there: the store is of schema 2."""
    before = lay_down(path, 2)
    rules = definitions(path)
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from mesh_adapters.store import SqliteStore, schema\n"
        "def die(db):\n"
        "    db.execute('PRAGMA cache_size = 1')\n"
        "    db.execute('CREATE TABLE ballast AS SELECT randomblob(4000000) AS bytes')\n"
        "    print(Path(sys.argv[1] + '-wal').stat().st_size, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "schema.MIGRATIONS()(die)\n"
        "SqliteStore.open(sys.argv[1])\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    argv = [PYTHON, "-c", program, str(path)]
    done = subprocess.run(argv, capture_output=True, env=environment, text=True, timeout=60)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert int(done.stdout) > 1_000_000, "nothing of the migration was written: the test shows nothing"
    with raw(path, foreign_keys=False) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (2,)
    assert (contents(path), definitions(path)) == (before, rules)
    with closing(SqliteStore.open(path)) as store:
        assert [put.manifest for put in store.puts()] == [WEB, POSTGRES]
    with raw(path, foreign_keys=False) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (schema.KNOWN,)
    assert sorted(everything(path.parent)) == ["mesh.db"]
