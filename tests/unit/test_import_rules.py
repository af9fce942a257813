"""What the pure core may import and call: an allow-list, so that a new name needs a reason.

"No I/O, clock, randomness or environment", and "the one door to" a library: design, parts 1 and 7.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import mesh_cli
import mesh_core

ALLOWED = frozenset(
    {
        "__future__",
        "abc",
        "attr",
        "attrs",
        "base64",
        "binascii",
        "bisect",
        "collections",
        "contextlib",
        "difflib",
        "enum",
        "functools",
        "hashlib",
        "heapq",
        "ipaddress",
        "itertools",
        "json",
        "math",
        "mesh_core",
        "operator",
        "posixpath",
        "re",
        "string",
        "textwrap",
        "tomllib",
        "types",
        "typing",
        "unicodedata",
    }
)

# A library with doors: only these modules, and what lies under them, may import it.
DOORS = {
    "networkx": ("mesh_core.resolve.graph", "mesh_core.analysis.dependency_graph"),
    "cattrs": ("mesh_core.wire",),
    "hypothesis": ("mesh_core.testing",),
}

# Only these modules of the command lines may name concrete adapters.
WIRINGS = frozenset(
    {
        "mesh_cli.wiring",
        "mesh_cli.wiring_broker",
        "mesh_cli.wiring_builds",
        "mesh_cli.wiring_flows",
        "mesh_cli.wiring_inviting",
        "mesh_cli.wiring_joining",
        "mesh_cli.builder.wiring",
        "mesh_cli.host.wiring",
        "mesh_cli.host.wiring_joining",
    }
)

# These reach outside without importing anything, or run text that this test cannot read.
FORBIDDEN_CALLS = frozenset({"__import__", "breakpoint", "compile", "eval", "exec", "input", "open", "print"})


def faults(root: Path) -> list[str]:
    """Everything in the package at `root` that breaks the rules, as `module:line: what`."""
    return [
        fault
        for path in sorted(root.rglob("*.py"))
        for fault in faults_of_file(path, module_name(path, root))
    ]


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def faults_of_file(path: Path, module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"), str(path))):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in imported(node):
                if not may_import(module, name):
                    yield f"{module}:{node.lineno}: imports {name}"
        elif isinstance(node, ast.Name) and node.id in FORBIDDEN_CALLS:
            # Every mention, not only a call: `write = print` is the same thing.
            yield f"{module}:{node.lineno}: uses {node.id}"


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The top-level names that a statement imports; a relative import stays in the package."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    return [] if node.level else [(node.module or "").partition(".")[0]]


def may_import(module: str, name: str) -> bool:
    doors = DOORS.get(name, ())
    return name in ALLOWED or any(f"{module}.".startswith(f"{door}.") for door in doors)


def test_the_core_keeps_the_rules() -> None:
    root = Path(mesh_core.__file__).parent
    assert len(list(root.rglob("*.py"))) > 10, "looked in the wrong place"
    assert faults(root) == []


def namers_of_adapters(root: Path) -> set[str]:
    """The modules of the package at `root` that import from `mesh_adapters`, wherever in the file."""
    return {
        module_name(path, root)
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom) and "mesh_adapters" in imported(node)
    }


def test_only_the_wirings_name_adapters(tmp_path: Path) -> None:
    assert namers_of_adapters(Path(mesh_cli.__file__).parent) == WIRINGS
    planted_in = planted(
        tmp_path, "host/commands/applying.py", "def f():\n    import mesh_adapters.host.kind"
    )
    assert namers_of_adapters(planted_in) == {"mesh_core.host.commands.applying"}


@pytest.mark.parametrize("library", sorted(DOORS))
def test_every_door_is_used(library: str) -> None:
    """A door that nothing goes through any more is taken out of the list."""
    root = Path(mesh_core.__file__).parent
    importers = {
        module_name(path, root)
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom) and library in imported(node)
    }
    for door in DOORS[library]:
        assert any(f"{module}.".startswith(f"{door}.") for module in importers), door


@pytest.mark.parametrize(
    ("file", "text", "fault"),
    [
        ("names.py", "import os", "mesh_core.names:1: imports os"),
        ("names.py", "import os.path as p", "mesh_core.names:1: imports os"),
        ("names.py", "import json, time", "mesh_core.names:1: imports time"),
        ("names.py", "from datetime import date", "mesh_core.names:1: imports datetime"),
        ("names.py", "def f():\n    import random", "mesh_core.names:2: imports random"),
        (
            "names.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from pathlib import Path",
            "mesh_core.names:3: imports pathlib",
        ),
        ("names.py", "import mesh_adapters.store", "mesh_core.names:1: imports mesh_adapters"),
        ("names.py", "import importlib", "mesh_core.names:1: imports importlib"),
        ("resolve/offers.py", "import networkx", "mesh_core.resolve.offers:1: imports networkx"),
        ("resolve/graphs.py", "import networkx", "mesh_core.resolve.graphs:1: imports networkx"),
        ("explain/x.py", "from cattrs import gen", "mesh_core.explain.x:1: imports cattrs"),
        ("__init__.py", "import hypothesis", "mesh_core:1: imports hypothesis"),
        ("wire/__init__.py", "open('x')", "mesh_core.wire:1: uses open"),
        ("names.py", "say = print", "mesh_core.names:1: uses print"),
        ("names.py", "x = [eval(t) for t in ()]", "mesh_core.names:1: uses eval"),
        ("names.py", "__import__('os')", "mesh_core.names:1: uses __import__"),
    ],
)
def test_a_planted_fault_is_found(tmp_path: Path, file: str, text: str, fault: str) -> None:
    assert faults(planted(tmp_path, file, text)) == [fault]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("names.py", "import re\nfrom collections.abc import Mapping\nfrom attrs import frozen"),
        ("names.py", "from mesh_core import problems\nfrom . import problems"),
        ("resolve/graph.py", "import networkx as nx"),
        ("analysis/dependency_graph.py", "import networkx as nx"),
        ("wire/read.py", "from cattrs import Converter"),
        ("testing/strategies.py", "from hypothesis import strategies as st"),
        ("names.py", "def f(self):\n    return self.input, self.open()"),
    ],
)
def test_what_is_allowed_is_no_fault(tmp_path: Path, file: str, text: str) -> None:
    assert faults(planted(tmp_path, file, text)) == []


def planted(tmp_path: Path, file: str, text: str) -> Path:
    root = tmp_path / "mesh_core"
    path = root / file
    path.parent.mkdir(parents=True)
    path.write_text(text, "utf-8")
    return root
