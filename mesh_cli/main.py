"""The program `mesh`: runs the command line and turns every way to end into an exit code."""

from __future__ import annotations

import os
import sys
from typing import Any, NoReturn

import typer

from mesh_cli.app import app
from mesh_cli.exits import Exit, Stop
from mesh_cli.output import note, say_json

# typer's own class for wrong usage; its place has moved between versions, its subclass has not.
_UsageError: Any = typer.BadParameter.__bases__[0]


def main() -> NoReturn:
    """Run `mesh` with the arguments of the process; never returns, never shows a traceback."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run `mesh` with some arguments; its exit code."""
    try:
        code = app(args=arguments, prog_name="mesh", standalone_mode=False)
        sys.stdout.flush()
    except Stop as stop:
        return _stopped(stop, arguments)
    except _UsageError as error:
        return _wrong_usage(error)
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, KeyboardInterrupt):
        note("interrupted; nothing was recorded")
        return Exit.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has had enough. Python would complain again when it flushes.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.DONE
    except Exception as error:
        stop_for = _outage(error)
        if stop_for is None:
            raise
        return _stopped(stop_for, arguments)
    return code if isinstance(code, int) else Exit.DONE


def _stopped(stop: Stop, arguments: list[str]) -> int:
    if "--json" in arguments:
        say_json({"error": {"code": stop.code, "message": "\n".join(stop.lines), **stop.facts}})
    note(stop.lines)
    return stop.exit_code


def _wrong_usage(error: Any) -> int:
    if type(error).__name__ == "NoArgsIsHelpError":
        note(error.format_message())
        return Exit.USAGE
    note(f"mesh: {error.format_message()}")
    if error.ctx is not None:
        note([error.ctx.get_usage(), f"`{error.ctx.command_path} --help` says more"])
    return Exit.USAGE


def _outage(error: Exception) -> Stop | None:
    """What an adapter raised, told; None for a bug, which keeps its traceback."""
    from mesh_core.ports import StoreError

    if not isinstance(error, StoreError):
        return None
    from mesh_cli.outages import told

    return told(error)
