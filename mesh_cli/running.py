"""Runs a command line and turns every way to end into an exit code; shared by every program of meshwright."""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import typer
from typer.main import get_command

from mesh_cli.exits import Exit, Stop
from mesh_cli.output import flush, give_up, note, say_json

# typer's own class for wrong usage; its place has moved between versions, its subclass has not.
_UsageError: Any = typer.BadParameter.__bases__[0]

Told = Callable[[Exception, list[str]], Stop | None]


class Program:
    """A program: its name, its commands, what it says when it is interrupted, and how it tells an outage.

    `told` gives the end of a command for what an adapter raised, and None for what is a bug.
    """

    def __init__(self, name: str, app: typer.Typer, *, interrupted: str, told: Told) -> None:
        self._name = name
        self._app = app
        self._interrupted = interrupted
        self._told = told

    def run(self, arguments: Sequence[str]) -> int:
        """Run it with some arguments; its exit code."""
        arguments = list(arguments)
        if arguments[:1] == ["help"]:  # what many programs understand: `mesh help plan`
            arguments = [*arguments[1:], "--help"]
        try:
            code = self._attempt(arguments)
            flush()
        except Stop as stop:  # the output itself failed
            note(stop.lines)
            return stop.exit_code
        return code

    @cached_property
    def _command(self) -> Any:
        """What typer makes of all commands and their options, which takes longer than most of them."""
        return get_command(self._app)

    def _attempt(self, arguments: list[str]) -> int:
        try:
            code = self._command(args=arguments, prog_name=self._name, standalone_mode=False)
        except Stop as stop:
            return _stopped(stop, arguments)
        except _UsageError as error:
            return self._wrong_usage(error, arguments)
        except typer.Exit as end:
            return end.exit_code
        except (typer.Abort, KeyboardInterrupt):
            return self._stopped_by_hand(arguments)
        except SystemExit as end:  # typer itself prints the help, and leaves when nobody reads it
            if isinstance(end.__context__, BrokenPipeError):
                return Exit.DONE
            raise
        except Exception as error:
            return _stopped(self._outage(error, arguments), arguments)
        if code == Exit.INTERRUPTED:  # newer typers catch ctrl-c themselves
            return self._stopped_by_hand(arguments)
        return code if isinstance(code, int) else Exit.DONE

    def _stopped_by_hand(self, arguments: list[str]) -> int:
        return _stopped(Stop(Exit.INTERRUPTED, "interrupted", self._interrupted), arguments)

    def _wrong_usage(self, error: Any, arguments: list[str]) -> int:
        message = error.format_message().replace("Value error, ", "")
        if type(error).__name__ == "NoArgsIsHelpError":
            lines = message.splitlines()
        else:
            lines = f"{self._name}: {message}".splitlines()
            if error.ctx is not None:
                lines += [*error.ctx.get_usage().splitlines(), f"`{error.ctx.command_path} --help` says more"]
        return _stopped(Stop(Exit.USAGE, "usage", lines), arguments)

    def _outage(self, error: Exception, arguments: list[str]) -> Stop:
        """What an adapter raised, told. A bug is raised again, and keeps its traceback."""
        if isinstance(error, OSError) and error.errno == errno.ENOSPC:  # typer's own printing
            give_up(sys.stdout, error)
        stop = self._told(error, arguments)
        if stop is None:
            raise error
        return stop


def _stopped(stop: Stop, arguments: list[str]) -> int:
    if _wants_json(arguments):
        say_json({"error": {"code": stop.code, "message": "\n".join(stop.lines), **stop.facts}})
    note(stop.lines)
    return stop.exit_code


def _wants_json(arguments: list[str]) -> bool:
    """Whether `--json` was said, before a `--` that ends the options; it may not have been understood."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in options


def open_what_is_closed() -> None:
    """Have streams to write to, whoever started us; what one cannot say in its encoding is escaped."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115 - for as long as the process lives
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
