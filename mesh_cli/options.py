"""The arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from mesh_cli.exits import Exit, Stop


def _names(read: str) -> Callable[[str], list[str]]:
    """Names for the shell's completion; where there is no store there are none, and no message."""

    def complete(incomplete: str) -> list[str]:
        try:
            from mesh_cli.completion import names

            return [name for name in names(read) if name.startswith(incomplete)]
        except Exception:
            return []

    return complete


StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store", metavar="PATH", help="The store (default: MESH_STORE, the config file, then yours)."
    ),
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
NoInputOption = Annotated[bool, typer.Option("--no-input", help="Never ask: refuse where one would have to.")]
NodeArgument = Annotated[
    str, typer.Argument(metavar="NODE", autocompletion=_names("nodes"), show_default=False)
]
OptionalNode = Annotated[
    str | None, typer.Argument(metavar="[NODE]", autocompletion=_names("nodes"), show_default=False)
]
ModuleArgument = Annotated[
    str, typer.Argument(metavar="MODULE", autocompletion=_names("modules"), show_default=False)
]
ModulesArgument = Annotated[
    list[str], typer.Argument(metavar="MODULE...", autocompletion=_names("modules"), show_default=False)
]
ProvisionArgument = Annotated[
    str, typer.Argument(metavar="PROVISION", autocompletion=_names("provisions"), show_default=False)
]


def checked_name(kind: str, name: str) -> str:
    """A name from the command line; wrong usage where it breaks its grammar (design, part 11)."""
    from mesh_core.faults import NameKind
    from mesh_core.model.names import name_fault

    fault = name_fault(NameKind(kind), name)
    if fault is not None:
        raise Stop(Exit.USAGE, "bad-name", str(fault), {"name": name, "kind": kind})
    return name
