"""The overlay network in the tables, rows <-> values. Nothing here begins or ends a transaction."""

from __future__ import annotations

from collections import defaultdict

from sqlite_utils import Database

from mesh_core.faults import BadNetwork, InvalidValue
from mesh_core.model.mesh import address_faults
from mesh_core.model.network import Attachment, Endpoint, Network, Peers, retire, tidied
from mesh_core.model.node import Node


def read_network(db: Database) -> Network | None:
    """What holds for the whole overlay, if there is one."""
    rows = db.execute("SELECT range, peers, port FROM network").fetchall()
    if not rows:
        return None
    ((range_, peers, port),) = rows
    retired = db.execute("SELECT address FROM retired_addresses ORDER BY position").fetchall()
    return Network(range=range_, peers=Peers(peers), port=port, retired=[address for (address,) in retired])


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


def let_go(db: Database, address: str) -> None:
    """An address is nobody's from now on."""
    network = read_network(db)
    if network is not None:
        write_network(db, retire(network, address))


def tidy(db: Database) -> None:
    """What holds once all changes of an event are made. Raises `InvalidValue` where two have one address."""
    network = read_network(db)
    if network is None:
        return
    rows = db.execute("SELECT name, address FROM nodes WHERE address IS NOT NULL ORDER BY name").fetchall()
    nodes = [Node(name=name, network=Attachment(address=address)) for name, address in rows]
    faults = address_faults(network, nodes)
    if faults:
        raise InvalidValue(*(BadNetwork(why=why) for _, why in faults))
    tidy_one = tidied(network, (address for _, address in rows))
    if tidy_one != network:
        write_network(db, tidy_one)


def read_endpoints(db: Database, node: str | None = None) -> dict[str, list[Endpoint]]:
    """By node, where it is reached: of one, or of all."""
    where, given = ("", ()) if node is None else (" WHERE node = ?", (node,))
    found: defaultdict[str, list[Endpoint]] = defaultdict(list)
    for name, at, site in db.execute(
        f"SELECT node, at, site FROM endpoints{where} ORDER BY node, position", given
    ).fetchall():
        found[name].append(Endpoint(at=at, site=site))
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
