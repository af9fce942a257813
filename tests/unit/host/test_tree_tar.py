"""What a layer may not be: each is refused by its name, and nothing of it is believed."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.host.artifacts.limits import ArtifactError, Limits
from mesh_adapters.host.artifacts.listing import Item
from mesh_adapters.host.artifacts.tar import listing_of
from tests.integration.host.tree.artifacts import SITE, digest_of, tar_of

LINKS = {"link": tarfile.SYMTYPE, "hard": tarfile.LNKTYPE}
OTHERS = {"device": tarfile.CHRTYPE, "block": tarfile.BLKTYPE, "pipe": tarfile.FIFOTYPE}


def listed(content: bytes, limits: Limits | None = None) -> tuple[Item, ...]:
    return listing_of(io.BytesIO(content), limits or Limits())


def entry(name: str, content: bytes = b"", *, end: bool = True, **more: Any) -> bytes:
    """A tar of one entry, as ustar has it."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o644
    for key, value in more.items():
        setattr(info, key, value)
    header = info.tobuf(tarfile.USTAR_FORMAT)
    return header + content + b"\0" * (-len(content) % 512) + (b"\0" * 1024 if end else b"")


def raw(name: bytes, kind: bytes = b"0") -> bytes:
    """A tar of one entry with a name that nothing would write."""
    return resealed(entry("x"), {0: name.ljust(100, b"\0"), 156: kind})


def resealed(content: bytes, changed: dict[int, bytes]) -> bytes:
    """The same with other bytes in its first header, whose sum is right."""
    header = bytearray(content[:512])
    for at, new in changed.items():
        header[at : at + len(new)] = new
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header) + content[512:]


def pax(records: bytes, then: bytes | None = None) -> bytes:
    return entry("pax", records, end=False, type=tarfile.XHDTYPE) + (entry("x") if then is None else then)


def refused(content: bytes, limits: Limits | None = None) -> str:
    with pytest.raises(ArtifactError) as raised:
        listed(content, limits)
    return str(raised.value)


def test_what_a_tree_has() -> None:
    assert listed(tar_of(SITE)) == (
        Item("index.html", 0o644, 2, digest_of(b"1\n")[7:]),
        Item("run", 0o755, 10, digest_of(b"#!/bin/sh\n")[7:]),
        Item("static", 0o755),
        Item("static/a.css", 0o644, 2, digest_of(b"a\n")[7:]),
    )


def test_long_and_foreign_names_and_implied_directories() -> None:
    long = "/".join(["x" * 90, "ü" * 60, "z"])
    assert [item.path for item in listed(tar_of({long: "1", "e": ""}))] == [
        "e",
        "x" * 90,
        f"{'x' * 90}/{'ü' * 60}",
        long,
    ]


@pytest.mark.parametrize(
    "name",
    [b"/etc/passwd", b"../x", b"a/../../x", b"a/..", b".", b"./a", b"a//b", b"a/./b", b"..", b"a/", b"/"],
)
def test_a_path_that_leads_elsewhere(name: bytes) -> None:
    assert "is no path inside of a tree" in refused(raw(name))
    if name != b"a/":
        assert "is no path inside of a tree" in refused(raw(name, b"5"))


def test_a_path_without_anything() -> None:
    assert "is no path inside of a tree" in refused(raw(b""))
    assert "is no path inside of a tree" in refused(raw(b"", b"5"))


@pytest.mark.parametrize("path", [b"a\0b", b"../x", b"/x", b"a/../b"])
def test_a_path_in_a_pax_header_that_leads_elsewhere(path: bytes) -> None:
    record = b"path=" + path + b"\n"
    assert "is no path inside of a tree" in refused(pax(b"%d " % (len(record) + 3) + record))


@pytest.mark.parametrize("name", [*LINKS, *OTHERS])
def test_what_is_neither_a_file_nor_a_directory(name: str) -> None:
    said = refused(entry(name, type=(LINKS | OTHERS)[name], linkname="/etc/passwd"))
    assert f"'{name}' is a" in said
    assert "files and directories only" in said


@pytest.mark.parametrize("kind", [b"g", b"L", b"K", b"S", b"7", b"V", b"\xff"])
def test_other_forms_of_tar(kind: bytes) -> None:
    assert "files and directories only" in refused(raw(b"x", kind))


def test_gnu_names_and_sparse_maps() -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.GNU_FORMAT) as tar:
        tar.addfile(tarfile.TarInfo("x" * 200))
    assert "another form" in refused(made.getvalue())
    for key in ("GNU.sparse.major", "size", "linkpath", "SCHILY.xattr.user.x"):
        record = f"{key}=1\n".encode()
        length = len(record) + 3
        assert repr(key) in refused(pax(b"%d " % length + record))


@pytest.mark.parametrize(
    "records", [b"10 path=a\n9 path=b\n", b"path=a\n", b"99 path=a\n", b"10 path=ab", b""]
)
def test_a_damaged_pax_header(records: bytes) -> None:
    assert "pax header" in refused(pax(records))


def test_pax_headers_without_an_entry() -> None:
    one = entry("p", b"9 path=a\n", end=False, type=tarfile.XHDTYPE)
    assert "two pax headers" in refused(one + one + entry("x"))
    assert "behind a pax header" in refused(one + b"\0" * 1024)


@pytest.mark.parametrize(
    ("first", "second"),
    [("a", "a"), ("a/", "a/"), ("a/b", "a"), ("a", "a/b"), ("a/", "a"), ("a", "a/")],
)
def test_what_comes_twice(first: str, second: str) -> None:
    content = b"".join(
        entry(name, end=name is second and place == 1, **directory(name))
        for place, name in enumerate((first, second))
    )
    assert "where something else came before" in refused(content)


def directory(name: str) -> dict[str, Any]:
    return {"type": tarfile.DIRTYPE, "mode": 0o755} if name.endswith("/") else {}


def test_a_directory_may_come_behind_what_is_in_it() -> None:
    content = entry("a/b", end=False) + entry("a/", **directory("a/"))
    assert [item.path for item in listed(content)] == ["a", "a/b"]


@pytest.mark.parametrize("mode", [0o4755, 0o2755, 0o1644, 0o777, 0o666, 0o600, 0])
def test_modes_that_a_tree_has_not(mode: int) -> None:
    assert f"the mode {mode:04o}" in refused(entry("x", mode=mode))
    assert f"the mode {mode:04o}" in refused(entry("x", mode=mode, type=tarfile.DIRTYPE))


def test_what_is_cut_or_goes_on() -> None:
    whole = tar_of(SITE)
    for at in (0, 1, 511, 512, 700, 1024, 1500, len(whole.rstrip(b"\0"))):
        assert refused(whole[:at]) in ("it is cut off", "it is no tar, or one that is damaged")
    assert "behind its end" in refused(whole + b"x")
    assert "behind its end" in refused(entry("x")[:-512] + entry("y"))


@pytest.mark.parametrize("at", [0, 100, 124, 136, 148, 156, 257])
def test_a_header_that_was_changed(at: int) -> None:
    whole = bytearray(entry("x", b"content"))
    whole[at] ^= 1
    refused(bytes(whole))


@pytest.mark.parametrize(
    "number", [b"\x80\0\0\0\0\0\0\0\0\0\0\1", b"-0000000001\0", b"00000000009\0", b"0x1\0"]
)
def test_a_size_that_is_no_number(number: bytes) -> None:
    assert "a number in a header" in refused(resealed(entry("x"), {124: number.ljust(12, b"\0")}))


def test_a_size_beyond_the_file_is_not_believed() -> None:
    assert refused(resealed(entry("x"), {124: b"77777777777\0"})) == "it is cut off"


def test_a_directory_with_content() -> None:
    assert "with content" in refused(entry("x", b"1", type=tarfile.DIRTYPE, mode=0o755))


def test_nothing_at_all_and_no_utf8() -> None:
    assert refused(b"\0" * 1024) == "it has nothing in it"
    assert "is no UTF-8" in refused(raw(b"\xff"))


def test_limits() -> None:
    assert "more than 3 entries" in refused(tar_of(SITE), Limits(entries=3))
    assert listed(tar_of(SITE), Limits(entries=4))
    assert "more than 3 entries" in refused(tar_of({"a/b/c/d": ""}), Limits(entries=3))
    assert "too long or too deep" in refused(tar_of({"a/b/c/d": ""}), Limits(depth=3))
    assert "too long or too deep" in refused(tar_of({"a" * 20: ""}), Limits(path=19))
    assert "too long or too deep" in refused(tar_of({"a" * 256: ""}))


def test_a_tar_of_what_builds_trees(tmp_path: Path) -> None:
    """The other side: it packs what is read here."""
    from mesh_adapters.build.packing import Packed, pack

    folder = tmp_path / "built"
    for path in ("a/b", "ü" * 80, f"{'x' * 90}/{'y' * 90}"):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)
    packed = pack(folder, tmp_path / "tar", "2026-12-01T22:20:02Z")
    assert isinstance(packed, Packed)
    found = listed((tmp_path / "tar").read_bytes())
    assert [item.path for item in found] == ["a", "a/b", "x" * 90, f"{'x' * 90}/{'y' * 90}", "ü" * 80]
