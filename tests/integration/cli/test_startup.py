"""Starting is quick: "`mesh --help` and `mesh --version` import none of networkx, kombu, sqlite_utils"."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.integration.cli.program import EXAMPLES, environment

LISTING = """
import json, sys
from mesh_cli.main import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""

HEAVY = {"networkx", "kombu", "sqlite_utils", "sqlite3", "cattrs", "attr", "attrs", "rich", "platformdirs"}


def imported(*arguments: str) -> set[str]:
    """What is imported when a command has ended."""
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


@pytest.mark.parametrize("line", ["--help", "--version", "plan --help", "node -h", "nod", ""])
def test_what_only_talks_imports_nothing_heavy(line: str) -> None:
    modules = imported(*line.split())
    assert not modules & HEAVY
    assert not {name for name in modules if name.split(".")[0] in ("mesh_core", "mesh_adapters")}


def test_a_document_is_read_without_what_a_store_needs() -> None:
    modules = imported("lint", "--file", str(EXAMPLES / "homelab" / "mesh.toml"))
    assert not modules & {"sqlite3", "sqlite_utils"}
    assert "mesh_core.analysis.lint" in modules
