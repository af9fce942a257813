"""What a host says, there and back; and what is too long for a message."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesh_core import WireError
from mesh_core.model.node import Capability
from mesh_core.model.said import Doing, Hello, Report
from mesh_core.testing.strategies.of_networks import KEYS
from mesh_core.wire.said import hello_to_bytes, read_hello, read_said, report_to_bytes

NAMES = st.sampled_from(["web", "zsh", "postgres"])
COUNTS = st.none() | st.integers(0, 2**40)
INSTANTS = st.sampled_from([None, "1970-01-01T00:00:09Z", "2028-02-29T23:59:59Z"])
LINES = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)

REPORTS = st.builds(
    Report,
    node=st.just("pi"),
    machine=LINES,
    generation=COUNTS,
    applied=COUNTS,
    doing=st.sampled_from(Doing),
    modules=st.sets(NAMES),
    capabilities=st.lists(
        st.builds(Capability, name=NAMES, present=st.booleans()), unique_by=lambda c: c.name
    ),
    why=st.lists(LINES),
    left_out=st.integers(0, 9),
    refused=COUNTS,
    healthy=st.none() | st.booleans(),
    key=st.sampled_from([None, *KEYS]),
    at=INSTANTS,
)


@given(REPORTS)
def test_a_report_comes_back_as_it_was(report: Report) -> None:
    assert read_said(report_to_bytes(report)) == report


@given(
    st.builds(
        Hello,
        node=st.just("pi"),
        machine=LINES,
        generation=COUNTS,
        key=st.sampled_from([None, *KEYS]),
        at=INSTANTS,
    )
)
def test_a_hello_comes_back_as_it_was(hello: Hello) -> None:
    assert read_hello(hello_to_bytes(hello)) == hello


def test_a_report_that_is_too_long_says_how_much_is_missing() -> None:
    """> report 256 KiB (cut, with a count of what is missing)"""
    report = Report(node="pi", machine="m", why=[f"{n:05} " + "x" * 100 for n in range(10_000)])
    found = read_said(report_to_bytes(report))
    assert len(report_to_bytes(report)) <= 256 * 1024
    assert len(found.why) > 100
    assert found.why == report.why[: len(found.why)]
    assert found.left_out == 10_000 - len(found.why)


@pytest.mark.parametrize(
    "content",
    [b"", b"{}", b"\xff", b"[1]", b'{"format": 2, "node": "pi", "machine": "m"}', b'{"format": 1' * 9],
)
def test_garbage_is_no_report_and_no_hello(content: bytes) -> None:
    for read in (read_hello, read_said):
        with pytest.raises(WireError):
            read(content)


@pytest.mark.parametrize(
    "at", ['"yesterday"', '"2027-02-29T00:00:00Z"', '"2026-12-01T22:20:02+01:00"', "1", "{}"]
)
def test_an_instant_that_nobody_could_show_is_refused(at: str) -> None:
    """`mesh status` works with it: nothing is kept that would end that, for all nodes."""
    content = f'{{"format": 1, "node": "pi", "machine": "m", "doing": "applied", "at": {at}}}'.encode()
    for read, more in ((read_said, b""), (read_hello, b'"doing": "applied", ')):
        with pytest.raises(WireError, match=r"\$\.at: found .*; wanted"):
            read(content.replace(more, b""))


@pytest.mark.parametrize("key", ['""', "null", "1", '"x"', f'"{KEYS[0][:-1]}"', f'" {KEYS[0]}"'])
def test_a_key_that_is_none_is_refused(key: str) -> None:
    content = f'{{"format": 1, "node": "pi", "machine": "m", "doing": "applied", "key": {key}}}'.encode()
    for read, more in ((read_said, b""), (read_hello, b'"doing": "applied", ')):
        with pytest.raises(WireError, match=r"\$\.key: found "):
            read(content.replace(more, b""))


def test_a_machine_without_a_key_says_nothing_of_it() -> None:
    """A control plane of before reads what a host of now says, where it has no network."""
    assert b"key" not in hello_to_bytes(Hello(node="pi", machine="m"))
    assert b"key" not in report_to_bytes(Report(node="pi", machine="m"))
