"""The tables, the rules that the storage itself keeps, and the migrations that lead here.

Nothing but what is in the file for good. A rule that is only a trigger holds for any client, also
for one that forgot `foreign_keys`. A change of the schema is a new migration at the end, in a file of its
own, and `KNOWN` one higher; one that stores have been through is never changed.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

from mesh_adapters.store.schema.first_tables import the_first_tables
from mesh_adapters.store.schema.overlay_network import the_overlay_network
from mesh_adapters.store.schema.sent_and_heard import what_was_sent_and_heard
from mesh_adapters.store.schema.sources_and_builds import sources_puts_and_builds

__all__ = [
    "APPLICATION_ID",
    "KNOWN",
    "MIGRATIONS",
    "bring_up_to_date",
    "sources_puts_and_builds",
    "the_first_tables",
    "the_overlay_network",
    "what_was_sent_and_heard",
]

APPLICATION_ID = 0x4D657368
""""Mesh" in ASCII: what tells our database from another program's."""

KNOWN = 4
"""The newest schema that this program knows: the number of migrations, kept as `user_version`."""

MIGRATIONS = Migrations("meshwright")
MIGRATIONS()(the_first_tables)
MIGRATIONS()(what_was_sent_and_heard)
MIGRATIONS()(sources_puts_and_builds)
MIGRATIONS()(the_overlay_network)


def bring_up_to_date(db: Database) -> None:
    """Apply the migrations that are missing, inside the transaction that is to hold them all."""
    MIGRATIONS.apply(db)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {KNOWN}")
