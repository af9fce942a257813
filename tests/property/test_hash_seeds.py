"""Law 2 beyond one process (design, part 3):

> *Determinism*: equal meshes give equal resolutions, in any process, under any hash seed.

The same meshes are resolved by programs that were started with another hash seed each; what they print
is held together byte by byte.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings

from mesh_core.testing import documents

ROOT = Path(__file__).resolve().parents[2]
SEEDS = ("0", "1", "20261201")

# No sorting on the way out: what the resolver leaves in the order of a set has to show.
PROGRAM = """
import json, sys
from mesh_core import mesh_from_data, resolution_to_data, resolve
from tests.property.faults import by_the_order_of_a_set
resolver = {"resolve": resolve, "by_the_order_of_a_set": by_the_order_of_a_set}[sys.argv[1]]
for line in sys.stdin:
    resolution = resolver(mesh_from_data(json.loads(line)))
    print(json.dumps(resolution_to_data(resolution)), repr(resolution))
"""


@pytest.fixture(scope="module")
def meshes() -> list[dict[str, Any]]:
    """Documents of meshes: a hundred and more, the same in every run."""
    drawn: list[dict[str, Any]] = []

    @settings(max_examples=150, derandomize=True, database=None, phases=[Phase.generate])
    @given(document=documents())
    def collect(document: dict[str, Any]) -> None:
        drawn.append(document)

    collect()
    return drawn


def resolved_under(seed: str, resolver: str, documents: list[dict[str, Any]]) -> str:
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM, resolver],
        input="\n".join(map(json.dumps, documents)),
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stderr
    assert len(found.stdout.splitlines()) == len(documents)
    return found.stdout


def test_the_hash_seed_changes_nothing(meshes: list[dict[str, Any]]) -> None:
    assert len({resolved_under(seed, "resolve", meshes) for seed in SEEDS}) == 1


def test_and_would_be_seen_if_it_did(meshes: list[dict[str, Any]]) -> None:
    assert len({resolved_under(seed, "by_the_order_of_a_set", meshes) for seed in SEEDS}) > 1
