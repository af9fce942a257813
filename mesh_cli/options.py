"""The arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from mesh_cli.exits import Exit, Stop


def completed(read: str) -> Callable[[typer.Context, str], list[str]]:
    """Names for the shell's completion; where there is no store there are none, and no message."""

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        try:
            from mesh_cli.completion import names

            store = ctx.params.get("store")
            found = names(read, Path(store) if store else None)
            return [name for name in found if name.startswith(incomplete)]
        except Exception:
            return []

    return complete


StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="PATH", help="The store (default: MESH_STORE, the config file, then yours)."
    ),
]
BrokerOption = Annotated[
    str | None,
    typer.Option("--broker", metavar="URL", help="The broker (default: MESH_BROKER, then the config file)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
AnywayOption = Annotated[
    bool, typer.Option("--anyway", help="Record it even if nodes are refused, or answers move.")
]
KeepOption = Annotated[
    bool,
    typer.Option("--keep", help="Pin and assign what stands now, where the change would make it ambiguous."),
]
FileOption = Annotated[
    str | None,
    typer.Option(
        "--file", metavar="MESH", help="Read this mesh document (.json, .toml or -), not the store."
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
NoInputOption = Annotated[bool, typer.Option("--no-input", help="The same, for scripts.")]
NodeArgument = Annotated[
    str, typer.Argument(metavar="NODE", autocompletion=completed("nodes"), show_default=False, hidden=True)
]
OptionalNode = Annotated[
    str | None,
    typer.Argument(metavar="NODE", autocompletion=completed("nodes"), show_default=False, hidden=True),
]
NodesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="NODE", autocompletion=completed("nodes"), show_default=False, hidden=True),
]
NamesArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="NODE|MODULE", autocompletion=completed("both"), show_default=False, hidden=True),
]
ModuleArgument = Annotated[
    str,
    typer.Argument(metavar="MODULE", autocompletion=completed("modules"), show_default=False, hidden=True),
]
ModulesArgument = Annotated[
    list[str],
    typer.Argument(metavar="MODULE", autocompletion=completed("modules"), show_default=False, hidden=True),
]
ProvisionArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROVISION", autocompletion=completed("provisions"), show_default=False, hidden=True
    ),
]


def checked_name(kind: str, name: str) -> str:
    """A name from the command line; wrong usage where it breaks its grammar (design, part 11)."""
    from mesh_core.faults import NameKind
    from mesh_core.model.names import name_fault

    fault = name_fault(NameKind(kind), name)
    if fault is not None:
        raise Stop(Exit.USAGE, "bad-name", str(fault), {"name": name, "kind": kind})
    return name
