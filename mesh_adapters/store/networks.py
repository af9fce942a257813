"""The overlay network in the tables, rows <-> values. Nothing here begins or ends a transaction."""

from __future__ import annotations

from collections import defaultdict

from sqlite_utils import Database

from mesh_core.model.network import Attachment, Endpoint, Network, Peers
from mesh_core.model.node import Node


def read_network(db: Database) -> Network | None:
    """What holds for the whole overlay, if there is one. Retired addresses without it are damage."""
    rows = db.execute("SELECT range, peers, port FROM network").fetchall()
    retired = [a for (a,) in db.execute("SELECT address FROM retired_addresses ORDER BY position").fetchall()]
    if len({*retired}) < len(retired) or (retired and not rows):
        raise ValueError("retired addresses that cannot be")
    if not rows:
        return None
    ((range_, peers, port),) = rows
    return Network(range=range_, peers=Peers(peers), port=port, retired=retired)


def write_network(db: Database, network: Network | None) -> None:
    """Make it so; without one, nobody has an address."""
    db.execute("DELETE FROM network")
    db.execute("DELETE FROM retired_addresses")
    if network is None:
        db.execute("UPDATE nodes SET address = NULL")
        return
    db.execute(
        "INSERT INTO network (only_one, range, peers, port) VALUES (1, ?, ?, ?)",
        (network.range, network.peers.value, network.port),
    )
    db.conn.executemany(
        "INSERT INTO retired_addresses (address) VALUES (?)", ((address,) for address in network.retired)
    )


def read_holders(db: Database) -> list[Node]:
    """Who has an address, by name, and nothing else of them."""
    rows = db.execute("SELECT name, address FROM nodes WHERE address IS NOT NULL ORDER BY name").fetchall()
    return [Node(name=name, network=Attachment(address=address)) for name, address in rows]


def read_endpoints(db: Database, node: str | None = None) -> dict[str, list[Endpoint]]:
    """By node, where it is reached: of one, or of all. Gaps and repetitions are damage."""
    where, given = ("", ()) if node is None else (" WHERE node = ?", (node,))
    query = f"SELECT node, position, at, site FROM endpoints{where} ORDER BY node, position"
    found: defaultdict[str, list[Endpoint]] = defaultdict(list)
    for name, place, at, site in db.execute(query, given).fetchall():
        endpoint = Endpoint(at=at, site=site)
        if place != len(found[name]) or endpoint in found[name]:
            raise ValueError(f"endpoints that {name!r} cannot have")
        found[name].append(endpoint)
    return found


def write_attachment(db: Database, node: str, attachment: Attachment) -> None:
    """How a node is attached from now on."""
    db.execute(
        "UPDATE nodes SET address = ?, key = ?, site = ?, relay = ? WHERE name = ?",
        (attachment.address, attachment.key, attachment.site, int(attachment.relay), node),
    )
    db.execute("DELETE FROM endpoints WHERE node = ?", (node,))
    db.conn.executemany(
        "INSERT INTO endpoints (node, position, at, site) VALUES (?, ?, ?, ?)",
        ((node, place, end.at, end.site) for place, end in enumerate(attachment.endpoints)),
    )
