"""The command line `mesh-host` as a whole: which commands there are, in the order of the help."""

from __future__ import annotations

from typing import Annotated

import typer

from mesh_cli.host.commands import applying, joining, owning, probing, running, status
from mesh_cli.output import say
from mesh_cli.version import __version__

app = typer.Typer(
    help="Makes this machine what it is declared to be, and gives back what it was lent.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        say(f"mesh-host {__version__}")
        raise typer.Exit


@app.callback()
def _mesh_host(
    *,
    _version_wanted: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Makes this machine what it is declared to be, and gives back what it was lent."""


app.command("probe")(probing.probe)
app.command("apply")(applying.apply)
app.command("status")(status.status)
app.command("owned")(owning.owned)
app.command("forget")(owning.forget)
app.command("join")(joining.join)
app.command("leave")(joining.leave)
app.command("run")(running.run)
