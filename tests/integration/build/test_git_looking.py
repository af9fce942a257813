"""What a look at a source finds (design, part 11: "Refs are looked up in full", "the newest commit is that of
the graph, not of dates", and four different answers for what is not there).
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from mesh_adapters.build.git import GitSettings, Repositories
from mesh_core.model.source import (
    Commit,
    CommitGone,
    Looked,
    Newest,
    PathGone,
    RefGone,
    RefUnclear,
    RepositoryAway,
    Source,
)
from tests.integration.build.repositories import Repository


@pytest.fixture
def far(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "far")


@pytest.fixture
def near(tmp_path: Path) -> Repositories:
    return Repositories(tmp_path / "near")


def looked(near: Repositories, far: Repository, *paths: str, ref: str = "HEAD") -> Looked:
    return near.look(Source(repository=far.address, paths=paths or (".",), ref=ref))


def newest(answer: Looked) -> str:
    assert isinstance(answer, Newest), answer
    return answer.commit.id


def test_the_newest_commit_and_its_time_in_utc(far: Repository, near: Repositories) -> None:
    commit = far.commit({"mod/a": "1"}, at=1_796_163_602)
    assert looked(near, far) == Newest(commit=Commit(id=commit, at="2026-12-01T22:20:02Z"))


@pytest.mark.parametrize("at", [0, 253_402_300_800, 2**62])
def test_any_time_is_some_instant(at: int, far: Repository, near: Repositories) -> None:
    tree = far.tree()
    raw = f"tree {tree}\nauthor A <a> {at} +0000\ncommitter A <a> {at} +0000\n\nx\n"
    commit = far.object(raw.encode(), "commit")
    far.git("update-ref", "refs/heads/main", commit)
    assert newest(looked(near, far)) == commit


def test_a_change_elsewhere_makes_nothing_newer(far: Repository, near: Repositories) -> None:
    first = far.commit({"mod/a": "1"})
    assert newest(looked(near, far, "mod")) == first
    other = far.commit({"other": "1"})
    assert newest(looked(near, far, "mod")) == first
    assert newest(looked(near, far)) == other
    assert newest(looked(near, far, "mod", ".")) == other
    second = far.commit({"mod/a": "2"})
    assert newest(looked(near, far, "mod")) == second


def test_a_commit_that_changes_nothing_is_one_of_the_whole_repository(
    far: Repository, near: Repositories
) -> None:
    first = far.commit({"mod/a": "1"})
    empty = far.commit({})
    assert newest(looked(near, far)) == empty
    assert newest(looked(near, far, "mod")) == first


def test_of_several_paths_any_one_that_was_touched(far: Repository, near: Repositories) -> None:
    far.commit({"mod/a": "1", "shared/b": "1", "other/c": "1"})
    shared = far.commit({"shared/b": "2"})
    far.commit({"other/c": "2"})
    assert newest(looked(near, far, "mod", "shared")) == shared


def test_a_folder_whose_name_begins_the_same_is_another(far: Repository, near: Repositories) -> None:
    first = far.commit({"mod/a": "1", "module/a": "1", "m*/a": "1"})
    second = far.commit({"module/a": "2"})
    assert newest(looked(near, far, "mod")) == first
    assert newest(looked(near, far, "m*")) == first
    assert newest(looked(near, far, "module")) == second


def test_dates_have_no_say(far: Repository, near: Repositories) -> None:
    far.commit({"mod/a": "1"}, at=1_900_000_000)
    far.git("switch", "--quiet", "-c", "side")
    far.commit({"mod/a": "2"}, at=1_800_000_000)
    last = far.commit({"mod/a": "3"}, at=1_100_000_000)
    far.git("switch", "--quiet", "main")
    far.commit({"other": "1"}, at=1_950_000_000)
    far.git("merge", "--quiet", "--no-edit", "side", at=1_000_000_000)
    assert newest(looked(near, far, "mod")) == last


def test_a_merge_that_leaves_the_path_alone_is_no_touch(far: Repository, near: Repositories) -> None:
    first = far.commit({"mod/a": "1"})
    far.git("switch", "--quiet", "-c", "side")
    far.commit({"other": "1"})
    far.git("switch", "--quiet", "main")
    far.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    assert newest(looked(near, far, "mod")) == first
    assert newest(looked(near, far)) == far.git("rev-parse", "HEAD")


def test_a_merge_that_drops_what_a_side_did_leads_to_what_it_kept(
    far: Repository, near: Repositories
) -> None:
    first = far.commit({"mod/a": "1"})
    far.git("switch", "--quiet", "-c", "side")
    far.commit({"mod/a": "2"})
    far.git("switch", "--quiet", "main")
    far.git("merge", "--quiet", "--no-ff", "--no-edit", "-s", "ours", "side")
    assert newest(looked(near, far, "mod")) == first


def test_a_merge_of_two_changes_and_one_that_changes_by_itself_are_touches(
    far: Repository, near: Repositories
) -> None:
    far.commit({"mod/a": "1", "mod/b": "1"})
    far.git("switch", "--quiet", "-c", "side")
    far.commit({"mod/a": "2"})
    far.git("switch", "--quiet", "main")
    far.commit({"mod/b": "2"})
    far.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
    both = far.git("rev-parse", "HEAD")
    assert newest(looked(near, far, "mod")) == both
    far.git("switch", "--quiet", "-c", "more")
    far.commit({"other": "1"})
    far.git("switch", "--quiet", "main")
    far.git("merge", "--quiet", "--no-ff", "--no-commit", "more")
    evil = far.commit({"mod/a": "changed by the merge alone"})
    assert len(far.git("rev-list", "--parents", "-1", evil).split()) == 3
    assert newest(looked(near, far, "mod")) == evil


def test_a_branch_that_was_moved_back_and_one_that_was_deleted(far: Repository, near: Repositories) -> None:
    first = far.commit({"mod/a": "1"})
    far.git("branch", "side")
    second = far.commit({"mod/a": "2"})
    assert newest(looked(near, far, ref="main")) == second
    assert newest(looked(near, far, ref="side")) == first
    far.git("reset", "--quiet", "--hard", first)
    far.git("branch", "-D", "side")
    far.git("branch", "side/below")
    assert newest(looked(near, far, ref="main")) == first
    assert looked(near, far, ref="side") == RefGone(ref="side")
    assert newest(looked(near, far, ref="side/below")) == first


def test_a_tag_that_was_moved_and_deleted(far: Repository, near: Repositories) -> None:
    first = far.commit({"a": "1"})
    far.git("tag", "-a", "-m", "t", "v1")
    far.git("tag", "-a", "-m", "a tag of a tag", "v2", "v1")
    second = far.commit({"a": "2"})
    assert newest(looked(near, far, ref="v1")) == first
    assert newest(looked(near, far, ref="refs/tags/v2")) == first
    far.git("tag", "--force", "v1")
    assert newest(looked(near, far, ref="v1")) == second
    far.git("tag", "--delete", "v1")
    assert looked(near, far, ref="v1") == RefGone(ref="v1")


def test_a_tag_of_something_that_is_no_commit(far: Repository, near: Repositories) -> None:
    far.commit({"a": "1"})
    far.git("tag", "blob", far.git("rev-parse", "HEAD:a"))
    far.git("tag", "tree", "HEAD^{tree}")
    assert looked(near, far, ref="blob") == RefGone(ref="blob")
    assert looked(near, far, ref="tree") == RefGone(ref="tree")


def test_a_branch_and_a_tag_of_one_name_until_one_is_said_in_full(
    far: Repository, near: Repositories
) -> None:
    first = far.commit({"a": "1"})
    far.git("tag", "both")
    far.git("switch", "--quiet", "-c", "both")
    second = far.commit({"a": "2"})
    assert looked(near, far, ref="both") == RefUnclear(ref="both")
    assert newest(looked(near, far, ref="refs/tags/both")) == first
    assert newest(looked(near, far, ref="refs/heads/both")) == second


def test_head_is_what_the_repository_says(far: Repository, near: Repositories) -> None:
    first = far.commit({"a": "1"})
    far.git("switch", "--quiet", "-c", "side")
    second = far.commit({"a": "2"})
    assert newest(looked(near, far)) == second
    far.git("switch", "--quiet", "main")
    assert newest(looked(near, far)) == first
    far.git("symbolic-ref", "HEAD", "refs/heads/none")
    assert looked(near, far) == RefGone(ref="HEAD")
    assert newest(looked(near, far, ref="main")) == first


@pytest.mark.parametrize("ref", ["none", "heads/main", "mai", "refs/heads/mai", "refs/remotes/origin/main"])
def test_no_such_ref(ref: str, far: Repository, near: Repositories) -> None:
    far.commit({"a": "1"})
    far.git("update-ref", "refs/remotes/origin/main", "HEAD")
    assert looked(near, far, ref=ref) == RefGone(ref=ref)


def test_an_empty_repository_has_no_refs(far: Repository, near: Repositories) -> None:
    assert looked(near, far) == RefGone(ref="HEAD")
    commit = far.commit({"a": "1"})
    assert newest(looked(near, far)) == commit


def test_a_path_that_is_gone_and_one_that_is_back(far: Repository, near: Repositories) -> None:
    far.commit({"mod/a": "1", "other": "1"})
    far.commit({"mod/a": None})
    assert looked(near, far, "other", "mod") == PathGone(path="mod")
    assert looked(near, far, "other/below") == PathGone(path="other/below")
    back = far.commit({"mod/a": "1"})
    assert newest(looked(near, far, "other", "mod")) == back


def test_a_repository_that_is_away_and_back(far: Repository, near: Repositories, tmp_path: Path) -> None:
    commit = far.commit({"a": "1"})
    assert newest(looked(near, far)) == commit
    far.path.rename(tmp_path / "elsewhere")
    answer = looked(near, far)
    assert isinstance(answer, RepositoryAway)
    assert "does not appear to be a git repository" in answer.why
    assert "\n" not in answer.why
    (tmp_path / "elsewhere").rename(far.path)
    assert newest(looked(near, far)) == commit


def test_another_repository_at_the_same_address(far: Repository, near: Repositories) -> None:
    old = far.commit({"a": "1"})
    assert newest(looked(near, far)) == old
    shutil.rmtree(far.path)
    new = Repository(far.path).commit({"b": "entirely different"})
    assert newest(looked(near, far)) == new
    assert near.newest(far.address, old, (".",)) == CommitGone(commit=old)


def test_a_repository_of_the_other_object_format(tmp_path: Path, near: Repositories) -> None:
    far = Repository(tmp_path / "sha256", kind="sha256")
    far.commit({"a": "1"})
    answer = looked(near, far)
    assert isinstance(answer, RepositoryAway)
    assert "SHA-256" in answer.why


@pytest.mark.parametrize("filters", [True, False])
@pytest.mark.parametrize("scheme", ["file://", ""])
def test_a_far_side_that_leaves_nothing_out_works_too(
    filters: bool, scheme: str, tmp_path: Path, near: Repositories
) -> None:
    far = Repository(tmp_path / "other", filters=filters)
    commit = far.commit({"mod/a": "content"})
    address = f"{scheme}{far.path}"
    assert newest(near.look(Source(repository=address, paths=("mod",)))) == commit
    into = tmp_path / "into"
    assert isinstance(near.check_out(address, commit, ("mod",), into), Commit)
    assert (into / "mod/a").read_text() == "content"


def test_many_fetches_end_up_in_few_packs(far: Repository, tmp_path: Path) -> None:
    near = Repositories(tmp_path / "near", settings=GitSettings(most_packs=2))
    for number in range(5):
        commit = far.commit({"a": str(number)})
        assert newest(looked(near, far)) == commit
    assert len(list((tmp_path / "near").glob("*.git/objects/pack/*.pack"))) <= 3
