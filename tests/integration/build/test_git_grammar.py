"""Whatever the grammar takes for a ref, git takes for one."""

import subprocess

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mesh_core.model.source import ref_fault

AWKWARD = st.text(st.sampled_from("ab.-/@{~^:?*[\\ \t\x7f") | st.characters(), min_size=1, max_size=6) | (
    st.lists(
        st.sampled_from(["a", ".", "..", "/", ".lock", "@", "{", "-", "HEAD", "\u00e4"]), min_size=1
    ).map("".join)
)


@settings(max_examples=10)
@given(st.lists(AWKWARD, min_size=10, max_size=20))
@example(
    ["a.lock/b", "a/.b", "@", "a@{b", "a.", "a..b", "a/", "/a", "-a", "a//b", "a\x7f", "\ud800", "a.lock"]
)
def test_whatever_is_a_ref_is_one_for_git(refs: list[str]) -> None:
    names = sorted({f"refs/heads/{ref}" for ref in refs if ref_fault(ref) is None})
    assert not [name for name in names if not _is_ref(name)]


def _is_ref(name: str) -> bool:
    return subprocess.run(["git", "check-ref-format", name], check=False).returncode == 0
