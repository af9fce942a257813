"""`-h` and `--help`: every command has them, with an example that is understood, and `--json`."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Iterator

import pytest
import typer

from mesh_cli.app import app
from tests.integration.cli.program import mesh, process

COMMANDS = [
    "plan",
    "declare",
    "push",
    "collect",
    "serve",
    "status",
    "build",
    "builds",
    "graph",
    "lint",
    "assign",
    "unassign",
    "pin",
    "unpin",
    "init",
    "import",
    "export",
    "history",
    "backup",
    "node add",
    "node remove",
    "node report",
    "node list",
    "node show",
    "node invite",
    "node revoke",
    "module add",
    "module remove",
    "module list",
    "module show",
    "module accept",
    "module rollback",
    "source set",
    "source remove",
    "source show",
    "source check",
    "network set",
    "network move",
    "network remove",
    "network attach",
    "network show",
    "broker setup",
    "builder invite",
    "builder revoke",
    "builder list",
]
"""Every command there is; one that is added is added here."""

GROUPS = ["", "node", "module", "source", "network", "broker", "builder"]


def registered(group: typer.Typer = app, before: str = "") -> Iterator[str]:
    """The commands of a typer application, as they are typed; those that only say a new name are hidden."""
    for found in group.registered_commands:
        yield f"{before}{found.name}"
    for below in group.registered_groups:
        if below.hidden is True:
            continue
        assert below.typer_instance is not None
        yield from registered(below.typer_instance, f"{before}{below.name} ")


def summaries(help_text: str) -> dict[str, str]:
    """The commands that a help lists, each with its summary."""
    listed = help_text.partition("\nCommands:\n")[2]
    return dict(re.findall(r"^  (\S+) +(.*)$", listed, re.MULTILINE))


def test_the_list_of_commands_is_complete() -> None:
    assert sorted(registered()) == sorted(COMMANDS)
    for group in GROUPS:
        words = group.split()
        listed = set(summaries(mesh(*words, "--help").out))
        assert listed == {
            line.split()[len(words)]
            for line in COMMANDS + GROUPS[1:]
            if line.split()[: len(words)] == words and len(line.split()) > len(words)
        }


@pytest.mark.parametrize("line", [*COMMANDS, *GROUPS])
def test_help_is_there_by_both_names_and_fits_a_terminal(line: str) -> None:
    ran = mesh(*line.split(), "--help")
    assert ran.code == 0
    assert not ran.err
    assert mesh(*line.split(), "-h") == ran
    assert ran.out.startswith(f"Usage: {' '.join(['mesh', *line.split()])} ")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "..." not in "".join(summaries(ran.out).values()), "a summary that is cut says nothing"
    assert all(summary.endswith(".") for summary in summaries(ran.out).values())


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_has_an_example_that_is_understood(line: str) -> None:
    """It is understood: what it fails with, with no store and no file, is no wrong usage."""
    printed = mesh(*line.split(), "--help").out
    (example,) = re.findall(r"^ +Example: (.*)$", printed, re.MULTILINE)
    program, *words = shlex.split(example)
    assert program == "mesh"
    assert words[: len(line.split())] == line.split()
    assert mesh(*words, "--help").code == 0
    assert mesh(*words).code in (0, 1, 5)
    # With an option that nobody knows it is not: so the line above says something.
    assert mesh(*words, "--bogus").code == 64


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_takes_json_and_a_store(line: str) -> None:
    printed = mesh(*line.split(), "--help").out
    assert re.search(r"^  --json ", printed, re.MULTILINE)
    assert re.search(r"^  --store PATH ", printed, re.MULTILINE)


@pytest.mark.parametrize("line", ["plan", "declare", "graph"])
def test_what_plans_takes_a_file(line: str) -> None:
    assert re.search(r"^  --file MESH ", mesh(line, "--help").out, re.MULTILINE)


@pytest.mark.parametrize("line", ["", "node", "plan", "module add"])
def test_help_may_be_asked_for_as_a_command(line: str) -> None:
    assert mesh("help", *line.split()) == mesh(*line.split(), "--help")
    assert mesh("help", *line.split()).code == 0
    assert mesh("help", "nod") == mesh("nod"), "and what there is not is told as ever"


def test_without_a_command_the_help_is_a_message() -> None:
    for group in GROUPS:
        ran = mesh(*group.split())
        assert ran.code == 64
        assert not ran.out
        assert ran.err == mesh(*group.split(), "--help").out


def test_help_is_the_same_in_a_pipe_and_whatever_the_width() -> None:
    """Nothing is wrapped to a width that the reader does not have, and nothing is coloured."""
    ran = process("--help")
    assert ran.code == 0
    assert ran.out == mesh("--help").out
    assert "\x1b" not in ran.out


def test_the_version_is_told() -> None:
    ran = mesh("--version")
    assert ran.code == 0
    assert re.fullmatch(r"mesh \d+\.\d+\.\d+\n", ran.out)


def test_options_may_stand_anywhere_after_the_command(store: object) -> None:
    assert mesh("plan", "pi", "--json") == mesh("plan", "--json", "pi")
    assert mesh("assign", "--anyway", "pi", "--json", "nothing", "--keep").code == 0
    for words in (["pi", "--jsn"], ["--jsn", "pi"], ["pi", "--json", "-q"]):
        assert mesh("plan", *words).code == 64, "an option that is not understood is never dropped"


def test_every_command_says_what_it_does_in_its_first_line() -> None:
    for found in app.registered_commands:
        assert found.callback is not None
        first = (inspect.getdoc(found.callback) or "").splitlines()[0]
        assert first.endswith(".")
