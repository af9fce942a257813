"""What a repository, a path and a ref may be. Whatever is accepted, git takes for what it is."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesh_core import InvalidValue
from mesh_core.model.source import (
    Source,
    check_commit,
    commit_fault,
    ref_fault,
    repository_fault,
    source_path_fault,
    without_password,
)


@pytest.mark.parametrize(
    "repository",
    [
        "https://example.org/x.git",
        "https://example.org:8443/a/b%20c?x=1",
        "https://token@example.org/x",
        "ssh://git@example.org/x",
        "ssh://git@[fe80::1]:22/x",
        "git@example.org:a/b.git",
        "file:///srv/git/x.git",
        "/srv/git/x.git",
        "/srv/git/\u00e4.git",
    ],
)
def test_what_is_a_repository(repository: str) -> None:
    assert repository_fault(repository) is None
    assert Source(repository=repository).repository == repository


@pytest.mark.parametrize(
    "repository",
    [
        "",
        "x",
        "./x",
        "../x",
        "-x",
        "--upload-pack=touch x",
        "ext::sh -c touch% x",
        "fd::17",
        "https::/x",
        "http://example.org/x",
        "git://example.org/x",
        "https://user:password@example.org/x",
        "https://example.org",
        "https://-example.org/x",
        "ssh://-oProxyCommand=x/x",
        "ssh://-v/x",
        "ssh://-v@example.org/x",
        "-v@example.org:x",
        "a@-v:x",
        "a@example.org:-x",
        "a@b::x",
        "file://host/x",
        "/with space",
        "/with\nline",
        "/with\u00a0space",
        "/\u202ereversed",
        "/\x85",
        "/\ud800",
        "https://example.org:\u0663/x",
        "/" + "x" * 1024,
    ],
)
def test_what_is_no_repository(repository: str) -> None:
    assert repository_fault(repository) is not None
    with pytest.raises(InvalidValue):
        Source(repository=repository)


NO_PATHS = ["/", "/x", "x/", "a//b", "..", "a/../b", "./a", ".git/hooks", "-x", "a/-x", ":(top)x", "a\\b"]


@pytest.mark.parametrize("path", [*NO_PATHS, "", "a\nb", "\ud800", "\u202ea", "x" * 1025])
def test_what_is_no_path(path: str) -> None:
    assert source_path_fault(path) is not None
    with pytest.raises(InvalidValue):
        Source(repository="/x", paths=(path,))


@pytest.mark.parametrize("path", [".", "a", "a b/c", ".config", "a*", "a/..b", "\u00e4"])
def test_what_is_a_path(path: str) -> None:
    assert source_path_fault(path) is None


@pytest.mark.parametrize("paths", [(), ("a", "a")])
def test_paths_are_some_and_each_is_there_once(paths: tuple[str, ...]) -> None:
    with pytest.raises(InvalidValue):
        Source(repository="/x", paths=paths)


@pytest.mark.parametrize(
    "commit", ["", "main", "0" * 39, "0" * 41, "A" * 40, "0" * 64, "-" + "0" * 39, "0" * 40 + "\n"]
)
def test_what_is_no_commit(commit: str) -> None:
    assert commit_fault(commit) is not None
    with pytest.raises(InvalidValue):
        check_commit("/x", commit, (".",))


def test_an_address_with_a_password() -> None:
    assert without_password("https://u:p@example.org/x") == "https://u:***@example.org/x"
    assert without_password("https://u@example.org/x:y@z") == "https://u@example.org/x:y@z"


@given(st.text(max_size=8))
@example("\ud800")
def test_whatever_is_accepted_can_be_an_argument_and_no_option(text: str) -> None:
    for fault in (repository_fault, source_path_fault, ref_fault):
        if fault(text) is None:
            assert text.encode()
            assert not text.startswith("-")
            assert text.isprintable()
