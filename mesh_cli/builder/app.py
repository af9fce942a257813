"""The command line `mesh-builder` as a whole: which commands there are, in the order of the help."""

from __future__ import annotations

from typing import Annotated

import typer

from mesh_cli.builder.commands import joining, running
from mesh_cli.output import say
from mesh_cli.version import __version__

app = typer.Typer(
    help="Builds modules from their sources, as the mesh asks for it, and publishes them.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"mesh-builder {__version__}")
        raise typer.Exit


@app.callback()
def _mesh_builder(
    *,
    _version_wanted: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Builds modules from their sources, as the mesh asks for it, and publishes them."""


app.command("join")(joining.join)
app.command("leave")(joining.leave)
app.command("run")(running.run)
