"""Names (design, part 2), for any text: what is right, and that a spelling that is said to do does.

The grammar is said here again, without regular expressions.
"""

from string import ascii_lowercase, digits

from hypothesis import example, given
from hypothesis import strategies as st

from mesh_core.faults import NameKind
from mesh_core.model.names import name_fault

ALNUM = frozenset(ascii_lowercase + digits)
INSIDE = {
    NameKind.NODE: ALNUM | {"-"},
    NameKind.MODULE: ALNUM | set("-._"),
    NameKind.PROVISION: ALNUM | set("-._:/"),
    NameKind.CLAIM: ALNUM | set("-._:/"),
    NameKind.CAPABILITY: ALNUM | set("-._:/"),
}
LONGEST = {
    NameKind.NODE: 63,
    NameKind.MODULE: 63,
    NameKind.PROVISION: 128,
    NameKind.CLAIM: 128,
    NameKind.CAPABILITY: 128,
}
KINDS = st.sampled_from(sorted(INSIDE))
# Much that is right or nearly so, and much that is not at all.
NEARLY = st.text(st.sampled_from("abz09-._:/ \nAé"), max_size=10)
LONG = st.builds(
    lambda text, times: text * times,
    st.text(st.sampled_from("ab-.:"), min_size=1, max_size=4),
    st.integers(10, 70),
)
TEXTS = NEARLY | LONG | st.text(max_size=20) | st.text(st.characters(codec=None), max_size=5)


def right(kind: NameKind, name: str) -> bool:
    """> up to 63 of `[a-z0-9-]`, beginning and ending in `[a-z0-9]`"""
    fits = 1 <= len(name) <= LONGEST[kind] and INSIDE[kind].issuperset(name)
    return fits and name[0] in ALNUM and name[-1] in ALNUM


@given(kind=KINDS, name=TEXTS)
@example(kind=NameKind.NODE, name="a" * 63)
@example(kind=NameKind.NODE, name="a" * 64)
@example(kind=NameKind.CLAIM, name="a" * 128)
@example(kind=NameKind.CLAIM, name="a" * 129)
@example(kind=NameKind.NODE, name="a\n")
def test_a_name_is_right_or_told_what_is_wrong(kind: NameKind, name: str) -> None:
    fault = name_fault(kind, name)
    assert (fault is None) is right(kind, name)
    if fault is not None:
        assert (fault.kind, fault.name) == (kind, name)
        assert repr(name) in str(fault)
        assert fault.rule in str(fault)


@given(kind=KINDS, name=TEXTS)
@example(kind=NameKind.NODE, name="a" * 62 + "--b")
@example(kind=NameKind.MODULE, name="İ.ẞ")
def test_a_spelling_that_is_said_to_do_does(kind: NameKind, name: str) -> None:
    """> Anything else is refused with the name, the rule and, where there is one, a spelling that would
    > do.
    """
    fault = name_fault(kind, name)
    if fault is None:
        return
    if fault.suggestion is not None:
        assert right(kind, fault.suggestion)
        assert name_fault(kind, fault.suggestion) is None
    else:
        assert not ALNUM.intersection(name.lower()), "there is one: what can stay of the name"


@given(version=st.text(max_size=140) | st.text(st.characters(codec=None), max_size=5) | LONG)
@example(version="a" * 128)
@example(version="a" * 129)
def test_a_version(version: str) -> None:
    """> 1 to 128 printable characters, no white space, never read as a number"""
    fits = 1 <= len(version) <= 128
    is_right = fits and all(c.isprintable() and not c.isspace() for c in version)
    fault = name_fault(NameKind.VERSION, version)
    assert (fault is None) is is_right
    assert fault is None or fault.suggestion is None
