"""The README tells the truth: its transcript is what the program prints, its example runs."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from mesh_cli.main import run

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
MESH = "from mesh_cli.main import main; main()"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def transcript() -> list[tuple[str, str]]:
    """Each command of the transcript that comes first, with what stands below it."""
    parts = re.split(r"^\$ (.*)\n", blocks("console")[0], flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


def test_the_transcript_comes_first_and_is_what_the_program_prints(tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    environment = os.environ | {"MESH_STORE": "mesh.db", "PYTHONPATH": str(ROOT)}
    for command, expected in transcript():
        words = command.split()
        assert words[0] == "mesh"
        ran = subprocess.run(
            [sys.executable, "-c", MESH, *words[1:]],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert ran.stdout == expected, command
    assert len(transcript()) > 5


def test_the_library_example_runs_and_has_ten_lines(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = next(block for block in blocks("python") if "mesh_from_data" in block)
    assert len([line for line in example.splitlines() if line]) <= 11
    monkeypatch.chdir(ROOT)
    exec(compile(example, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "needs 'database' (scope mesh), and no node runs a provider" in printed
    assert printed.endswith("['nas', 'pi']\n")


def test_every_make_target_that_the_readme_names_is_there() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"make (\w+)", README)) - {"venv"}:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_part_on_builds_is_what_the_program_prints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Played on the stage of the story; digests and ids are others each time."""
    (block,) = (block for block in blocks("console") if "mesh source set" in block)
    monkeypatch.syspath_prepend(str(ROOT / "examples/story"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(os, "environ", os.environ.copy())
    played = importlib.import_module("stage")
    told = []
    with played.stage() as on:
        on.make_repository(ROOT / "examples/homelab")
        assert run(["init"]) == 0
        on.let_builder_in()
        with on.builder_at_work():
            for line in block.splitlines():
                if not line.startswith("$ mesh "):
                    continue
                if "source check" in line:
                    (on.repository / "handbook/more.txt").write_text("more")
                    on.commit("More")
                capsys.readouterr()
                words = shlex.split(line.replace(REPOSITORY, str(on.repository)), comments=True)
                assert run(words[2:]) == 0, line
                told += [line, capsys.readouterr().out.replace(str(on.repository), REPOSITORY).rstrip("\n")]
    assert _unnumbered("\n".join(told)) == _unnumbered(block.rstrip("\n"))


REPOSITORY = "/srv/git/homelab"


def _unnumbered(text: str) -> str:
    """Without what is another each time: commits, ids, digests, seconds."""
    return re.sub(r"\b(?:[0-9a-f]{7,12}|\d s)\b", "#", text)
