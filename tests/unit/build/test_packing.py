"""One folder, one tar: what goes in, what does not, and that its bytes are always the same."""

import io
import os
import socket
import stat
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

import pytest

from mesh_adapters.build import packing
from mesh_adapters.build.packing import Packed, Unpackable, pack

AT = "2026-12-01T22:20:02Z"
SECONDS = 1796163602
LONG = "/".join(["a-folder-with-a-long-name"] * 5)

GOLDEN = "sha256:9ceff4b8b99ad60484ccb64f998955b57bd3dc5904a4d7d20bca1911dc2f0aa5"
"""Of the tree that `tree` makes. The identity of everything that was ever built hangs on it: where this
constant has to be changed, every artifact is another one."""


def tree(folder: Path) -> Path:
    """A tree with one of everything that a tree can have."""
    (folder / "bin").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "bin" / "run").write_text("#!/bin/sh\n")
    (folder / "bin" / "run").chmod(0o755)
    (folder / "bin-").write_text("stands between a folder and what is in it, by its bytes")
    (folder / "nothing").touch()
    (folder / "block").write_bytes(b"b" * 512)
    (folder / "more").write_bytes(b"m" * 513)
    (folder / "Größe.txt").write_text("grün")
    (folder / LONG).mkdir(parents=True)
    (folder / LONG / "file").write_text("far down")
    return folder


def packed(folder: Path, into: Path, at: str = AT) -> Packed:
    got = pack(folder, into, at)
    assert isinstance(got, Packed), got
    return got


def refused(folder: Path, into: Path, at: str = AT) -> Unpackable:
    got = pack(folder, into, at)
    assert isinstance(got, Unpackable), got
    assert not into.exists()
    return got


def test_the_bytes_are_these(tmp_path: Path) -> None:
    got = packed(tree(tmp_path / "tree"), tmp_path / "tar")
    assert got.digest == GOLDEN
    content = (tmp_path / "tar").read_bytes()
    assert got.digest == f"sha256:{sha256(content).hexdigest()}"
    assert got.size == len(content)
    assert got.entries == 14


def test_an_empty_folder_is_the_end_of_a_tar(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    got = packed(tmp_path / "tree", tmp_path / "tar")
    assert (got.entries, (tmp_path / "tar").read_bytes()) == (0, b"\0" * 1024)


def test_what_python_reads_in_it_is_what_was_there(tmp_path: Path) -> None:
    folder = tree(tmp_path / "tree")
    packed(folder, tmp_path / "tar")
    with tarfile.open(tmp_path / "tar") as tar:
        members = tar.getmembers()
        names = [member.name for member in members]
        there = [str(path.relative_to(folder)) for path in folder.rglob("*")]
        assert names == sorted(there, key=os.fsencode)
        for member in members:
            path = folder / member.name
            assert (member.uid, member.gid, member.uname, member.gname) == (0, 0, "", "")
            assert member.mtime == SECONDS
            assert member.isdir() == path.is_dir()
            assert member.mode == (0o755 if path.is_dir() or member.name == "bin/run" else 0o644)
            file = tar.extractfile(member)
            assert (file.read() if file else None) == (None if path.is_dir() else path.read_bytes())


def test_a_header_is_one_that_python_would_check(tmp_path: Path) -> None:
    packed(tree(tmp_path / "tree"), tmp_path / "tar")
    content = (tmp_path / "tar").read_bytes()
    first = tarfile.TarInfo.frombuf(content[:512], "utf-8", "strict")
    assert (first.name, first.type) == ("././@PaxHeader", tarfile.XHDTYPE)
    assert len(content) % 512 == 0
    assert content.endswith(b"\0" * 1024)


@pytest.mark.parametrize("length", [*range(95, 105), 980, 981, 982, 990, 1000])
def test_a_name_of_any_length_is_read_again(tmp_path: Path, length: int) -> None:
    """A pax record has its own length in it, which is where its digits get more."""
    parts = ["d" * 199] * (length // 200)
    name = "/".join([*parts, "f" * (length - 200 * len(parts))]).rstrip("/")
    (tmp_path / "tree" / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "tree" / name).touch()
    packed(tmp_path / "tree", tmp_path / "tar")
    with tarfile.open(tmp_path / "tar") as tar:
        assert tar.getnames()[-1] == name


def test_the_order_in_which_a_file_system_lists_is_of_no_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree(tmp_path / "tree")
    scandir = os.scandir

    @contextmanager
    def listed(path: bytes) -> Iterator[list[os.DirEntry[bytes]]]:
        with scandir(path) as found:
            yield sorted(found, key=lambda each: each.name, reverse=turned)

    monkeypatch.setattr("mesh_adapters.build.packing.os.scandir", listed)
    for turned in (False, True):
        assert packed(folder, tmp_path / f"{turned}.tar").digest == GOLDEN


def test_only_the_owners_bit_makes_a_program(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    file = tmp_path / "tree" / "file"
    file.touch()

    def digest(mode: int) -> str:
        file.chmod(mode)
        return packed(tmp_path / "tree", tmp_path / f"{mode}.tar").digest

    plain = {digest(mode) for mode in (0o644, 0o600, 0o666, 0o655, 0o4644)}
    programs = {digest(mode) for mode in (0o755, 0o700, 0o4711)}
    assert len(plain) == len(programs) == 1
    assert plain != programs


def test_a_file_with_two_names_is_two_files(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "one").write_text("same")
    os.link(tmp_path / "tree" / "one", tmp_path / "tree" / "two")
    packed(tmp_path / "tree", tmp_path / "tar")
    with tarfile.open(tmp_path / "tar") as tar:
        assert [(each.name, each.type, each.size) for each in tar] == [
            ("one", tarfile.REGTYPE, 4),
            ("two", tarfile.REGTYPE, 4),
        ]


@pytest.mark.parametrize("target", ["file", "/etc/passwd", "nowhere", "."])
def test_a_link_is_refused_by_its_name(tmp_path: Path, target: str) -> None:
    (tmp_path / "tree" / "in").mkdir(parents=True)
    (tmp_path / "tree" / "in" / "link").symlink_to(target)
    got = refused(tmp_path / "tree", tmp_path / "tar")
    assert got == Unpackable(
        path="in/link", why="it is a symbolic link, and a tree has files and folders only"
    )


def test_a_pipe_and_a_socket_are_refused_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree").mkdir()
    os.mkfifo(tmp_path / "tree" / "pipe")
    assert "it is a pipe" in refused(tmp_path / "tree", tmp_path / "tar").why
    (tmp_path / "tree" / "pipe").unlink()
    monkeypatch.chdir(tmp_path / "tree")
    with socket.socket(socket.AF_UNIX) as ours:
        ours.bind("socket")
        assert "it is a socket" in refused(tmp_path / "tree", tmp_path / "tar").why


def test_a_device_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    try:
        os.mknod(tmp_path / "tree" / "null", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")
    assert "it is a device" in refused(tmp_path / "tree", tmp_path / "tar").why


def test_a_name_that_is_no_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / os.fsdecode(b"gr\xfcn")).touch()
    assert refused(tmp_path / "tree", tmp_path / "tar") == Unpackable(
        path="gr\\xfcn", why="its name is no UTF-8"
    )


def test_more_bytes_than_the_most_are_refused_unread(tmp_path: Path) -> None:
    """A file of a terabyte that is all hole: nobody reads it to find out."""
    (tmp_path / "tree").mkdir()
    with (tmp_path / "tree" / "hole").open("wb") as file:
        file.truncate(2**40)
    got = refused(tmp_path / "tree", tmp_path / "tar")
    assert got == Unpackable(path="hole", why="with it the tree is larger than 1073741824 bytes")


def test_the_limits_are_the_last_that_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tree").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "tree" / name).write_bytes(b"1234")
    monkeypatch.setattr(packing, "MOST_BYTES", 12)
    monkeypatch.setattr(packing, "MOST_ENTRIES", 3)
    packed(tmp_path / "tree", tmp_path / "fits")
    (tmp_path / "tree" / "d").touch()
    assert "one too many: a tree has at most 3 entries" in refused(tmp_path / "tree", tmp_path / "tar").why
    monkeypatch.setattr(packing, "MOST_ENTRIES", 4)
    packed(tmp_path / "tree", tmp_path / "fits-too")
    (tmp_path / "tree" / "d").write_bytes(b"1")
    assert "larger than 12 bytes" in refused(tmp_path / "tree", tmp_path / "tar").why


def test_a_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tree" / "/".join(["d" * 200] * 5)).mkdir(parents=True)
    (tmp_path / "tree" / "/".join(["d" * 200] * 5) / ("f" * 20)).touch()
    assert "longer than 1024" in refused(tmp_path / "tree", tmp_path / "tar").why


@pytest.mark.parametrize(
    "at",
    [
        "",
        "2026-12-01",
        "2026-12-01T22:20:02+01:00",
        "2026-12-1T22:20:2Z",
        "2026-12-01T22:20:02Z\n",
        "2026-13-01T22:20:02Z",
        "1969-12-31T23:59:59Z",
    ],
)
def test_a_time_that_no_tar_can_say_is_refused(tmp_path: Path, at: str) -> None:
    (tmp_path / "tree").mkdir()
    assert refused(tmp_path / "tree", tmp_path / "tar", at).path == "."


def test_the_last_time_that_a_tar_can_say(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    packed(tmp_path / "tree", tmp_path / "last", "2242-03-16T12:56:31Z")
    assert "outside of 1970" in refused(tmp_path / "tree", tmp_path / "tar", "2242-03-16T12:56:32Z").why


@pytest.mark.parametrize("change", [b"", b"short", b"longer than it was"])
def test_a_file_that_changes_meanwhile_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: bytes
) -> None:
    (tmp_path / "tree").mkdir()
    file = tmp_path / "tree" / "file"
    file.write_bytes(b"as it was")
    header = packing._header

    def changing(*arguments: object) -> bytes:
        file.write_bytes(change)
        return header(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(packing, "_header", changing)
    assert refused(tmp_path / "tree", tmp_path / "tar") == Unpackable(
        path="file", why="it changed while it was packed"
    )


@pytest.mark.parametrize("entries", [0, 14])
def test_what_cannot_be_written_is_told_and_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entries: int
) -> None:
    """Also where all of it waits in a buffer until the end."""
    folder = tree(tmp_path / "tree") if entries else tmp_path / "empty"
    folder.mkdir(exist_ok=True)

    def full(into: Path) -> io.BufferedWriter:
        into.touch()
        return io.BufferedWriter(io.FileIO("/dev/full", "wb"))

    monkeypatch.setattr(packing, "_created", full)
    got = refused(folder, tmp_path / "tar")
    assert got.why == "the tar cannot be written: No space left on device"


def test_what_is_there_is_neither_written_over_nor_taken_away(tmp_path: Path) -> None:
    (tmp_path / "tar").write_text("somebody's")
    got = pack(tree(tmp_path / "tree"), tmp_path / "tar", AT)
    assert got == Unpackable(path=".", why="the tar cannot be written: File exists")
    assert (tmp_path / "tar").read_text() == "somebody's"


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert refused(tmp_path / "none", tmp_path / "tar").why == "it cannot be read: No such file or directory"


def test_no_more_than_a_chunk_is_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "file").write_bytes(b"x" * 3_000_000)
    largest = 0

    class Watched(io.FileIO):
        def write(self, content: bytes) -> int:  # type: ignore[override]
            nonlocal largest
            largest = max(largest, len(content))
            return super().write(content)

    monkeypatch.setattr(packing, "_created", lambda into: Watched(into, "wb"))
    packed(tmp_path / "tree", tmp_path / "tar")
    assert 0 < largest <= 256 * 1024
