"""The rules that the storage itself keeps of the overlay network, against raw SQL, as in `test_rules`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore
from mesh_core.change import Attach
from mesh_core.model.network import Attachment
from mesh_core.ports import StoreUnreadable, Unreadable
from tests.integration.store.helpers import counts, homelab, raw, record
from tests.integration.store.test_networks import NAS, SAID


@pytest.fixture
def lab(path: Path) -> Path:
    """Two endpoints of nas, and two addresses that are retired."""
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        record(store, *SAID)
    return path


REFUSED = {
    "INSERT INTO network VALUES (1, '10.77.0.0/24', 'full', 1)": "UNIQUE",
    "INSERT INTO network VALUES (2, '10.77.0.0/24', 'full', 1)": "CHECK",
    "UPDATE network SET only_one = 2": "CHECK",
    "UPDATE network SET peers = 'all'": "CHECK",
    "UPDATE network SET port = 0": "CHECK",
    "UPDATE network SET port = 65536": "CHECK",
    "UPDATE network SET port = 'x'": "TEXT value in INTEGER",
    "UPDATE network SET range = NULL": "NOT NULL",
    "INSERT INTO retired_addresses (address) VALUES ('10.77.0.6')": "UNIQUE",
    "INSERT INTO retired_addresses (address) VALUES (NULL)": "NOT NULL",
    "UPDATE nodes SET relay = 2": "CHECK",
    "UPDATE nodes SET relay = NULL": "NOT NULL",
    "UPDATE nodes SET address = x'00'": "BLOB value in TEXT",
    "INSERT INTO endpoints VALUES ('nas', 1, 'nas:1', NULL)": "UNIQUE",
    "INSERT INTO endpoints VALUES ('nas', 2, NULL, NULL)": "NOT NULL",
}


@pytest.mark.parametrize("foreign_keys", [True, False], ids=["fk", "no-fk"])
@pytest.mark.parametrize("statement", REFUSED)
def test_any_client_is_refused(lab: Path, statement: str, foreign_keys: bool) -> None:
    before = counts(lab)
    refused = pytest.raises(sqlite3.IntegrityError, match=REFUSED[statement])
    with raw(lab, foreign_keys=foreign_keys) as conn, refused:
        conn.execute(statement)
    assert counts(lab) == before


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO endpoints VALUES ('gone', 0, 'nas:1', NULL)", "UPDATE endpoints SET node = 'gone'"],
)
def test_foreign_keys_refuse(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=True) as conn, pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        conn.execute(statement)


def test_removing_a_node_takes_its_endpoints_along(lab: Path) -> None:
    """Counted before and after, in the table."""
    assert counts(lab)["endpoints"] == 2
    with raw(lab, foreign_keys=True) as conn:
        conn.execute("DELETE FROM nodes WHERE name = 'nas'")
    assert counts(lab)["endpoints"] == 0


WITHOUT_RULES = """
DROP TABLE network;
CREATE TABLE network (only_one INTEGER, range TEXT, peers TEXT, port INTEGER);
INSERT INTO network VALUES (1, '10.77.0.0/29', 'full', 51821);
DROP TABLE retired_addresses;
CREATE TABLE retired_addresses (position INTEGER, address TEXT);
INSERT INTO retired_addresses VALUES (1, '10.77.0.6'), (2, '10.77.0.4');
DROP TABLE endpoints;
CREATE TABLE endpoints (node TEXT, position INTEGER, at TEXT, site TEXT);
INSERT INTO endpoints VALUES
    ('nas', 0, 'vps.example.org:51820', NULL), ('nas', 1, '192.168.1.5:51820', 'home');
"""
"""The same rows in tables that keep no rule: as a disk may have them that was damaged."""

DAMAGE = [
    "INSERT INTO endpoints VALUES ('gone', 0, 'nas:1', NULL)",
    "UPDATE endpoints SET node = 'gone'",
    "UPDATE endpoints SET at = 'nas'",
    "UPDATE endpoints SET at = NULL",
    "UPDATE endpoints SET site = 'At Home'",
    "UPDATE endpoints SET position = position + 1",
    "DELETE FROM endpoints WHERE position = 0",
    "UPDATE endpoints SET position = 0",
    "INSERT INTO endpoints VALUES ('nas', 2, 'vps.example.org:51820', NULL)",
    "INSERT INTO network VALUES (2, '10.77.0.0/29', 'full', 51821)",
    "INSERT INTO network VALUES (1, '10.77.0.0/29', 'full', 51821)",
    "DELETE FROM network",
    "UPDATE network SET range = '10.77.0.1/29'",
    "UPDATE network SET range = '10.99.0.0/29'",
    "UPDATE network SET range = NULL",
    "UPDATE network SET peers = 'all'",
    "UPDATE network SET port = 0",
    "INSERT INTO retired_addresses VALUES (3, '10.77.0.6')",
    "INSERT INTO retired_addresses VALUES (3, '10.77.0.2')",
    "INSERT INTO retired_addresses VALUES (3, '10.77.0.0')",
    "INSERT INTO retired_addresses VALUES (3, '10.99.0.1')",
    "INSERT INTO retired_addresses VALUES (3, 'x')",
    "INSERT INTO retired_addresses VALUES (3, NULL)",
    "UPDATE nodes SET address = '10.77.0.2'",
    "UPDATE nodes SET address = '10.77.0.7' WHERE name = 'pi'",
    "UPDATE nodes SET address = 'x' WHERE name = 'pi'",
    "UPDATE nodes SET address = '' WHERE name = 'pi'",
    "UPDATE nodes SET key = 'x' WHERE name = 'pi'",
    "UPDATE nodes SET site = '-' WHERE name = 'pi'",
]


@pytest.mark.parametrize("statement", DAMAGE)
def test_what_got_past_the_rules_reads_as_damage_and_not_as_nothing(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=False) as conn:
        conn.executescript(WITHOUT_RULES)
        with closing(SqliteStore.open(lab)) as store:
            assert store.mesh().node("nas") is not None, "the rows themselves are right"
        assert conn.execute(statement).rowcount > 0
    with closing(SqliteStore.open(lab)) as store:
        with pytest.raises(StoreUnreadable) as caught:
            store.mesh()
        assert caught.value.why is Unreadable.DAMAGED
        assert caught.value.detail


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE network SET range = '10.77.0.1/29'",
        "UPDATE retired_addresses SET address = 'x' WHERE position = 1",
        "UPDATE endpoints SET at = 'nas'",
        "UPDATE nodes SET key = 'x' WHERE name = 'nas'",
    ],
)
def test_damage_that_a_change_meets_is_damage_too(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=False) as conn:
        conn.executescript(WITHOUT_RULES + statement)
    with closing(SqliteStore.open(lab)) as store, pytest.raises(StoreUnreadable):
        record(store, Attach(node=NAS.name, network=Attachment()))
