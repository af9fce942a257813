"""What the command lines of all programs have alike: settings, and the question for the version."""

# No postponed annotations here: typer would look for `version` in the module, and it is a function's own.
from typing import Annotated

import typer

from mesh_cli.output import say
from mesh_cli.version import __version__


def command_line(program: str, what: str) -> typer.Typer:
    """The command line of a program without its commands; `what` is what the program does, in a sentence."""
    app = typer.Typer(
        help=what,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def version(wanted: bool) -> None:
        if wanted:
            say(f"{program} {__version__}")
            raise typer.Exit

    @app.callback(help=what)
    def _program(
        *,
        _version_wanted: Annotated[
            bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version.")
        ] = False,
    ) -> None:
        pass

    return app
