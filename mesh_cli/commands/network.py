"""`mesh network ...`: the overlay network that the machines reach each other through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mesh_cli.commands.attaching import attach, checked, known_network
from mesh_cli.exits import Exit, Stop
from mesh_cli.looking import mesh_of
from mesh_cli.options import FileOption, JsonOption, NoInputOption, StoreOption, YesOption
from mesh_cli.output import note, say, say_json
from mesh_cli.recording import Recording

if TYPE_CHECKING:
    from mesh_core.analysis.proposal import Proposal
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.network import Network

group = typer.Typer(help="The network between the machines.", rich_markup_mode=None, no_args_is_help=True)
group.command("attach")(attach)


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
    left: list[tuple[str, str]] = []

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.network.addresses import moving

        wanted = _wanted(mesh, addresses, peers, port)
        left[:] = _left_at_the_port(mesh, wanted)
        return moving(mesh, wanted)

    def also() -> dict[str, Any]:
        if not left:
            return {}
        note("endpoints keep their port; `mesh network attach NODE --endpoint HOST` says another one:")
        note(f"  {node} is reached at {at}" for node, at in left)
        return {"kept_endpoints": [{"node": node, "at": at} for node, at in left]}

    words = [addresses] if addresses else []
    words += ["--peers", peers.value] if peers else []
    words += ["--port", str(port)] if port is not None else []
    Recording("network", "set", *words, store=store, as_json=as_json).run(decide, also=also)


def _wanted(mesh: Mesh, addresses: str | None, peers: WhichPeers | None, port: int | None) -> Network:
    from attrs import evolve

    from mesh_core.model.network import Network, Peers

    was = mesh.network
    if addresses is None and was is None:
        line = "the mesh has no network yet: say a range, like `mesh network set 10.77.0.0/24`"
        raise Stop(Exit.USAGE, "no-range", line)
    said: dict[str, Any] = {} if addresses is None else {"range": addresses}
    said |= {} if peers is None else {"peers": Peers(peers.value)}
    said |= {} if port is None else {"port": port}
    with checked():
        wanted = Network(**said) if was is None else evolve(was, **said)
    if was is not None and wanted.range != was.range:
        move = f"`mesh network move {wanted.range}` says who would have another address"
        raise Stop(Exit.FAILED, "another-range", f"the network is {was.range}; {move}", {"range": was.range})
    return wanted


def _left_at_the_port(mesh: Mesh, wanted: Network) -> Iterator[tuple[str, str]]:
    """Who is reached at the port that was everybody's until now: it may be a router's, so it stays."""
    from mesh_core.model.network import PORT

    before = PORT if mesh.network is None else mesh.network.port
    for node in mesh.nodes:
        for one in node.network.endpoints:
            if before != wanted.port and one.at.endswith(f":{before}"):
                yield node.name, one.at


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

        was = known_network(mesh)
        with checked():
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

        known_network(mesh)
        return moving(mesh, None)

    asks = not (yes or no_input)
    Recording("network", "remove", store=store, as_json=as_json, asks=asks).run(decide)


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
    note(render.notes(mesh, found.notes))
