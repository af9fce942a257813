"""A layout is whole at every moment, for whoever writes, is killed, or finds damage."""

import fcntl
import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.build.layout import Addition, NotWritten, add, blob_path, find, read_blob
from mesh_adapters.build.oci import INDEX, LAYER, MANIFEST, Descriptor, described, manifests_of, referrers_tag
from mesh_adapters.build.registry_blobs import Piece, Unread
from tests.integration.build.layout_killed import addition

NAME = "org.opencontainers.image.ref.name"
LIMIT = 1024 * 1024


def added(layout: Path, name: str) -> Addition:
    what = addition(name)
    assert add(layout, what) is None
    return what


def entries(layout: Path) -> list[dict[str, Any]]:
    """What index.json lists; fails where the layout does not open."""
    assert json.loads((layout / "oci-layout").read_bytes()) == {"imageLayoutVersion": "1.0.0"}
    listed: list[dict[str, Any]] = json.loads((layout / "index.json").read_bytes())["manifests"]
    return listed


def names(layout: Path) -> set[str]:
    return {entry["annotations"][NAME] for entry in entries(layout) if NAME in entry.get("annotations", {})}


def assert_whole(layout: Path) -> None:
    """It opens, and whatever can be reached from its index is there and is what it is called."""
    waiting = entries(layout)
    while waiting:
        entry = waiting.pop()
        content = read_blob(layout, entry["digest"], LIMIT)
        assert isinstance(content, bytes), content
        assert len(content) == entry["size"]
        if entry["mediaType"] in (MANIFEST, INDEX):
            inside = json.loads(content)
            waiting += inside.get("layers", []) + inside.get("manifests", [])
            waiting += [inside[key] for key in ("config", "subject") if key in inside]


def files(layout: Path) -> dict[str, bytes]:
    return {str(path.relative_to(layout)): path.read_bytes() for path in layout.rglob("*") if path.is_file()}


def killed(folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.build.layout_killed", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_killed_anywhere_in_the_first_addition(tmp_path: Path) -> None:
    """Before its mark is there nobody takes the folder for a layout; from then on it opens."""
    (tmp_path / "by").mkdir()
    added(tmp_path / "whole", "new")
    steps = killed(tmp_path / "by")
    assert len(steps) > 30
    assert {"locked", "made folders", "temporary oci-layout", "renamed index.json", "synced"} <= set(steps)
    for number, step in enumerate(steps):
        layout = tmp_path / "by" / str(number)
        if (layout / "oci-layout").exists():
            assert_whole(layout)
        assert add(layout, addition("new"), lasting=False) is None, step
        assert files(layout) == files(tmp_path / "whole"), step


def test_killed_anywhere_in_a_later_addition(tmp_path: Path) -> None:
    before = tmp_path / "by" / "before"
    before.mkdir(parents=True)
    added(before, "old")
    steps = killed(tmp_path / "by")
    assert len(steps) > 20
    added(before, "new")
    for number, step in enumerate(steps):
        layout = tmp_path / "by" / str(number)
        assert_whole(layout)
        assert {"old", "old.provenance"} <= names(layout), step
        assert ("new" in names(layout)) == ("new.provenance" in names(layout)), step
        assert add(layout, addition("new"), lasting=False) is None, step
        assert files(layout) == files(before), step


def test_what_gets_a_name_is_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is synced before it is renamed, and its folder before anything names it."""
    happened: list[str] = []
    fsync = os.fsync

    def synced(descriptor: int) -> None:
        happened.append(f"sync {os.readlink(f'/proc/self/fd/{descriptor}').rpartition('/')[2]}")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", synced)
    assert add(tmp_path / "layout", addition("web"), step=happened.append) is None
    for place, what in enumerate(happened):
        if what.startswith("written "):
            assert happened[place - 1] == "sync .meshwright.new"
    assert happened[happened.index("blobs synced") - 1] == "sync sha256"
    assert happened[-2:] == ["sync layout", "synced"]
    happened.clear()
    assert add(tmp_path / "meanwhile", addition("web"), lasting=False, step=happened.append) is None
    assert not [what for what in happened if what.startswith("sync ")]


def test_what_is_there_is_not_written_again(tmp_path: Path) -> None:
    added(tmp_path / "layout", "web")
    before = {path: path.stat().st_ino for path in (tmp_path / "layout").rglob("*")}
    added(tmp_path / "layout", "web")
    assert {path: path.stat().st_ino for path in (tmp_path / "layout").rglob("*")} == before


@pytest.mark.parametrize("damage", [b"", b"the lay", b"THE LAYER of web", b"the layer of web, and more"])
def test_a_blob_that_is_not_what_it_is_called_is_replaced(tmp_path: Path, damage: bytes) -> None:
    what = added(tmp_path / "layout", "web")
    layer = what.pieces[1]
    place = blob_path(tmp_path / "layout", layer.descriptor.digest)
    place.write_bytes(damage)
    assert isinstance(read_blob(tmp_path / "layout", layer.descriptor.digest, LIMIT), Unread)
    added(tmp_path / "layout", "web")
    assert read_blob(tmp_path / "layout", layer.descriptor.digest, LIMIT) == layer.content
    assert_whole(tmp_path / "layout")


def test_a_link_instead_of_a_blob_is_replaced_and_not_followed(tmp_path: Path) -> None:
    what = added(tmp_path / "layout", "web")
    layer = what.pieces[1].descriptor
    place = blob_path(tmp_path / "layout", layer.digest)
    place.rename(tmp_path / "outside")
    place.symlink_to(tmp_path / "outside")
    assert isinstance(read_blob(tmp_path / "layout", layer.digest, LIMIT), Unread)
    added(tmp_path / "layout", "web")
    assert not place.is_symlink()


def test_several_at_once_lose_nothing(tmp_path: Path) -> None:
    """Each adds five; two of them add the same five."""
    script = (
        "import sys; from pathlib import Path; from mesh_adapters.build.layout import add\n"
        "from tests.integration.build.layout_killed import addition\n"
        "for number in range(5):\n"
        "    assert add(Path(sys.argv[1]), addition(f'{sys.argv[2]}-{number}'), lasting=False) is None\n"
    )
    running = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "layout"), who])
        for who in ("a", "b", "c", "c")
    ]
    assert [each.wait(60) for each in running] == [0] * 4
    wanted = {f"{who}-{number}{more}" for who in "abc" for number in range(5) for more in ("", ".provenance")}
    assert {name for name in names(tmp_path / "layout") if not name.startswith("sha256-")} == wanted
    assert len(entries(tmp_path / "layout")) == 45
    assert_whole(tmp_path / "layout")


def test_who_waits_too_long_says_so(tmp_path: Path) -> None:
    added(tmp_path / "layout", "web")
    before = files(tmp_path / "layout")
    with (tmp_path / "layout" / ".meshwright.lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        got = add(tmp_path / "layout", addition("new"), seconds=0.1)
    assert isinstance(got, NotWritten)
    assert "is being written by somebody else" in got.why
    assert files(tmp_path / "layout") == before
    added(tmp_path / "layout", "new")


def test_one_more_statement_stands_beside_the_others(tmp_path: Path) -> None:
    layout = tmp_path / "layout"
    what = added(layout, "web")
    subject, first = what.pieces[2].descriptor, what.pieces[3].descriptor
    content = b'{"said": "once more"}'
    second = described(MANIFEST, content)
    more = Addition(
        pieces=[Piece(descriptor=second, content=content)],
        named={"web.provenance": second},
        referring={subject.digest: second},
    )
    for _ in range(2):
        assert add(layout, more) is None
        tag = find(layout, referrers_tag(subject.digest))
        assert isinstance(tag, Descriptor)
        listed = read_blob(layout, tag.digest, LIMIT)
        assert isinstance(listed, bytes)
        assert [each.digest for each in manifests_of(listed) or ()] == [first.digest, second.digest]
    assert len(entries(layout)) == 4, "the name, the index, the new statement, and the old without its name"
    assert_whole(layout)


def test_what_had_a_name_stays_without_it(tmp_path: Path) -> None:
    layout = tmp_path / "layout"
    old = added(layout, "web").pieces[2].descriptor
    other = b'{"said": "another"}'
    new = described(MANIFEST, other)
    for _ in range(2):
        assert (
            add(layout, Addition(pieces=[Piece(descriptor=new, content=other)], named={"web": new})) is None
        )
    found = find(layout, "web")
    assert isinstance(found, Descriptor)
    assert found.digest == new.digest
    nameless = [entry for entry in entries(layout) if "annotations" not in entry]
    assert nameless == [old.data()]


def test_what_others_put_there_stays_as_it_is(tmp_path: Path) -> None:
    layout = tmp_path / "layout"
    added(layout, "web")
    data = json.loads((layout / "index.json").read_bytes())
    theirs = {
        **data["manifests"][0],
        "platform": {"os": "linux", "architecture": "arm64"},
        "annotations": {NAME: "theirs"},
    }
    data["manifests"].append(theirs)
    (layout / "index.json").write_text(json.dumps(data | {"annotations": {"whose": "theirs"}}))
    added(layout, "new")
    assert theirs in entries(layout)
    assert json.loads((layout / "index.json").read_bytes())["annotations"] == {"whose": "theirs"}


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"manifests": {}}', '{"manifests": [{"digest": "x"}]}'])
def test_a_damaged_index_is_left_as_it_is(tmp_path: Path, damage: str) -> None:
    layout = tmp_path / "layout"
    added(layout, "web")
    (layout / "index.json").write_text(damage)
    before = files(layout)
    assert add(layout, addition("new")) == NotWritten(
        why=f"{layout / 'index.json'} is damaged, so nothing was added to it"
    )
    assert files(layout) == before
    assert find(layout, "web") == Unread(why=f"{layout / 'index.json'} is damaged")


def test_a_folder_with_other_things_is_no_layout(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter").write_text("dear")
    got = add(tmp_path / "home", addition("web"))
    assert isinstance(got, NotWritten)
    assert "has other things in it: letter" in got.why
    assert {path.name for path in (tmp_path / "home").iterdir()} == {"letter", ".meshwright.lock"}
    (tmp_path / "file").touch()
    assert isinstance(add(tmp_path / "file", addition("web")), NotWritten)


def test_a_disk_that_is_not_mounted_is_not_written_below(tmp_path: Path) -> None:
    got = add(tmp_path / "disk" / "artifacts", addition("web"))
    assert got == NotWritten(
        why=f"{tmp_path / 'disk' / 'artifacts'} cannot be written: No such file or directory"
    )
    assert not (tmp_path / "disk").exists()


def test_bytes_that_are_not_what_was_said_are_not_taken(tmp_path: Path) -> None:
    said = described(LAYER, b"as it was")
    (tmp_path / "tar").write_bytes(b"as it is!")
    for content in (tmp_path / "tar", b"as it is!"):
        got = add(
            tmp_path / "layout", Addition(pieces=[Piece(descriptor=said, content=content)], named={"a": said})
        )
        assert isinstance(got, NotWritten)
        assert "is not what it was said to be" in got.why
    assert entries(tmp_path / "layout") == []
    assert not [*(tmp_path / "layout" / "blobs" / "sha256").iterdir()]


def test_a_full_disk_leaves_all_as_it_was(tmp_path: Path) -> None:
    """As far as a limit on a file's size is one: the error comes from writing, in the middle."""
    added(tmp_path / "layout", "web")
    before = files(tmp_path / "layout")
    big = b"x" * 100_000
    (tmp_path / "big").write_bytes(big)
    script = (
        "import resource, sys; from pathlib import Path\n"
        "from mesh_adapters.build.layout import Addition, add\n"
        "from mesh_adapters.build.oci import LAYER, described\n"
        "from mesh_adapters.build.registry_blobs import Piece\n"
        "big = described(LAYER, Path(sys.argv[2]).read_bytes())\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "piece = Piece(descriptor=big, content=Path(sys.argv[2]))\n"
        "print(add(Path(sys.argv[1]), Addition(pieces=[piece], named={'big': big})).why)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "layout"), str(tmp_path / "big")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "cannot be written: File too large" in done.stdout, done.stderr
    assert files(tmp_path / "layout") == before


def test_reading_a_blob(tmp_path: Path) -> None:
    layer = added(tmp_path / "layout", "web").pieces[1]
    digest, content = layer.descriptor.digest, layer.content
    assert isinstance(content, bytes)
    assert read_blob(tmp_path / "layout", digest, len(content)) == content
    short = read_blob(tmp_path / "layout", digest, len(content) - 1)
    assert isinstance(short, Unread)
    assert "is larger than 15 bytes" in short.why


@pytest.mark.parametrize("digest", ["", "sha256:../../index.json", "sha512:00", f"sha256:{'0' * 63}g"])
def test_what_is_no_digest_is_no_path(tmp_path: Path, digest: str) -> None:
    added(tmp_path / "layout", "web")
    got = read_blob(tmp_path / "layout", digest, LIMIT)
    assert isinstance(got, Unread)
    assert "is no digest" in got.why


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    assert find(tmp_path, "web") == Unread(why=f"{tmp_path} is no OCI layout")
    added(tmp_path / "layout", "web")
    assert find(tmp_path / "layout", "new") == Unread(
        why=f"{tmp_path / 'layout'} has nothing by the name 'new'"
    )
    digest = f"sha256:{sha256(b'nothing').hexdigest()}"
    got = read_blob(tmp_path / "layout", digest, LIMIT)
    assert isinstance(got, Unread)
    assert "No such file" in got.why
    os.mkfifo(blob_path(tmp_path / "layout", digest))
    got = read_blob(tmp_path / "layout", digest, LIMIT)
    assert isinstance(got, Unread)
    assert "it is no plain file" in got.why
