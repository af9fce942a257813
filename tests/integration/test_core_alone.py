"""`import mesh_core` needs attrs, cattrs and networkx and nothing else (design, part 7).

The test lays out a folder with the files of exactly these three distributions, of what they declare
to need, and of mesh_core, and starts a Python that sees that folder and the standard library only.
"""

import importlib.metadata
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import mesh_core

NEEDED = ("attrs", "cattrs", "networkx")

# Of the development environment, and so in the way of noticing that the core imports one of them.
ABSENT = (
    "click",
    "hypothesis",
    "mesh_adapters",
    "mesh_cli",
    "numpy",
    "packaging",
    "platformdirs",
    "pydantic",
    "pytest",
    "rich",
    "sqlite_utils",
    "typer",
)

# Design, part 4.
MESH = """
{
  "format": 1,
  "modules": [
    {"name": "zsh", "version": "5.9", "provides": ["shell"],
     "resources": [{"kind": "package", "name": "zsh"}]},
    {"name": "postgres", "version": "16.2",
     "provides": [{"name": "database", "scope": "mesh", "exports": {"port": "5432"}}],
     "claims": ["port:5432"], "capabilities": ["systemd"]},
    {"name": "web", "version": "1.4.0", "requires": ["shell", "database"]}
  ],
  "nodes": [
    {"name": "nas", "assign": ["postgres"],
     "capabilities": {"systemd": true, "gpu": {"present": false, "detail": "no device"}}},
    {"name": "pi", "assign": ["web"], "pins": {"database": "nas"}}
  ]
}
"""

# Design, part 5: the two of its nodes that part 4 has.
RESOLUTION = """
{
  "format": 1,
  "nodes": {
    "nas": {
      "status": "planned",
      "modules": [{"name": "postgres", "version": "16.2", "reason": "assigned", "by": []}],
      "answers": [],
      "takes": [],
      "unsettled": []
    },
    "pi": {
      "status": "planned",
      "modules": [
        {"name": "zsh", "version": "5.9", "reason": "pulled-in",
         "by": [{"module": "web", "requires": "shell"}]},
        {"name": "web", "version": "1.4.0", "reason": "assigned", "by": []}
      ],
      "answers": [{"provision": "database", "every": false, "node": "nas", "module": "postgres",
                   "required_by": ["web"]}],
      "takes": [{"provision": "database", "every": false, "node": "nas", "module": "postgres",
                 "required_by": ["web"]}],
      "unsettled": []
    }
  }
}
"""

PROGRAM = """
import importlib.util, json, sys
sys.path.insert(0, sys.argv[1])
import mesh_core

mesh = mesh_core.mesh_from_data(json.loads(sys.argv[2]))
resolution = mesh_core.resolve(mesh)
graph = mesh_core.dependency_graph(resolution)
print(json.dumps({
    "resolution": mesh_core.resolution_to_data(resolution),
    "edges": graph.number_of_edges(),
    "found": [name for name in sys.argv[3:] if importlib.util.find_spec(name)],
}))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with mesh_core and what it may need, and nothing more."""
    folder = tmp_path_factory.mktemp("alone")
    for name in hard_requirements(NEEDED):
        copy_distribution(name, folder)
    shutil.copytree(
        Path(mesh_core.__file__).parent,
        folder / "mesh_core",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    return folder


def hard_requirements(names: tuple[str, ...]) -> set[str]:
    """The distributions named, with all that they declare to need here without any extra."""
    closure: set[str] = set()
    todo = list(names)
    while todo:
        name = canonicalize_name(todo.pop())
        if name in closure:
            continue
        closure.add(name)
        for text in importlib.metadata.requires(name) or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                todo.append(requirement.name)
    return closure


def copy_distribution(name: str, folder: Path) -> None:
    files = importlib.metadata.files(name)
    assert files, f"{name} is installed without a list of its files"
    for file in files:
        # Programs lie outside (`../../bin/...`). A library's own tests are big, and never imported.
        if file.parts[0] == ".." or "tests" in file.parts:
            continue
        source = Path(str(file.locate()))
        if source.exists():
            target = folder / file
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def run_alone(folder: Path, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    # -I: no environment variables, no current folder, no user's packages. -S: no site-packages.
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", program, str(folder), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_core_resolves_with_its_three_libraries_alone(alone: Path) -> None:
    done = run_alone(alone, PROGRAM, MESH, *ABSENT)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    answer = json.loads(done.stdout)
    assert answer["found"] == []
    assert answer["resolution"] == json.loads(RESOLUTION)
    assert answer["edges"] == 2


def test_that_environment_is_what_the_three_declare() -> None:
    assert hard_requirements(NEEDED) == {"attrs", "cattrs", "networkx", "typing-extensions"}


@pytest.mark.parametrize("name", ["hypothesis", "typer", "sqlite_utils"])
def test_an_import_of_anything_else_fails_there(alone: Path, name: str) -> None:
    """The test above would notice: what the core must not need cannot be imported there."""
    done = run_alone(alone, f"import sys; sys.path.insert(0, sys.argv[1]); import {name}")
    assert done.returncode == 1
    assert f"ModuleNotFoundError: No module named '{name}'" in done.stderr


def test_the_laws_need_the_extra(alone: Path) -> None:
    program = "import sys; sys.path.insert(0, sys.argv[1]); import mesh_core.testing.strategies"
    done = run_alone(alone, program)
    assert done.returncode == 1
    assert "ModuleNotFoundError: No module named 'hypothesis'" in done.stderr
