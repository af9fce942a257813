"""`-h` and `--help`: every command has them, with an example that is understood, and `--json`."""

from __future__ import annotations

import re
import shlex

import pytest

from mesh_cli.host.app import app
from tests.integration.cli.test_help import registered, summaries
from tests.integration.host.cli.program import host, process

COMMANDS = ["apply", "forget", "join", "leave", "owned", "probe", "run", "status"]
ROOTED = ["apply", "forget", "join", "leave", "owned", "run", "status"]


def test_the_list_of_commands_is_complete() -> None:
    assert sorted(registered(app)) == COMMANDS
    assert set(summaries(host("--help").out)) == set(COMMANDS)


@pytest.mark.parametrize("line", ["", *COMMANDS])
def test_help_is_there_by_both_names_and_fits_a_terminal(line: str) -> None:
    ran = host(*line.split(), "--help")
    assert (ran.code, ran.err) == (0, "")
    assert host(*line.split(), "-h") == ran
    assert ran.out.startswith(f"Usage: {' '.join(['mesh-host', *line.split()])} ")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "..." not in "".join(summaries(ran.out).values()), "a summary that is cut says nothing"
    assert all(summary.endswith(".") for summary in summaries(ran.out).values())
    assert host("help", *line.split()) == ran


@pytest.mark.parametrize("line", COMMANDS)
def test_every_command_has_json_and_an_example_that_is_understood(line: str) -> None:
    printed = host(line, "--help").out
    (example,) = re.findall(r"^ +Example: (.*)$", printed, re.MULTILINE)
    program, command, *words = shlex.split(example)
    assert (program, command) == ("mesh-host", line)
    assert host(command, *words, "--help").code == 0
    assert host(command, *words, "--bogus").code == 64
    assert re.search(r"^  --json ", printed, re.MULTILINE)
    assert bool(re.search(r"^  --root DIR ", printed, re.MULTILINE)) == (line in ROOTED)


def test_the_version_is_told() -> None:
    ran = process("--version")
    assert ran.code == 0
    assert re.fullmatch(r"mesh-host \d+\.\d+\.\d+\n", ran.out)
    assert host("--version") == ran


def test_without_a_command_the_help_is_a_message() -> None:
    ran = host()
    assert (ran.code, ran.out) == (64, "")
    assert ran.err == host("--help").out
