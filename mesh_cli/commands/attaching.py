"""`mesh network attach`: how one node is reached by the others, and whether it forwards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.lookup import known_node
from mesh_cli.options import JsonOption, NodeArgument, StoreOption
from mesh_cli.recording import Recording

if TYPE_CHECKING:
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.network import Attachment, Endpoint, Network
    from mesh_core.model.node import Node


def attach(
    node: NodeArgument,
    *,
    endpoint: Annotated[
        list[str] | None,
        typer.Option(
            "--endpoint",
            metavar="HOST[:PORT]",
            help="Where everybody reaches it.",
            show_default=False,
        ),
    ] = None,
    lan: Annotated[
        list[str] | None,
        typer.Option("--lan", metavar="HOST[:PORT]", help="Where its site reaches it.", show_default=False),
    ] = None,
    site: Annotated[
        str | None,
        typer.Option("--site", metavar="NAME", help="Where it stands; '' for nowhere.", show_default=False),
    ] = None,
    relay: Annotated[
        bool | None,
        typer.Option("--relay/--no-relay", help="Whether it forwards for others.", show_default=False),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            "--address", metavar="ADDRESS", help="Its own, in place of the one given.", show_default=False
        ),
    ] = None,
    no_endpoint: Annotated[
        bool, typer.Option("--no-endpoint", help="It is not reached from outside.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say how a node is reached by the others, and whether it forwards.

    What is not said stays as it is. Nodes of one site use each other's LAN
    endpoints, which a node loses where it leaves that site; who has none
    reaches others by theirs, or is reached by a relay.

    Example: mesh network attach vps --endpoint vps.example.org --relay
    """
    if no_endpoint and (endpoint or lan):
        line = "--no-endpoint says that there is none; it goes with neither --endpoint nor --lan"
        raise Stop(Exit.USAGE, "two-endpoints", line)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from attrs import evolve

        from mesh_core.change import Attach

        was = known_node(mesh, node).network
        with checked():
            now = was if site is None else _at(was, site or None)
            ends = () if no_endpoint else _endpoints(mesh, now, endpoint, lan)
            now = evolve(now, endpoints=ends, relay=was.relay if relay is None else relay)
            now = now if address is None else evolve(now, address=address)
            _fits(mesh, node, was, now)
        return [] if now == was else [Attach(node=node, network=now)]

    words = [w for one in endpoint or () for w in ("--endpoint", one)]
    words += [w for one in lan or () for w in ("--lan", one)]
    words += [] if site is None else ["--site", site]
    words += [] if relay is None else ["--relay" if relay else "--no-relay"]
    words += [] if address is None else ["--address", address]
    words += ["--no-endpoint"] if no_endpoint else []
    Recording("network", "attach", node, *words, store=store, as_json=as_json).run(decide)


def _at(was: Attachment, site: str | None) -> Attachment:
    """Where it stands now: in the LAN that it has left nobody finds it any more."""
    from attrs import evolve

    kept = [one for one in was.endpoints if one.site is None or one.site == site or one.site != was.site]
    return evolve(was, site=site, endpoints=kept)


def _endpoints(
    mesh: Mesh, now: Attachment, endpoint: list[str] | None, lan: list[str] | None
) -> list[Endpoint]:
    """Those of a kind that is said take the place of those that were there."""
    from mesh_core.model.network import Endpoint

    if lan and now.site is None:
        line = "a LAN endpoint is for the nodes of one site: say which with --site"
        raise Stop(Exit.USAGE, "no-site", line)
    near = [one for one in now.endpoints if one.site is not None]
    far = [one for one in now.endpoints if one.site is None]
    if lan is not None:
        near = [Endpoint(at=_with_port(mesh, one), site=now.site) for one in lan]
    if endpoint is not None:
        far = [Endpoint(at=_with_port(mesh, one)) for one in endpoint]
    return [*near, *far]


def _with_port(mesh: Mesh, said: str) -> str:
    """`HOST:PORT`; the network's own port where none is said."""
    from mesh_core.model.network import PORT, address_fault, split_endpoint

    if split_endpoint(said) is not None:
        return said
    port = mesh.network.port if mesh.network is not None else PORT
    bare = f"[{said}]" if ":" in said and address_fault(said) is None else said
    return f"{bare}:{port}" if split_endpoint(f"{bare}:{port}") is not None else said


def _fits(mesh: Mesh, node: str, was: Attachment, now: Attachment) -> None:
    """Stop at an address or an endpoint that cannot be this node's."""
    from mesh_core.model.mesh import address_faults
    from mesh_core.model.node import Node

    others = [other for other in mesh.nodes if other.name != node]
    if now.address is not None:
        known_network(mesh)
    faults = [why for _, why in address_faults(mesh.network, [*others, Node(name=node, network=now)])]
    said = [one for one in now.endpoints if one not in was.endpoints]
    for why in (*faults, *_endpoint_faults(mesh, others, said)):
        raise Stop(Exit.FAILED, "bad-network", why)


def _endpoint_faults(mesh: Mesh, others: Iterable[Node], said: Iterable[Endpoint]) -> Iterator[str]:
    """Nobody is reached from outside at an address of the inside, nor two machines at one port."""
    from mesh_core.model.network import split_endpoint

    theirs = {one: other.name for other in others for one in other.network.endpoints}
    for one in said:
        host, _ = split_endpoint(one.at) or ("", 0)
        if _is_inside(mesh, host):
            yield f"{host} is in the network itself: an endpoint is where one is reached without it"
        if one in theirs:
            yield f"{one.at} is where {theirs[one]} is reached: say another port, or another host"


def _is_inside(mesh: Mesh, host: str) -> bool:
    from mesh_core.model.network_text import address_fault, as_address, as_range

    if mesh.network is None or address_fault(host) is not None:
        return False
    return as_address(host) in as_range(mesh.network.range)


def known_network(mesh: Mesh) -> Network:
    """The network of a mesh that has one."""
    from mesh_cli.render.network import NO_NETWORK

    if mesh.network is None:
        raise Stop(Exit.FAILED, "no-network", NO_NETWORK)
    return mesh.network


@contextmanager
def checked() -> Iterator[None]:
    """Stop at what was said on the command line and cannot be."""
    from mesh_core.faults import InvalidValue

    try:
        yield
    except InvalidValue as error:
        raise Stop(Exit.USAGE, "bad-network", str(error)) from None
