"""A clone that was damaged, or that a killed git left half, is mended or made anew, and nobody notices."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mesh_adapters.build.git import Repositories, _mended
from mesh_adapters.build.git_clone import Clone, CloneUnreadable, place_of
from mesh_adapters.build.git_running import Git
from mesh_adapters.build.git_settings import GitSettings, Secrets
from mesh_core.model.source import Commit, Newest, RepositoryAway, Source
from tests.integration.build.repositories import ENVIRONMENT, Repository, listing


@pytest.fixture
def far(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "far")


@pytest.fixture
def near(tmp_path: Path) -> Repositories:
    return Repositories(tmp_path / "near")


def the_clone(tmp_path: Path) -> Path:
    (clone,) = (tmp_path / "near").glob("*.git")
    return clone


def test_locks_and_halves_that_a_killed_git_left(far: Repository, near: Repositories, tmp_path: Path) -> None:
    far.commit({"a": "1"})
    near.look(Source(repository=far.address))
    (clone,) = (tmp_path / "near").glob("*.git")
    (clone / "marked").touch()
    for name in ("packed-refs.lock", "refs/heads/main.lock", "config.lock", "objects/pack/tmp_pack_x"):
        (clone / name).touch()
    clone.with_suffix(".new").mkdir()
    (clone.with_suffix(".new") / "HEAD").write_text("half")
    second = far.commit({"a": "2"})
    answer = near.look(Source(repository=far.address))
    assert isinstance(answer, Newest)
    assert answer.commit.id == second
    assert not (clone / "objects/pack/tmp_pack_x").exists()
    assert (clone / "marked").exists()  # it was mended, not made anew


def test_a_clone_that_is_damaged_is_made_anew(far: Repository, near: Repositories, tmp_path: Path) -> None:
    commit = far.commit({"mod/a": "1"})
    near.look(Source(repository=far.address))
    (clone,) = (tmp_path / "near").glob("*.git")
    for pack in clone.glob("objects/pack/*.pack"):
        pack.chmod(0o600)
        pack.write_bytes(pack.read_bytes()[:20])
    answer = near.newest(far.address, commit, ("mod",))
    assert isinstance(answer, Newest)
    assert answer.commit.id == commit


def test_an_update_of_a_damaged_clone_makes_it_anew(
    far: Repository, near: Repositories, tmp_path: Path
) -> None:
    far.commit({"mod/a": "1"})
    near.look(Source(repository=far.address))
    (clone,) = (tmp_path / "near").glob("*.git")
    for name in ("HEAD", "config"):
        (clone / name).write_text("\0")
        second = far.commit({"mod/a": name})
        answer = near.look(Source(repository=far.address, paths=("mod",)))
        assert isinstance(answer, Newest), answer
        assert answer.commit.id == second


def damage(clone: Path, name: str) -> None:
    """Spoil one object in a pack. That is seen by whoever reads it, and by no fetch that brings nothing."""
    for pack in clone.glob("objects/pack/*.pack"):
        argv = ["git", "verify-pack", "-v", str(pack)]
        said = subprocess.run(argv, env=ENVIRONMENT, capture_output=True, check=True, text=True).stdout
        for line in said.splitlines():
            if line.startswith(name):
                pack.chmod(0o600)
                with pack.open("r+b") as file:
                    file.seek(int(line.split()[4]) + 2)
                    file.write(b"\xff" * 8)
                return
    raise AssertionError(f"{name} is in no pack")


@pytest.mark.parametrize("how", ["look", "look_at", "newest", "check_out"])
def test_damage_that_shows_only_when_it_is_asked(
    how: str, far: Repository, near: Repositories, tmp_path: Path
) -> None:
    commit = far.commit({"mod/a": "1", "other/b": "1"})
    source, other = (Source(repository=far.address, paths=(path,)) for path in ("mod", "other"))
    near.look(source)
    clone = the_clone(tmp_path)
    (clone / "marked").touch()
    damage(clone, far.git("rev-parse", f"{commit}^{{tree}}"))
    into = tmp_path / "into"
    asked: dict[str, Callable[[], Sequence[object]]] = {
        "look": lambda: (near.look(source),),
        "look_at": lambda: near.look_at([source, other]),
        "newest": lambda: (near.newest(far.address, commit, ("mod",)),),
        "check_out": lambda: (near.check_out(far.address, commit, ("mod",), into),),
    }
    for answer in asked[how]():
        found = answer.commit if isinstance(answer, Newest) else answer
        assert isinstance(found, Commit), answer
        assert found.id == commit
    assert not (the_clone(tmp_path) / "marked").exists()  # it was made anew
    assert how != "check_out" or listing(into) == {"mod": "/", "mod/a": "644 1"}


def test_a_damaged_clone_of_a_repository_that_is_away(
    far: Repository, near: Repositories, tmp_path: Path
) -> None:
    commit = far.commit({"mod/a": "1"})
    sources = [Source(repository=far.address, paths=paths) for paths in (("mod",), (".",))]
    near.look_at(sources)
    damage(the_clone(tmp_path), far.git("rev-parse", f"{commit}^{{tree}}"))
    far.path.rename(tmp_path / "elsewhere")
    assert isinstance(near.newest(far.address, commit, ("mod",)), RepositoryAway)
    answers = near.look_at(sources)
    assert [type(answer) for answer in answers] == [RepositoryAway] * 2
    (tmp_path / "elsewhere").rename(far.path)
    assert [type(answer) for answer in near.look_at(sources)] == [Newest] * 2


@pytest.mark.parametrize(("late", "times"), [(False, 2), (True, 1)])
def test_a_clone_is_made_anew_once_and_not_because_time_was_up(
    late: bool, times: int, far: Repository, near: Repositories, tmp_path: Path
) -> None:
    far.commit({"a": "1"})
    near.look(Source(repository=far.address))
    git = Git(home=tmp_path, settings=GitSettings(), secrets=Secrets(), until=time.monotonic() + 20)
    place = place_of(tmp_path / "near", far.address)
    asked: list[bool] = []

    def ask(clone: Clone) -> None:
        asked.append(clone.is_there())
        raise CloneUnreadable("it is so", late=late)

    answer = _mended(Clone(repository=far.address, place=place, git=git), ask)
    assert answer == RepositoryAway(why="it is so")
    assert asked == [True, False][:times]
    assert place.exists() == late


KILLED = """
import sys
from pathlib import Path
from mesh_adapters.build.git import Repositories
from mesh_core.model.source import Source
print("begun", flush=True)
Repositories(Path(sys.argv[1])).look(Source(repository=sys.argv[2]))
"""


def test_a_process_that_is_killed_while_it_clones_leaves_nothing_half(
    far: Repository, near: Repositories, tmp_path: Path
) -> None:
    commit = far.commit({"a": "1"})
    for wait in (0.02, 0.1):
        argv = [sys.executable, "-c", KILLED, str(tmp_path / "near"), far.address]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(wait)
            process.kill()
        answer = near.look(Source(repository=far.address))
        assert isinstance(answer, Newest)
        assert answer.commit.id == commit
        assert not list((tmp_path / "near").glob("*.new"))
