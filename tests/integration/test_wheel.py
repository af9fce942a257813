"""What is built to be installed has everything that the code reads beside itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
SHIPS = ("mesh-builder", "mesh-host", "rabbitmq", "registry")
PACKAGES = ("mesh_core", "mesh_adapters", "mesh_cli")
BUILD = "import sys; from hatchling.build import build_wheel; build_wheel(sys.argv[1])"
READ = """
from mesh_adapters.build.unit import UNIT as builder
from mesh_adapters.host.unit import UNIT as host
from mesh_adapters.shipped import manifest, names
import mesh_adapters
print(mesh_adapters.__file__)
print(host.text("/usr/bin/mesh-host"))
print(builder.text("/usr/bin/mesh-builder"))
print("ships", *(manifest(name).name for name in names()))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree, as its own build backend makes it."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-c", BUILD, str(folder)], cwd=ROOT, check=True, timeout=60)
    (found,) = folder.glob("*.whl")
    return found


def data_files() -> Iterator[str]:
    """What lies in the packages and is no code."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and path.suffix not in (".py", ".pyc"):
                yield path.relative_to(ROOT).as_posix()


def readers() -> Iterator[str]:
    """The modules that read something beside themselves."""
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            if "importlib.resources" in imported:
                yield path.relative_to(ROOT).as_posix()


def test_it_has_all_that_is_no_code(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
    there = set(data_files())
    units = {"host/units/mesh-host.service", "build/units/mesh-builder.service"}
    ships = {f"shipped/{name}/module.toml" for name in SHIPS}
    assert {f"mesh_adapters/{file}" for file in units | ships} <= there
    assert there <= names
    assert {f"{package}/__init__.py" for package in PACKAGES} <= names
    assert not [name for name in names if name.split("/")[0] in ("tests", "benchmarks", "examples")]


def test_units_and_modules_are_read_from_it(wheel: Path, tmp_path: Path) -> None:
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    ran = subprocess.run(
        [sys.executable, "-P", "-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}){READ}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    where, *unit, ships = ran.stdout.splitlines()
    assert where.startswith(str(tmp_path)), "from the wheel, not from this tree"
    assert unit.count("[Service]") == 2
    assert ships.split() == ["ships", *SHIPS]
    read = {"mesh_adapters/own_unit.py", "mesh_adapters/shipped/__init__.py"}
    assert set(readers()) == read, "whoever else reads something is run here too"
