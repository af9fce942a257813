"""Trees of a commit on a disk: what is written, and what of a stranger's tree is not (design, part 11;
"nothing of a repository is ever run").
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mesh_adapters.build.git import GitSettings, Repositories, Unsafe
from mesh_core import InvalidValue
from mesh_core.model.source import Commit, CommitGone, PathGone, RepositoryAway
from tests.integration.build.repositories import Repository, listing


@pytest.fixture
def far(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "far")


@pytest.fixture
def near(tmp_path: Path) -> Repositories:
    return Repositories(tmp_path / "near")


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "into"


def test_paths_are_kept_with_bytes_modes_links_and_empty_submodules(
    far: Repository, near: Repositories, into: Path
) -> None:
    odd = bytes(range(256)) * 700
    far.commit({"mod/deep/run": "#!\n", "mod/odd": odd, "mod/same": odd, "mod/empty": "", "other/x": "x"})
    (far.path / "mod/deep/run").chmod(0o755)
    (far.path / "mod/link").symlink_to("deep/../../shared/f")
    (far.path / "mod/folder").symlink_to("deep")
    first = far.commit({"shared/f": "f"})
    far.git("update-index", "--add", "--cacheinfo", f"160000,{first},mod/sub")
    far.git("commit", "--quiet", "-m", "a submodule")
    newest = far.git("rev-parse", "HEAD")
    last = far.commit({"other/x": "y", "mod/sub/README": None} if (far.path / "mod/sub").exists() else {})
    before = os.umask(0o077)
    try:
        answer = near.check_out(far.address, newest, ("mod", "shared/f"), into)
    finally:
        os.umask(before)
    assert isinstance(answer, Commit)
    assert answer.id == newest != last
    assert listing(into) == {
        "mod": "/",
        "mod/deep": "/",
        "mod/deep/run": "755 #!\n",
        "mod/empty": "644 ",
        "mod/folder": "-> deep",
        "mod/link": "-> deep/../../shared/f",
        "mod/odd": f"644 {odd.decode('latin-1')}",
        "mod/same": f"644 {odd.decode('latin-1')}",
        "mod/sub": "/",
        "shared": "/",
        "shared/f": "644 f",
    }


def test_all_of_a_repository_and_an_older_commit(far: Repository, near: Repositories, into: Path) -> None:
    first = far.commit({"a": "1", "mod/b": "1"})
    second = far.commit({"a": "2"})
    into.mkdir()
    assert isinstance(near.check_out(far.address, second, (".",), into), Commit)
    assert listing(into) == {"a": "644 2", "mod": "/", "mod/b": "644 1"}
    older = into.parent / "older"
    answer = near.check_out(far.address, second, ("mod",), older)
    assert isinstance(answer, Commit)
    assert answer.id == first


def test_what_is_not_there_writes_nothing(far: Repository, near: Repositories, into: Path) -> None:
    commit = far.commit({"a": "1"})
    assert near.check_out(far.address, commit, ("mod",), into) == PathGone(path="mod")
    assert near.check_out(far.address, "2" * 40, (".",), into) == CommitGone(commit="2" * 40)
    assert not into.exists()


def test_a_folder_with_something_in_it_is_left_alone(far: Repository, near: Repositories, into: Path) -> None:
    commit = far.commit({"a": "1"})
    into.mkdir()
    (into / "mine").write_text("mine")
    with pytest.raises(FileExistsError):
        near.check_out(far.address, commit, (".",), into)
    assert listing(into) == {"mine": "644 mine"}


def test_contents_are_fetched_at_once_and_only_those(
    far: Repository, near: Repositories, into: Path, tmp_path: Path
) -> None:
    files: dict[str, str | bytes | None] = {f"mod/{number}": f"content {number}" for number in range(20)}
    commit = far.commit({**files, "other": "other"})
    assert isinstance(near.check_out(far.address, commit, ("mod",), into), Commit)
    (clone,) = (tmp_path / "near").glob("*.git")
    assert len(list(clone.glob("objects/pack/*.pack"))) == 2  # the history, and all the contents
    far.path.rename(tmp_path / "elsewhere")
    again = near.check_out(far.address, commit, ("mod",), tmp_path / "again")
    assert isinstance(again, Commit)
    missing = near.check_out(far.address, commit, ("other",), tmp_path / "missing")
    assert isinstance(missing, RepositoryAway)
    assert not (tmp_path / "missing").exists()


def test_attributes_filters_and_hooks_change_and_run_nothing(
    far: Repository, near: Repositories, into: Path, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    attributes = "* text eol=crlf ident filter=evil export-subst working-tree-encoding=UTF-16 diff=evil\n"
    text = "a\nb $Id$ $Format:%H$\n"
    config = f'[filter "evil"]\n\tsmudge = touch {marker}\n[core]\n\tfsmonitor = touch {marker}\n'
    hooks = {f"hooks/{name}": f"#!/bin/sh\ntouch {marker}\n" for name in ("post-checkout", "post-merge")}
    far.commit({"mod/.gitattributes": "", "mod/f": text, "mod/.gitconfig": config, **hooks})
    commit = far.commit_tree(
        far.tree(
            ("100644", ".gitattributes", far.object(attributes.encode())),
            ("100644", "f", far.object(text.encode())),
        )
    )
    assert isinstance(near.check_out(far.address, commit, (".",), into), Commit)
    assert listing(into) == {".gitattributes": f"644 {attributes}", "f": f"644 {text}"}
    assert not marker.exists()


@pytest.mark.parametrize(
    ("links", "at"),
    [
        ({"mod/l": "/etc/passwd"}, "mod/l"),
        ({"mod/l": "../../x"}, "mod/l"),
        ({"mod/l": "a/../../../x"}, "mod/l"),
        ({"mod/d": "..", "mod/l": "d/../x"}, "mod/l"),
        ({"mod/d": "deep", "mod/l": "d/../../../../x"}, "mod/l"),
        ({"mod/a": "b", "mod/b": "a"}, "mod/a"),
        ({"mod/l": "l"}, "mod/l"),
        ({"l": ".."}, "l"),
        ({"up": "mod/deep", "mod/deep/up": "../..", "l": "up/up/.."}, "l"),
        ({"mod/l": "x" * 4096}, "mod/l"),
    ],
)
def test_a_link_that_leads_out_or_round(
    links: dict[str, str], at: str, far: Repository, near: Repositories, into: Path
) -> None:
    far.commit({"mod/deep/a": "1"})
    for name, target in links.items():
        of = far.object(target.encode())
        far.git("update-index", "--add", "--cacheinfo", f"120000,{of},{name}")
    far.git("commit", "--quiet", "-m", "links")
    answer = near.check_out(far.address, far.git("rev-parse", "HEAD"), (".",), into)
    assert isinstance(answer, Unsafe), listing(into)
    assert answer.path == at
    assert not into.exists()


def test_a_link_is_judged_by_what_is_written_and_may_lead_to_nothing_inside(
    far: Repository, near: Repositories, into: Path
) -> None:
    (far.path / "mod").mkdir()
    (far.path / "mod/none").symlink_to("../other/none")
    (far.path / "mod/here").symlink_to("..")
    commit = far.commit({"mod/a": "1"})
    assert isinstance(near.check_out(far.address, commit, ("mod",), into), Commit)
    assert listing(into)["mod/none"] == "-> ../other/none"


@pytest.mark.parametrize(
    "name",
    ["..", ".", ".git", ".GIT", "../x", "/tmp/x", "a//b", "a/b", b"\xff", "a\nb", "x" * 256, "\u202etxt"],
)
def test_a_name_that_no_tree_should_have(
    name: str | bytes, far: Repository, near: Repositories, into: Path
) -> None:
    blob = far.object(b"content")
    commit = far.commit_tree(far.tree(("100644", name, blob)))
    answer = near.check_out(far.address, commit, (".",), into)
    assert isinstance(answer, Unsafe)
    assert answer.path.isprintable()
    assert not into.exists()
    assert not list(into.parent.glob("x"))


def test_a_folder_of_a_name_that_leads_out(far: Repository, near: Repositories, into: Path) -> None:
    inner = far.tree(("100644", "planted", far.object(b"content")))
    for name in ("..", ".git"):
        commit = far.commit_tree(far.tree(("40000", "mod", far.tree(("40000", name, inner)))))
        assert isinstance(near.check_out(far.address, commit, ("mod",), into), Unsafe)
    assert not into.exists()
    assert not (into.parent / "planted").exists()


def test_a_name_that_is_a_link_and_a_folder(far: Repository, near: Repositories, into: Path) -> None:
    inner = far.tree(("100644", "planted", far.object(b"content")))
    link = far.object(b"../outside")
    (into.parent / "outside").mkdir()
    for entries in ([("120000", "a", link), ("40000", "a", inner)], [("40000", "a", inner)] * 2):
        commit = far.commit_tree(far.tree(*entries))
        answer = near.check_out(far.address, commit, (".",), into)
        assert answer == Unsafe(path="a", why="it is there twice")
    assert not into.exists()


def test_modes_that_no_tree_should_have_are_plain_ones(
    far: Repository, near: Repositories, into: Path
) -> None:
    blob = far.object(b"content")
    tree = far.tree(("10644", "fifo", blob), ("104777", "root", blob), ("100666", "shared", blob))
    assert isinstance(near.check_out(far.address, far.commit_tree(tree), (".",), into), Commit)
    assert listing(into) == {"fifo": "/", "root": "755 content", "shared": "644 content"}


@pytest.mark.parametrize(("size", "is_random"), [(5000, True), (3_000_000, False), (3_000_000, True)])
def test_more_than_it_may_be(size: int, is_random: bool, far: Repository, into: Path, tmp_path: Path) -> None:
    near = Repositories(tmp_path / "near", settings=GitSettings(most_bytes=4000))
    small = far.commit({"mod/small": "small"})
    assert isinstance(near.check_out(far.address, small, ("mod",), into), Commit)
    commit = far.commit({"mod/large": os.urandom(size) if is_random else bytes(size)})
    answer = near.check_out(far.address, commit, ("mod",), tmp_path / "more")
    assert isinstance(answer, Unsafe)
    assert "4000" in answer.why
    assert not (tmp_path / "more").exists()
    packs = (tmp_path / "near").rglob("*.pack")
    assert all(pack.stat().st_size < 2_000_000 for pack in packs)  # what is far too large is not even kept


def test_one_content_many_times_counts_each_time(far: Repository, into: Path, tmp_path: Path) -> None:
    near = Repositories(tmp_path / "near", settings=GitSettings(most_bytes=4000))
    blob = far.object(bytes(1000))
    commit = far.commit_tree(far.tree(*[("100644", f"f{number}", blob) for number in range(5)]))
    assert isinstance(near.check_out(far.address, commit, (".",), into), Unsafe)


def test_a_small_repository_that_unfolds_to_billions_of_files(
    far: Repository, near: Repositories, into: Path
) -> None:
    tree = far.tree(*[("100644", f"f{number}", far.object(b"boom")) for number in range(10)])
    for _ in range(9):
        tree = far.tree(*[("40000", f"d{number}", tree) for number in range(10)])
    commit = far.commit_tree(tree)
    answer = near.check_out(far.address, commit, (".",), into)
    assert isinstance(answer, Unsafe)
    assert not into.exists()


def test_a_disk_that_fails_leaves_nothing(
    far: Repository, near: Repositories, into: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = far.commit({"a/b": "1", "c": "2"})

    def full(_handle: int, _content: object) -> int:
        raise OSError(28, "No space left on device")

    near.newest(far.address, commit, (".",))
    with monkeypatch.context() as patched:
        patched.setattr("mesh_adapters.build.git_checkout.os.write", full)
        with pytest.raises(OSError, match="No space left"):
            near.check_out(far.address, commit, (".",), into)
    assert not into.exists()
    assert isinstance(near.check_out(far.address, commit, (".",), into), Commit)


@pytest.mark.parametrize(
    ("repository", "commit", "paths"),
    [
        ("--upload-pack=touch x", "0" * 40, (".",)),
        ("ext::sh -c touch", "0" * 40, (".",)),
        ("/somewhere", "--output=x", (".",)),
        ("/somewhere", "main", (".",)),
        ("/somewhere", "0" * 40, ("--x",)),
        ("/somewhere", "0" * 40, ("../x",)),
        ("/somewhere", "0" * 40, ()),
    ],
)
def test_what_git_would_take_for_something_else_never_reaches_it(
    repository: str, commit: str, paths: tuple[str, ...], near: Repositories, into: Path, tmp_path: Path
) -> None:
    with pytest.raises(InvalidValue):
        near.check_out(repository, commit, paths, into)
    with pytest.raises(InvalidValue):
        near.newest(repository, commit, paths)
    assert not (tmp_path / "near").exists()
