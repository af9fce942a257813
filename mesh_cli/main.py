"""The program `mesh`: runs the command line and turns every way to end into an exit code."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, NoReturn

import typer

from mesh_cli.app import app
from mesh_cli.exits import Exit, Stop
from mesh_cli.output import flush, give_up, note, say_json

# typer's own class for wrong usage; its place has moved between versions, its subclass has not.
_UsageError: Any = typer.BadParameter.__bases__[0]


def main() -> NoReturn:
    """Run `mesh` with the arguments of the process; never returns, never shows a traceback."""
    _open_what_is_closed()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run `mesh` with some arguments; its exit code."""
    if arguments[:1] == ["help"]:  # what many programs understand: `mesh help plan`
        arguments = [*arguments[1:], "--help"]
    try:
        code = _attempt(arguments)
        flush()
    except Stop as stop:  # the output itself failed
        note(stop.lines)
        return stop.exit_code
    return code


def _attempt(arguments: list[str]) -> int:
    try:
        code = app(args=arguments, prog_name="mesh", standalone_mode=False)
    except Stop as stop:
        return _stopped(stop, arguments)
    except _UsageError as error:
        return _wrong_usage(error, arguments)
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return _interrupted(arguments)
    except SystemExit as end:  # typer itself prints the help, and leaves when nobody reads it
        if isinstance(end.__context__, BrokenPipeError):
            return Exit.DONE
        raise
    except Exception as error:
        return _stopped(_outage(error, arguments), arguments)
    if code == Exit.INTERRUPTED:  # newer typers catch ctrl-c themselves
        return _interrupted(arguments)
    return code if isinstance(code, int) else Exit.DONE


def _stopped(stop: Stop, arguments: list[str]) -> int:
    if _wants_json(arguments):
        say_json({"error": {"code": stop.code, "message": "\n".join(stop.lines), **stop.facts}})
    note(stop.lines)
    return stop.exit_code


def _interrupted(arguments: list[str]) -> int:
    return _stopped(Stop(Exit.INTERRUPTED, "interrupted", "interrupted; nothing was recorded"), arguments)


def _wrong_usage(error: Any, arguments: list[str]) -> int:
    message = error.format_message().replace("Value error, ", "")
    if type(error).__name__ == "NoArgsIsHelpError":
        lines = message.splitlines()
    else:
        lines = f"mesh: {message}".splitlines()
        if error.ctx is not None:
            lines += [*error.ctx.get_usage().splitlines(), f"`{error.ctx.command_path} --help` says more"]
    return _stopped(Stop(Exit.USAGE, "usage", lines), arguments)


def _wants_json(arguments: list[str]) -> bool:
    """Whether `--json` was said, before a `--` that ends the options; it may not have been understood."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def _outage(error: Exception, arguments: list[str]) -> Stop:
    """What an adapter raised, told. A bug is raised again, and keeps its traceback."""
    from mesh_core.ports import StoreError

    if isinstance(error, OSError) and error.errno == errno.ENOSPC:  # typer's own printing
        give_up(sys.stdout, error)
    if not isinstance(error, StoreError):
        raise error
    from mesh_cli.outages import told

    said = any(word == "--store" or word.startswith("--store=") for word in arguments)
    return told(error, store_was_said=said)


def _open_what_is_closed() -> None:
    """Have streams to write to, whoever started us; what one cannot say in its encoding is escaped."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115 - for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
