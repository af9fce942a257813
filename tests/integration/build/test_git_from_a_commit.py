"""What touched paths last, from a given commit on; where the repository need not be asked for that, and where
no ref leads to the commit (design, part 11: "commit gone" is an answer of its own).
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mesh_adapters.build.git import Repositories
from mesh_core.model.source import CommitGone, Looked, Newest, PathGone, RepositoryAway, Source
from tests.integration.build.repositories import Repository


@pytest.fixture
def far(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "far")


@pytest.fixture
def near(tmp_path: Path) -> Repositories:
    return Repositories(tmp_path / "near")


def looked(near: Repositories, far: Repository) -> Looked:
    return near.look(Source(repository=far.address))


def newest(answer: Looked) -> str:
    assert isinstance(answer, Newest), answer
    return answer.commit.id


def test_from_a_given_commit_on(far: Repository, near: Repositories) -> None:
    first = far.commit({"mod/a": "1"})
    second = far.commit({"other": "1"})
    third = far.commit({"mod/a": "2"})
    assert newest(near.newest(far.address, second, ("mod",))) == first
    assert newest(near.newest(far.address, third, ("mod",))) == third
    assert near.newest(far.address, first, ("other",)) == PathGone(path="other")
    fourth = far.commit({"mod/a": "3"})
    assert newest(near.newest(far.address, fourth, ("mod",))) == fourth


def test_a_commit_that_is_there_is_found_without_the_repository(
    far: Repository, near: Repositories, tmp_path: Path
) -> None:
    first = far.commit({"mod/a": "1"})
    looked(near, far)
    far.path.rename(tmp_path / "elsewhere")
    assert newest(near.newest(far.address, first, (".",))) == first
    assert isinstance(near.newest(far.address, "0" * 40, (".",)), RepositoryAway)


def test_a_commit_that_never_was_and_one_that_no_ref_leads_to(far: Repository, near: Repositories) -> None:
    first = far.commit({"a": "1"})
    second = far.commit({"a": "2"})
    assert newest(looked(near, far)) == second
    far.git("reset", "--quiet", "--hard", first)
    assert newest(looked(near, far)) == first
    assert near.newest(far.address, second, (".",)) == CommitGone(commit=second)
    assert near.newest(far.address, "1" * 40, (".",)) == CommitGone(commit="1" * 40)
    far.git("branch", "again", second)
    assert newest(near.newest(far.address, second, (".",))) == second


def test_what_is_no_commit_is_no_part(far: Repository, near: Repositories) -> None:
    far.commit({"mod/a": "1"})
    for name in (far.git("rev-parse", "HEAD:mod"), far.git("rev-parse", "HEAD:mod/a")):
        assert near.newest(far.address, name, (".",)) == CommitGone(commit=name)
