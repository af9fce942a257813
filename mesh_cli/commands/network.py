"""`mesh network ...`: the overlay network that the machines reach each other through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.looking import mesh_of
from mesh_cli.lookup import known_node
from mesh_cli.options import FileOption, JsonOption, NodeArgument, NoInputOption, StoreOption, YesOption
from mesh_cli.output import note, say, say_json
from mesh_cli.recording import Recording

if TYPE_CHECKING:
    from mesh_core.analysis.proposal import Proposal
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.network import Attachment, Endpoint, Network

group = typer.Typer(help="The network between the machines.", rich_markup_mode=None, no_args_is_help=True)


class WhichPeers(StrEnum):
    """Who is told of whom, as it is said on the command line."""

    FULL = "full"
    TAKES = "takes"


RangeArgument = Annotated[
    str | None,
    typer.Argument(metavar="RANGE", help="10.77.0.0/24, or fd77::/64.", show_default=False),
]


@group.command("set")
def set_network(
    addresses: RangeArgument = None,
    *,
    peers: Annotated[
        WhichPeers | None,
        typer.Option(
            "--peers",
            help="takes: who takes from or gives to each other (default); full: all.",
            show_default=False,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", metavar="PORT", help="The UDP port of all (51820).", show_default=False),
    ] = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give the mesh a network, or change what holds for all of it.

    Every node is given an address of the range, which it keeps. Another range
    later is `mesh network move`.

    Example: mesh network set 10.77.0.0/24
    """

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.network.addresses import moving

        return moving(mesh, _wanted(mesh, addresses, peers, port))

    words = [addresses] if addresses else []
    words += ["--peers", peers.value] if peers else []
    words += ["--port", str(port)] if port is not None else []
    Recording("network", "set", *words, store=store, as_json=as_json).run(decide)


def _wanted(mesh: Mesh, addresses: str | None, peers: WhichPeers | None, port: int | None) -> Network:
    from mesh_core.model.network import PORT, Network, Peers

    was = mesh.network
    if addresses is None and was is None:
        line = "the mesh has no network yet: say a range, like `mesh network set 10.77.0.0/24`"
        raise Stop(Exit.USAGE, "no-range", line)
    if was is not None and addresses is not None and addresses != was.range:
        line = (
            f"the network is {was.range}; `mesh network move {addresses}` says who would have another address"
        )
        raise Stop(Exit.FAILED, "another-range", line, {"range": was.range})
    with _checked():
        return Network(
            range=addresses or (was.range if was else ""),
            peers=Peers(peers.value) if peers else was.peers if was else Peers.TAKES,
            port=port if port is not None else was.port if was else PORT,
        )


@group.command("move")
def move(
    addresses: Annotated[str, typer.Argument(metavar="RANGE", help="The new one.", show_default=False)],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show who moves.")] = False,
    yes: YesOption = False,
    no_input: NoInputOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give the network another range, and show who moves.

    Who has an address in both keeps it. The machines move with the next push,
    each by itself: until all have, some do not reach each other.

    Example: mesh network move 10.99.0.0/16 --dry-run
    """

    def decide(mesh: Mesh) -> Iterable[Change]:
        from attrs import evolve

        from mesh_core.network.addresses import moving

        was = _known(mesh)
        with _checked():
            return moving(mesh, evolve(was, range=addresses))

    def preview(proposal: Proposal) -> list[str]:
        from mesh_cli.render.network import moves

        return moves(proposal)

    asks = not (yes or no_input or dry_run)
    recording = Recording(
        "network", "move", addresses, store=store, as_json=as_json, asks=asks, dry_run=dry_run
    )
    recording.run(decide, preview=preview)


@group.command("remove")
def remove(
    *,
    yes: YesOption = False,
    no_input: NoInputOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take the network away; the next push takes it off the machines.

    Addresses are forgotten. Keys, endpoints and sites stay known.

    Example: mesh network remove
    """

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.network.addresses import moving

        _known(mesh)
        return moving(mesh, None)

    asks = not (yes or no_input)
    Recording("network", "remove", store=store, as_json=as_json, asks=asks).run(decide)


@group.command("attach")
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
    endpoints; who has no endpoint reaches others, or is reached by a relay.

    Example: mesh network attach vps --endpoint vps.example.org --relay
    """
    if no_endpoint and (endpoint or lan):
        line = "--no-endpoint says that there is none; it goes with neither --endpoint nor --lan"
        raise Stop(Exit.USAGE, "two-endpoints", line)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from attrs import evolve

        from mesh_core.change import Attach

        was = known_node(mesh, node).network
        with _checked():
            now = was if site is None else evolve(was, site=site or None)
            ends = () if no_endpoint else _endpoints(mesh, now, endpoint, lan)
            now = evolve(now, endpoints=ends, relay=was.relay if relay is None else relay)
            now = now if address is None else evolve(now, address=address)
            _fits(mesh, node, now)
        return [] if now == was else [Attach(node=node, network=now)]

    words = [w for one in endpoint or () for w in ("--endpoint", one)]
    words += [w for one in lan or () for w in ("--lan", one)]
    words += [] if site is None else ["--site", site]
    words += [] if relay is None else ["--relay" if relay else "--no-relay"]
    words += [] if address is None else ["--address", address]
    words += ["--no-endpoint"] if no_endpoint else []
    Recording("network", "attach", node, *words, store=store, as_json=as_json).run(decide)


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


def _fits(mesh: Mesh, node: str, now: Attachment) -> None:
    """Stop at an address that cannot be this node's."""
    from mesh_core.model.mesh import address_faults
    from mesh_core.model.node import Node

    others = [other for other in mesh.nodes if other.name != node]
    if now.address is not None:
        _known(mesh)
    for _, why in address_faults(mesh.network, [*others, Node(name=node, network=now)]):
        raise Stop(Exit.FAILED, "bad-network", why)


@group.command("show")
def show(*, file: FileOption = None, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show who has which address, who talks to whom, and what is amiss.

    Example: mesh network show
    """
    from mesh_cli.render import network as render
    from mesh_core.network.overlay import overlay
    from mesh_core.resolve import resolve

    mesh, _ = mesh_of(file, store)
    found = overlay(mesh, resolve(mesh))
    if as_json:
        say_json(render.facts(mesh, found))
        return
    say(render.lines(mesh, found))
    note(render.notes(found.notes))


def _known(mesh: Mesh) -> Network:
    from mesh_cli.render.network import NO_NETWORK

    if mesh.network is None:
        raise Stop(Exit.FAILED, "no-network", NO_NETWORK)
    return mesh.network


@contextmanager
def _checked() -> Iterator[None]:
    """Stop at what was said on the command line and cannot be."""
    from mesh_core.faults import InvalidValue

    try:
        yield
    except InvalidValue as error:
        raise Stop(Exit.USAGE, "bad-network", str(error)) from None
