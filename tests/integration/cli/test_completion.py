"""The shell's completion: names out of the store, and never a message."""

from __future__ import annotations

import io
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from mesh_cli.main import run
from tests.integration.cli.program import environment, ok, process, written

NODES = ["nas", "pi"]
MODULES = ["postgres", "web", "zsh"]
PROVISIONS = ["database"]

LINES: list[tuple[str, list[str]]] = [
    ("mesh plan ", NODES),
    ("mesh plan n", ["nas"]),
    ("mesh plan x", []),
    ("mesh plan --json ", NODES),
    ("mesh graph ", NODES),
    ("mesh assign ", NODES),
    ("mesh assign pi ", MODULES),
    ("mesh assign pi web ", MODULES),
    ("mesh assign pi web z", ["zsh"]),
    ("mesh unassign ", NODES),
    ("mesh unassign pi ", MODULES),
    ("mesh pin ", NODES),
    ("mesh pin pi ", PROVISIONS),
    ("mesh pin pi database ", NODES),
    ("mesh unpin ", NODES),
    ("mesh unpin pi ", PROVISIONS),
    ("mesh node show ", NODES),
    ("mesh node remove ", NODES),
    ("mesh node report ", NODES),
    ("mesh node invite ", NODES),
    ("mesh node revoke ", NODES),
    ("mesh network ", ["attach", "move", "remove", "set", "show"]),
    ("mesh network attach ", NODES),
    ("mesh network attach n", ["nas"]),
    ("mesh network attach --relay p", ["pi"]),
    ("mesh network attach pi --no-r", ["--no-relay"]),
    ("mesh network set 10.77.0.0/24 --peers ", ["full", "takes"]),
    ("mesh module show ", MODULES),
    ("mesh module remove w", ["web"]),
    ("mesh module ", ["accept", "add", "list", "remove", "rollback", "show"]),
    ("mesh graph --format ", ["dot", "json", "mermaid", "text"]),
    ("mesh unassign pi --any", ["--anyway"]),
]


def asked(line: str) -> dict[str, str]:
    """The variables by which bash asks for the last word of a line, which may be empty."""
    words = line.split(" ")
    return {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_MESH_COMPLETE": "complete_bash"}


def offered(line: str) -> list[str]:
    """What is offered for the last word of a line, sorted."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.dict(os.environ, asked(line)),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as end,
    ):
        run([])
    assert not end.value.code
    assert not err.getvalue()
    return sorted(out.getvalue().split())


@pytest.mark.parametrize(("line", "names"), LINES, ids=[line for line, _ in LINES])
def test_every_name_of_something_that_is_there_is_offered(store: Path, line: str, names: list[str]) -> None:
    assert offered(line) == names


def test_a_whole_process_answers_the_shell(store: Path) -> None:
    ran = process(env=environment(**asked("mesh assign pi po")))
    assert (ran.code, ran.out.split(), ran.err) == (0, ["postgres"], "")


def test_where_there_is_no_store_nothing_is_offered_and_nothing_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in (("text.db", "hello"), ("empty.db", "")):
        written(folder, name, content)
    for name in ("nowhere.db", "text.db", "empty.db", "."):
        monkeypatch.setenv("MESH_STORE", str(folder / name))
        for line in ("mesh plan ", "mesh assign nas ", "mesh pin nas "):
            assert offered(line) == []
    assert not (folder / "nowhere.db").exists()


def test_the_store_that_the_line_names_is_the_one_that_is_asked(store: Path) -> None:
    ok("init", "--store", "other.db")
    ok("node", "add", "attic", "--store", "other.db")
    assert offered("mesh plan --store other.db ") == ["attic"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shells_get_a_script(shell: str) -> None:
    ran = process(
        "--show-completion",
        shell,
        env=environment(SHELL=f"/bin/{shell}", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1"),
    )
    assert ran.code == 0
    assert "_MESH_COMPLETE" in ran.out
