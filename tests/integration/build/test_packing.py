"""A tar is the same bytes for another process, user, umask, locale, time zone, place and order of files."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mesh_adapters.build.packing import MOST_PATH, Packed, pack
from tests.unit.build.test_packing import AT, GOLDEN, tree

PACK = """
import _strptime, os, sys  # the first is imported when a time is first read
from pathlib import Path
from mesh_adapters.build.packing import pack
os.umask(int(sys.argv[4], 8))
if sys.argv[5] != "0":
    os.setgroups([])
    os.setgid(int(sys.argv[5]))
    os.setuid(int(sys.argv[5]))
print(pack(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]).digest)
"""
NOBODY = 65534
ROOT = os.geteuid() == 0


def digest_elsewhere(
    folder: Path, into: Path, *, umask: str, user: int = 0, environment: dict[str, str]
) -> str:
    """The digest as another process finds it."""
    done = subprocess.run(
        [sys.executable, "-c", PACK, str(folder), str(into), AT, umask, str(user)],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.getcwd(), **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("umask", "environment"),
    [
        ("0077", {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}),
        ("0000", {"TZ": "America/St_Johns", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "7"}),
    ],
)
def test_another_process_gives_the_same(tmp_path: Path, umask: str, environment: dict[str, str]) -> None:
    folder = tree(tmp_path / "tree")
    assert digest_elsewhere(folder, tmp_path / "tar", umask=umask, environment=environment) == GOLDEN


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that others may look into: those of pytest are closed to them."""
    with tempfile.TemporaryDirectory(prefix="meshwright-packing-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(not ROOT, reason="only root can be somebody else")
def test_another_user_gives_the_same(open_folder: Path) -> None:
    """The files belong to somebody, and somebody else packs them."""
    folder = tree(open_folder / "tree")
    for path in [folder, *folder.rglob("*")]:
        os.chown(path, 1234, 4321)
        path.chmod(path.stat().st_mode | 0o044)
    shared = open_folder / "shared"
    shared.mkdir()
    os.chown(shared, NOBODY, NOBODY)
    got = digest_elsewhere(folder, shared / "tar", umask="0022", user=NOBODY, environment={})
    assert got == GOLDEN
    assert (shared / "tar").stat().st_uid == NOBODY


def test_another_umask_at_the_making_gives_the_same(tmp_path: Path) -> None:
    """As a checkout would leave it: the executable bit is the owner's, the rest is the umask's."""
    before = os.umask(0o077)
    try:
        folder = tree(tmp_path / "tree")
    finally:
        os.umask(before)
    (folder / "bin" / "run").chmod(0o700)
    assert digest(folder, tmp_path / "tar") == GOLDEN


def test_another_order_and_another_day_give_the_same(tmp_path: Path) -> None:
    first = tree(tmp_path / "tree")
    for seed in range(5):
        folder = tmp_path / f"again-{seed}"
        copy_shuffled(first, folder, random.Random(seed))
        assert digest(folder, tmp_path / f"{seed}.tar") == GOLDEN


def copy_shuffled(first: Path, folder: Path, dice: random.Random) -> None:
    paths = [path.relative_to(first) for path in first.rglob("*")]
    dice.shuffle(paths)
    folder.mkdir()
    for path in paths:
        if (first / path).is_dir():
            (folder / path).mkdir(parents=True, exist_ok=True)
        else:
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(first / path, folder / path)
        os.utime(folder / path, ns=(dice.randrange(10**18), dice.randrange(10**18)))


def digest(folder: Path, into: Path) -> str:
    got = pack(folder, into, AT)
    assert isinstance(got, Packed), got
    return got.digest


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "more").write_bytes(b"n" * 513),
        lambda folder: (folder / "bin" / "run").chmod(0o644),
        lambda folder: (folder / "empty").rmdir(),
        lambda folder: (folder / "nothing").rename(folder / "Nothing"),
        lambda folder: (folder / "one-more").touch(),
    ],
)
def test_another_tree_gives_another(tmp_path: Path, change: object) -> None:
    folder = tree(tmp_path / "tree")
    assert callable(change)
    change(folder)
    assert digest(folder, tmp_path / "tar") != GOLDEN


def test_another_commit_time_gives_another(tmp_path: Path) -> None:
    got = pack(tree(tmp_path / "tree"), tmp_path / "tar", "2026-12-01T22:20:03Z")
    assert isinstance(got, Packed)
    assert got.digest != GOLDEN


@pytest.mark.skipif(shutil.which("tar") is None, reason="no tar is installed")
def test_gnu_tar_unpacks_what_was_packed(tmp_path: Path) -> None:
    folder = tree(tmp_path / "tree")
    (folder / ("d" * 200) / ("e" * 200)).mkdir(parents=True)
    (folder / ("d" * 200) / ("e" * 200) / "ä").write_text("long and no ASCII")
    assert len("d" * 200) * 2 < MOST_PATH
    digest(folder, tmp_path / "tar")
    (tmp_path / "out").mkdir()
    done = subprocess.run(
        ["tar", "--extract", "--file", str(tmp_path / "tar"), "--directory", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert seen(tmp_path / "out") == seen(folder)
    assert (tmp_path / "out" / "bin" / "run").stat().st_mtime == 1796163602


def seen(folder: Path) -> dict[str, tuple[bool, bytes | None]]:
    """What is in a folder: whether it can be run, and its bytes."""
    return {
        str(path.relative_to(folder)): (
            bool(path.stat().st_mode & 0o100),
            None if path.is_dir() else path.read_bytes(),
        )
        for path in folder.rglob("*")
    }
