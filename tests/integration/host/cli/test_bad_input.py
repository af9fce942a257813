"""What is no declaration, or no root: told, with nothing changed, and never a traceback."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.integration.host.cli.program import declared, file, host, named, tree, well

GOOD = declared(1, file("/etc/motd"))


def changed(**more: object) -> bytes:
    return json.dumps(json.loads(GOOD) | more).encode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "standard input is refused, with 1 fault"),
        (b"{", "$"),
        (b"[]", "$"),
        (b"\x00\xff\xfe" * 100, "$"),
        (b"node = 'pi'\n", "$"),
        (b"[" * 100_000, "$"),
        (GOOD[:-2], "$"),
        (b" " * (8 * 1024 * 1024 + 1), "at most 8388608 are read"),
        (changed(node="nas"), "it was cut or changed on its way"),
        (changed(digest="0" * 64), "$.digest"),
        (changed(format=2), "$.format"),
        (changed(generation="1"), "$.generation"),
        (changed(extra=1), "$.extra"),
    ],
    ids=lambda value: repr(value[:20]),
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_what_is_no_declaration_is_malformed(root: Path, content: bytes, said: str, dry: list[str]) -> None:
    ran = host("apply", "-", "--root", root, *dry, stdin=content)
    assert ran.code == 1
    assert not ran.out
    assert said in ran.err
    told = host("apply", "-", "--root", root, "--json", *dry, stdin=content)
    assert told.error["code"] == "malformed"
    assert told.error["faults"]
    assert {path for path in tree(root) if not path.startswith("var")} == set()
    assert well("status", "--root", root, "--json").json["state"] == "never"


def test_a_file_that_cannot_be_read_is_told(root: Path, tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "not-there", tmp_path / "x" / "y", "/dev/null/x"):
        ran = host("apply", path, "--root", root, "--json")
        assert (ran.code, ran.error["code"]) == (1, "unreadable-file")
    assert host("apply", "", "--root", root).code == 64
    assert host("apply", "/dev/null", "--root", root, "--json").error["code"] == "malformed"
    assert tree(root) == {} or well("status", "--root", root, "--json").json["state"] == "never"


def test_a_root_that_is_no_directory_is_told(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("")
    for words in (["apply", "-"], ["apply", "-", "--dry-run"], ["status"], ["owned"], ["forget", "/a"]):
        ran = host(*words, "--root", path, "--json", stdin=GOOD)
        assert (ran.code, ran.error["code"]) == (1, "not-a-directory"), words
        assert host(*words, "--root", "", stdin=GOOD).code == 64
    assert path.read_text() == ""


def test_a_journal_that_cannot_be_made_is_told(root: Path) -> None:
    (root / "var").write_text("in the way")
    for words in (["apply", "-"], ["apply", "-", "--json"]):
        ran = host(*words, "--root", root, stdin=GOOD)
        assert ran.code == 5
        assert "mesh-host" in ran.err
    assert sorted(tree(root)) == ["var"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["appply", "-"],
        ["apply"],
        ["apply", "-", "-"],
        ["apply", "-", "--drl"],
        ["status", "x"],
        ["probe", "--root", "/"],
        ["forget"],
    ],
)
def test_wrong_usage_is_64(words: list[str]) -> None:
    ran = host(*words)
    assert ran.code == 64
    assert not ran.out
    assert "mesh-host" in ran.err


def test_names_that_a_terminal_would_act_on_are_shown(root: Path) -> None:
    ran = host("apply", "-", "--root", root, stdin=declared(1, named("x", "\x1b[31mred\u202e")))
    assert ran.code in (1, 4)
    assert "\x1b" not in ran.out + ran.err
    assert "\u202e" not in ran.out + ran.err


def test_a_full_disk_is_told(root: Path) -> None:
    if not os.access("/dev/full", os.W_OK):
        pytest.skip("there is no /dev/full")
    import subprocess
    import sys

    from tests.integration.cli.program import environment
    from tests.integration.host.cli.program import PROGRAM

    with Path("/dev/full").open("wb") as full:
        ran = subprocess.run(
            [sys.executable, "-c", PROGRAM, "status", "--root", str(root)],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=60,
            check=False,
        )
    assert ran.returncode == 1
    assert ran.stderr.decode() == "standard output cannot be written: No space left on device\n"
