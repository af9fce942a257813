"""Starting is quick: "`mesh --help` and `mesh --version` import none of networkx, kombu, sqlite_utils"."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.cli.program import EXAMPLES, environment

LISTING = """
import json, sys
from mesh_cli.{program}main import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""

HEAVY = {"networkx", "kombu", "sqlite_utils", "sqlite3", "cattrs", "attr", "attrs", "rich", "platformdirs"}


def imported(*arguments: str, program: str = "") -> set[str]:
    """What is imported when a command has ended; `program` is the package of one that is not `mesh`."""
    ran = subprocess.run(
        [sys.executable, "-c", LISTING.format(program=program), *arguments],
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


@pytest.mark.parametrize("line", ["--help", "run --help", "join -h", "jion", ""])
def test_what_a_builder_only_says_imports_nothing_heavy(line: str) -> None:
    modules = imported(*line.split(), program="builder.")
    assert not modules & (HEAVY | {"amqp", "jinja2", "plumbum"})
    assert not {name for name in modules if name.split(".")[0] in ("mesh_core", "mesh_adapters")}


def test_a_document_is_read_without_what_a_store_needs() -> None:
    modules = imported("lint", "--file", str(EXAMPLES / "homelab" / "mesh.toml"))
    assert not modules & {"sqlite3", "sqlite_utils"}
    assert "mesh_core.analysis.lint" in modules


def test_how_it_stands_needs_nothing_of_a_broker_where_none_is_named(store: Path) -> None:
    modules = imported("status")
    assert "mesh_core.analysis.state_of_nodes" in modules
    assert not modules & {"kombu", "amqp"}
