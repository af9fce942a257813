"""`mesh-builder run`: build what is asked for, until somebody ends it."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Mapping
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mesh_cli.builder import wiring
from mesh_cli.exits import Exit, Stop
from mesh_cli.going_on import note, print_object, signals
from mesh_cli.options import JsonOption
from mesh_cli.roots import RootOption, root_of

if TYPE_CHECKING:
    from mesh_cli.builder.wiring import Builder

RegistryOption = Annotated[
    str | None,
    typer.Option("--registry", metavar="WHERE", help="oci:/FOLDER or docker://HOST[:PORT]/PREFIX."),
]
ContainerOption = Annotated[
    bool, typer.Option("--allow-container", help="Make images too, shut in more weakly.")
]
SandboxOption = Annotated[
    bool, typer.Option("--without-sandbox", help="Build though bubblewrap does not work here.")
]
StateOption = Annotated[
    str | None, typer.Option("--state", metavar="DIR", help="Where to work (default: of the machine).")
]
OnceOption = Annotated[bool, typer.Option("--once", help="See to one request, if one waits, and end.")]


def run(
    *,
    registry: RegistryOption = None,
    allow_container: ContainerOption = False,
    without_sandbox: SandboxOption = False,
    state: StateOption = None,
    once: OnceOption = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build what the mesh asks for.

    One build at a time. SIGTERM or ctrl-c ends it, and the request that is in hand
    goes to another builder. With --json each answer is one line. What is
    said here may stand in /etc/mesh-builder/builder.toml too, with these keys:
    registry, registry_credentials, registry_certificates, git_credentials,
    git_identity, git_known_hosts, git_authorities, allow_container, base_images,
    without_sandbox, state; or in MESH_BUILDER_REGISTRY and so on.

    Example: mesh-builder run --registry oci:/srv/registry
    """
    from mesh_cli.builder.settings import settings

    flags = {
        "registry": registry,
        "allow_container": allow_container,
        "without_sandbox": without_sandbox,
        "state": state or None,
    }
    found = wiring.places_under(root_of(root))
    told = settings(found, flags)
    wiring.check(told, note)
    heard = print_object if as_json else _nobody
    with signals() as (stop, which), wiring.at_work(told, found, say=note, heard=heard) as builder:
        if once:
            _once(builder, stop)
        else:
            _until(builder, stop)
            note(wiring.ended())
        if which() == signal.SIGINT:
            raise Stop(Exit.INTERRUPTED, "interrupted", "interrupted")


def _once(builder: Builder, stop: Event) -> None:
    if not builder.once(stop.is_set) and not stop.is_set():
        note("no request came")


def _until(builder: Builder, stop: Event) -> None:
    notifier = wiring.notifier()

    def stopping() -> bool:
        notifier.alive()
        return stop.is_set()

    notifier.ready()
    try:
        builder.run(stopping, _wait(stopping))
    finally:
        notifier.stopping()


def _wait(stopping: Callable[[], bool]) -> Callable[[float], None]:
    """Sleeps, unless it is to stop: an event is never waited for that a signal sets."""

    def wait(seconds: float) -> None:
        until = time.monotonic() + seconds
        while not stopping() and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.2))

    return wait


def _nobody(_answer: Mapping[str, Any]) -> None:
    """Answers go to the broker alone."""
