"""Strategies for the overlay network: ranges, how nodes are attached, whole meshes with one (design, part 8).

Few addresses, keys and sites, so that they meet: ranges get full, and several machines report one key.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection, Iterable
from itertools import islice

from attrs import evolve, frozen
from hypothesis import strategies as st

from mesh_core.model.mesh import Mesh
from mesh_core.model.network import UNATTACHED, Attachment, Endpoint, Network, Peers
from mesh_core.model.network_text import PORT, as_range
from mesh_core.model.node import Node
from mesh_core.model.resolution import Answer, Plan, Refusal, Resolution
from mesh_core.testing.strategies.dice import Dice, thrown

RANGES = ("10.77.0.0/29", "10.77.0.0/24", "fd77::/126", "10.77.0.0/30", "fd77::/64", "10.77.0.8/29")
"""Some have room for two or three machines, and one lies in another."""
KEYS = tuple(b64encode(bytes([number]) * 32).decode() for number in range(1, 9))
SITES = ("home", "office")
_PLACES = (
    "vps.example.org:51820",
    "192.168.1.5:51820",
    "[fd00::5]:51821",
    "10.0.0.9:1",
    "Relay.example:65535",
)
_FEW = 7


def machines(range_: str) -> list[str]:
    """The first few addresses that machines may have in a range, and the last one."""
    addresses = as_range(range_)
    last = int(addresses.broadcast_address) - (addresses.version == 4)
    every = range(int(addresses.network_address) + 1, last + 1)
    made = type(addresses.network_address)
    return [str(made(number)) for number in sorted({*islice(every, _FEW), last})]


def any_network(dice: Dice, held: Collection[str] = (), range_: str | None = None) -> Network:
    """What may hold for the overlay of a mesh whose nodes have these addresses."""
    own = dice.one_of(RANGES) if range_ is None else range_
    left = [address for address in machines(own) if address not in held]
    return Network(
        range=own,
        peers=dice.one_of((Peers.TAKES, Peers.FULL)),
        port=dice.one_of((PORT, PORT, 1, 65535)),
        retired=dice.some(left, 3),
    )


NETWORK_THROWS = 3 + 4


def any_endpoint(dice: Dice) -> Endpoint:
    """Where some machine is reached, by everybody or by those of a site."""
    return Endpoint(at=dice.one_of(_PLACES), site=dice.one_of((None, *SITES)))


def any_attachment(dice: Dice, address: str | None = None, keys: Collection[str] = KEYS) -> Attachment:
    """How some node may be attached, with this address."""
    return Attachment(
        address=address,
        key=dice.one_of((None, *keys)),
        endpoints=[any_endpoint(dice) for _ in range(dice.one_of((0, 0, 1, 1, 2)))],
        site=dice.one_of((None, *SITES)),
        relay=dice.one_in(4),
    )


ATTACHMENT_THROWS = 1 + 1 + 2 * 2 + 1 + 1
_NODE_THROWS = 1 + ATTACHMENT_THROWS + 1
ATTACHED_THROWS = 3 + NETWORK_THROWS + _FEW + 1 + 5 * _NODE_THROWS


def any_attached(dice: Dice, mesh: Mesh) -> Mesh:
    """A mesh with or without a network; its nodes attached, or not at all."""
    networked, described = dice.one_in(3), dice.one_in(4)
    if not networked and not described:
        return mesh
    return _attached(dice, mesh, networked=networked)


def _attached(dice: Dice, mesh: Mesh, *, networked: bool, doubled: bool = True) -> Mesh:
    """Nodes get the addresses of one range; some get none, and each has one of its own."""
    range_ = dice.one_of(RANGES)
    of_network = dice.part(NETWORK_THROWS)
    free = dice.part(_FEW + 1).shuffled(machines(range_))
    keys = list(KEYS)
    nodes = []
    for node in mesh.nodes:
        of_node = dice.part(_NODE_THROWS)
        address = free.pop() if free and not of_node.one_in(5) else None
        attachment = any_attachment(of_node, address, keys)
        if attachment.key is not None and not (doubled and of_node.one_in(4)):
            keys.remove(attachment.key)
        nodes.append(evolve(node, network=attachment))
    held = _held(nodes)
    network = any_network(of_network, held, range_) if networked else None
    return evolve(mesh, nodes=nodes, network=network)


def _held(nodes: Iterable[Node]) -> set[str]:
    return {node.network.address for node in nodes if node.network.address is not None}


def any_reattachment(dice: Dice, mesh: Mesh, name: str) -> Attachment:
    """How a node, which need not be there, could be attached instead; that mesh can have it."""
    node = mesh.node(name)
    was = UNATTACHED if node is None else node.network
    range_ = mesh.network.range if mesh.network is not None else RANGES[0]
    held = _held(mesh.nodes)
    free = [None, *(address for address in machines(range_) if address not in held)]
    address = was.address if dice.one_in(2) else dice.one_of(free)
    if dice.one_in(3):
        return evolve(was, address=address)
    return any_attachment(dice, address)


def any_other_network(dice: Dice, mesh: Mesh) -> Network | None:
    """What could hold for the overlay of a mesh instead, if anything; its nodes keep their addresses."""
    held = _held(mesh.nodes)
    fitting = [range_ for range_ in RANGES if held <= {*machines(range_)}]
    if not fitting or dice.one_in(3):
        return None
    return any_network(dice, held, dice.one_of(fitting))


_OF_NODES = 8


def any_networked_mesh(dice: Dice, *, doubled: bool = True) -> Mesh:
    """Some nodes that have a network, and no modules; without `doubled` no two report one key."""
    count = 1 + dice.below(_OF_NODES)
    nodes = [Node(name=name) for name in ("ant", "bee", "cow", "dog", "elk", "fox", "gnu", "hen")[:count]]
    return _attached(dice, Mesh(nodes=nodes), networked=True, doubled=doubled)


NETWORKED_THROWS = 1 + 1 + NETWORK_THROWS + _FEW + 1 + _OF_NODES * _NODE_THROWS


def networked_meshes() -> st.SearchStrategy[Mesh]:
    """Nodes that have a network, and no modules."""
    return thrown(NETWORKED_THROWS, any_networked_mesh)


@frozen(kw_only=True)
class Taking:
    """What an overlay is made of: a mesh, who takes from whom, and pairs that are kept besides."""

    mesh: Mesh
    resolution: Resolution
    kept: tuple[tuple[str, str], ...] = ()


def any_taking(dice: Dice) -> Taking:
    """Nodes that have a network, of which each takes something from some, itself perhaps among them."""
    mesh = any_networked_mesh(dice.part(NETWORKED_THROWS), doubled=dice.one_in(2))
    names = [node.name for node in mesh.nodes]
    outcomes = [_any_outcome(dice.part(_OUTCOME_THROWS), name, names) for name in names]
    kept = [(dice.one_of(names), dice.one_of((*names, "zebra"))) for _ in range(dice.below(3))]
    return Taking(mesh=mesh, resolution=Resolution(outcomes=outcomes), kept=tuple(kept))


def _any_outcome(dice: Dice, name: str, names: list[str]) -> Plan | Refusal:
    given = [
        (dice.one_of(("database", "mail")), dice.one_in(3), dice.one_of(names)) for _ in range(dice.below(4))
    ]
    answers = tuple(
        Answer(provision=provision, every=every, node=node, module="m", required_by=("web",))
        for provision, every, node in sorted({*given})
    )
    if dice.one_in(5):
        return Refusal(node=name, modules=(), answers=answers, problems=())
    return Plan(node=name, modules=(), answers=answers)


_OUTCOME_THROWS = 1 + 3 * 3 + 1
TAKING_THROWS = NETWORKED_THROWS + 1 + _OF_NODES * _OUTCOME_THROWS + 1 + 2 * 2


def any_other_mesh(dice: Dice, mesh: Mesh) -> Mesh:
    """A mesh with a network after nodes have come, gone and changed: addresses go from one to another."""
    if dice.one_in(6):
        return any_networked_mesh(dice)
    assert mesh.network is not None
    range_ = dice.one_of((mesh.network.range, mesh.network.range, mesh.network.range, *RANGES))
    of_addresses = dice.part(_FEW + 1)
    stay = [node for node in mesh.nodes if not dice.one_in(4)]
    stay += [Node(name="yak")] if dice.one_in(3) else []
    free: list[str | None] = [*of_addresses.shuffled(machines(range_)), None]
    nodes: list[Node] = []
    for node in stay:
        was = node.network.address
        address = was if was in free and not dice.one_in(3) else dice.one_of((free[0], None))
        free = [one for one in free if one != address or one is None]
        kept = evolve(node.network, address=address)
        attachment = kept if dice.one_in(2) else any_attachment(dice.part(ATTACHMENT_THROWS), address)
        nodes.append(evolve(node, network=attachment))
    network = any_network(dice, _held(nodes), range_) if not dice.one_in(6) else None
    return evolve(mesh, nodes=nodes, network=network)


OTHER_THROWS = NETWORKED_THROWS + _OF_NODES * (4 + ATTACHMENT_THROWS)
