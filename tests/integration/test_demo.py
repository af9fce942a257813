"""`make demo`: the story is told to its end, by anybody, and says where it is not as it should be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

TOLD = (
    "mesh plan --file examples/homelab/mesh.toml",
    "mesh assign pi web",
    "mesh plan",
    "mesh push --wait --timeout 60",
    "mesh source set handbook",
    "mesh build handbook --wait",
    "mesh assign nas handbook",
    "cat nas/srv/handbook/pages/no-internet.txt",
    "mesh source check",
    "mesh build --behind --wait",
    "mesh status",
    "mesh unassign nas handbook",
    "ls nas/srv",
)
"""> tells the whole story [...]: assign, plan, push, build, behind, build, status, unassign, gone"""


def demo(tree: Path, place: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run it, with a folder for what is only needed meanwhile, and without a home."""
    place.mkdir()
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "TMPDIR": str(place)}
    return subprocess.run(
        [sys.executable, tree / "examples/story/demo.py"],
        env=environment | more,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_the_story_is_told_to_its_end_and_leaves_nothing(tmp_path: Path) -> None:
    config = tmp_path / "config/meshwright/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("no such key = 1")
    of_somebody = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "MESH_GIT_IDENTITY": "/nowhere"}
    ran = demo(ROOT, tmp_path / "place", **of_somebody)
    assert (ran.returncode, ran.stderr) == (0, "")
    at = 0
    for command in TOLD:
        at = ran.stdout.find(f"\n$ {command}", at)
        assert at >= 0, f"{command} is not told, or not in its turn"
    assert ran.stdout.endswith("$ ls nas/srv\nphotos\n")
    assert not list((tmp_path / "place").iterdir())


def test_what_is_not_as_it_should_be_is_told_in_one_sentence(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    manifest = tmp_path / "examples/homelab/handbook/module.toml"
    manifest.write_text(manifest.read_text().replace("/srv/handbook", "/srv/elsewhere"))
    ran = demo(tmp_path, tmp_path / "place")
    assert ran.returncode == 1
    assert ran.stderr == "demo: there is no nas/srv/handbook/pages/no-internet.txt\n"
    assert not list((tmp_path / "place").iterdir())
