"""Starting fits a small machine: nothing is imported that a command does not use."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.program import environment
from tests.integration.host.cli.program import declared, file, well

LISTING = """
import json, sys
from mesh_cli.host.main import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""
HEAVY = {"networkx", "kombu", "sqlite_utils", "jinja2", "plumbum", "rich", "platformdirs", "numpy"}
CORE = {"mesh_core", "mesh_adapters", "attrs", "cattrs", "sqlite3"}


def imported(*arguments: str) -> set[str]:
    """What is imported when a command has ended well."""
    ran = subprocess.run(
        [sys.executable, "-c", LISTING, *arguments],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    code, modules = json.loads(ran.stderr.splitlines()[-1])
    assert code in (0, 64)
    return set(modules)


@pytest.mark.parametrize("line", ["--help", "apply --help", "--version", "nod", ""])
def test_what_only_talks_imports_nothing_heavy(line: str) -> None:
    modules = imported(*line.split())
    assert not modules & (HEAVY | CORE)


@pytest.mark.parametrize("command", ["status", "owned"])
def test_a_question_to_the_journal_imports_no_kind(root: Path, command: str) -> None:
    stdin = declared(1, file("/etc/motd"))
    well("apply", "-", "--root", str(root), stdin=stdin)
    modules = imported(command, "--root", str(root))
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith("mesh_adapters.host.kinds")}
    assert "mesh_adapters.host.applying" not in modules


def test_files_are_applied_without_what_they_do_not_need(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "pi.json"
    path.write_bytes(declared(1, file("/etc/motd")))
    assert not imported("apply", str(path), "--root", str(root)) & HEAVY
    assert (root / "etc/motd").exists()
    assert not imported("apply", str(path), "--root", str(root)) & HEAVY
