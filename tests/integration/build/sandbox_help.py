"""What the tests of building share: a source, a machine that can shut in, and who is still alive."""

import os
import secrets
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from mesh_adapters.build.container import Buildah, find_images
from mesh_adapters.build.sandbox import Bubblewrap, find_sandbox
from mesh_adapters.build.sandbox_attend import Watch
from mesh_adapters.build.sandbox_place import Place, copy_source, prepare

AT = "2026-12-01T22:20:02Z"

# Ignores what can be ignored, in a session of its own, orphaned twice; the last word of its command line
# is a mark. It holds the output open.
STUBBORN = """trap '' TERM HUP INT QUIT; (setsid nohup sh -c '
trap "" TERM HUP INT QUIT; touch begun
(sh -c "trap \\"\\" TERM HUP INT; while :; do sleep 0.2; done" {mark} &)
while :; do sleep 0.2; done' {mark} &) """


def skip_or_fail(why: str) -> None:
    """CI skips nothing."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"{why}; CI skips nothing", pytrace=False)
    pytest.skip(why)


def bubblewrap() -> Bubblewrap:
    """The machine's own, else the test is skipped."""
    found = find_sandbox()
    if not isinstance(found, Bubblewrap):
        skip_or_fail(found.why)
        raise AssertionError
    return found


def buildah() -> Buildah:
    """The machine's own, else the test is skipped."""
    found = find_images(allowed=True)
    if not isinstance(found, Buildah):
        skip_or_fail(found.why)
        raise AssertionError
    return found


def source(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """A folder with files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def placed(tmp_path: Path, files: Mapping[str, str | bytes] | None = None) -> Place:
    """A prepared place with a copy of a source."""
    name = secrets.token_hex(4)
    place = prepare(tmp_path / f"place-{name}")
    copy_source(source(tmp_path / f"source-{name}", files or {"a.txt": "a"}), place, AT, Watch())
    return place


def mark() -> str:
    """A word that is on no other command line."""
    return f"mark-{secrets.token_hex(8)}"


def marked(mark: str) -> list[int]:
    """The processes of this machine whose command line ends in a mark, in whatever namespace they are."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
            except OSError:
                continue
            if words[-1] == mark.encode():
                found.append(int(entry.name))
    return found


def gone(mark: str, seconds: float) -> bool:
    """Whether nothing with a mark lives, now or until then."""
    until = time.monotonic() + seconds
    while marked(mark) and time.monotonic() < until:
        time.sleep(0.05)
    return not marked(mark)
