"""> One that is damaged never reads as "there is no network". (`mesh_adapters.host.overlay.record`)"""

from __future__ import annotations

import base64
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesh_adapters.host.overlay.record import (
    NAME,
    Raised,
    Record,
    RecordError,
    drop_record,
    read_record,
    write_record,
)
from mesh_core.model.network import DeclaredNetwork, Peer


def key(number: int) -> str:
    return base64.b64encode(bytes([number]) * 32).decode()


@st.composite
def networks(draw: st.DrawFn) -> DeclaredNetwork:
    """Of either kind of address, with some peers and some names."""
    prefix, range_ = draw(st.sampled_from([("10.77.0.", "10.77.0.0/24"), ("fd77::", "fd77::/64")]))
    peers = [
        Peer(
            node=f"n{number}",
            key=key(number),
            addresses=[f"{prefix}{number}"],
            endpoint=draw(st.sampled_from([None, "vps.example:51820", "[2001:db8::7]:9"])),
            keepalive=draw(st.sampled_from([0, 25])),
        )
        for number in draw(st.lists(st.integers(2, 9), unique=True, max_size=3))
    ]
    names = [(peer.node, peer.addresses[0]) for peer in peers if draw(st.booleans())]
    return DeclaredNetwork(
        address=f"{prefix}1",
        range=range_,
        port=draw(st.integers(1, 65535)),
        relay=draw(st.booleans()),
        peers=peers,
        names=names,
    )


RECORDS = st.builds(
    Record,
    network=st.none() | networks(),
    before=st.none() | networks(),
    trying=st.none() | st.integers(1, 2**40),
    undone=st.none() | st.integers(1, 2**40),
    raised=st.none() | st.builds(Raised, boot=st.text(max_size=9), index=st.none() | st.integers(1, 2**31)),
    named=st.booleans(),
    file_made=st.booleans(),
    settings=st.dictionaries(st.sampled_from(["ipv4/conf/mesh0/forwarding", "a", "b"]), st.text(max_size=3)),
)

FULL = Record(
    network=DeclaredNetwork(
        address="10.77.0.1",
        range="10.77.0.0/24",
        relay=True,
        peers=[
            Peer(node="pi", key=key(3), addresses=["10.77.0.3"], endpoint="pi.example:51820", keepalive=25)
        ],
        names=[("pi", "10.77.0.3")],
    ),
    before=DeclaredNetwork(address="10.77.0.9", range="10.77.0.0/24"),
    trying=12,
    undone=9,
    raised=Raised(boot="4bd0f8b5-1d6f-4f1c-8b7e-0f1f6c1f2a55", index=17),
    named=True,
    settings={"ipv6/conf/all/forwarding": "0"},
)


@contextmanager
def folder() -> Iterator[Path]:
    """A folder of its own for each example."""
    made = Path(tempfile.mkdtemp(prefix="mesh-record-"))
    try:
        yield made
    finally:
        shutil.rmtree(made)


@given(RECORDS)
def test_what_was_kept_is_what_is_read(record: Record) -> None:
    with folder() as state:
        write_record(state, record)
        assert read_record(state) == record


def test_where_there_is_no_file_there_is_nothing(tmp_path: Path) -> None:
    assert read_record(tmp_path) == Record()
    write_record(tmp_path, FULL)
    drop_record(tmp_path)
    drop_record(tmp_path)
    assert read_record(tmp_path) == Record()
    assert os.listdir(tmp_path) == []


def test_nobody_else_may_read_it(tmp_path: Path) -> None:
    write_record(tmp_path, FULL)
    assert (tmp_path / NAME).stat().st_mode & 0o7777 == 0o600


def _cut(content: bytes, at: int) -> bytes:
    return content[:at]


def _flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def _digit(content: bytes, at: int) -> bytes:
    return content[:at] + b"7" + content[at + 1 :]


def _without(content: bytes, at: int) -> bytes:
    return content[:at] + content[at + 1 :]


def _nothing(content: bytes, at: int) -> bytes:
    """As after a power cut: what was written is there, and is zeros."""
    return content[:at] + bytes(len(content) - at)


@pytest.mark.parametrize("damage", [_cut, _flipped, _digit, _without, _nothing])
def test_damaged_anywhere_it_is_told_and_stays_as_it_is(
    tmp_path: Path, damage: Callable[[bytes, int], bytes]
) -> None:
    write_record(tmp_path, FULL)
    place = tmp_path / NAME
    whole = place.read_bytes()
    for at in range(len(whole)):
        content = damage(whole, at)
        place.write_bytes(content)
        # What is left may say the very same: a blank less, or a 7 where one was.
        assert _read(tmp_path) in ("the same", "it is damaged", "it is of another version"), at
        assert place.read_bytes() == content


def _read(state: Path) -> str:
    """What reading it comes to, in a few words."""
    try:
        return "the same" if read_record(state) == FULL else "something else"
    except RecordError as error:
        told = str(error)
    known = ("is damaged", "is of another version")
    return next((f"it {words}" for words in known if words in told and len(told) < 300), told)


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b"null", b"1", b'"x"', b"\xff\xfe", b"[" * 100])
def test_whatever_else_is_there_is_no_empty_record(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(RecordError, match="is damaged"):
        read_record(tmp_path)


def test_one_of_a_later_version_is_not_read_and_not_called_damaged(tmp_path: Path) -> None:
    write_record(tmp_path, FULL)
    data = json.loads((tmp_path / NAME).read_text())
    (tmp_path / NAME).write_text(json.dumps({**data, "format": 2}))
    with pytest.raises(RecordError, match=r"is of another version of mesh-host \(format 2\)"):
        read_record(tmp_path)


@pytest.mark.parametrize("more", [{"network": "none"}, {"raised": {"index": 1}}, {"settings": 7}, {"new": 1}])
def test_what_fits_no_record_is_not_read_as_one(tmp_path: Path, more: dict[str, object]) -> None:
    """With a digest that is right: it was written so, by whatever wrote it."""
    from mesh_core.wire.fingerprint import fingerprint

    write_record(tmp_path, FULL)
    data = json.loads((tmp_path / NAME).read_text()) | more
    del data["digest"]
    (tmp_path / NAME).write_text(json.dumps({**data, "digest": fingerprint(data)}))
    if "new" in more:
        assert read_record(tmp_path) == FULL, "a key more is nothing that is missing"
        return
    with pytest.raises(RecordError, match="is damaged"):
        read_record(tmp_path)


def test_what_cannot_be_read_is_told_with_its_place(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(RecordError, match=r"network\.json: Is a directory"):
        read_record(tmp_path)
