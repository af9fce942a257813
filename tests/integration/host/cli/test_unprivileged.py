"""Without root: the machine itself is not changed, and a root of one's own is, without owners."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.integration.cli.program import Ran
from tests.integration.host.cli.program import JOURNAL, declared, file, process, well

NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
NO_OWNERS = "you are not root: what is made is yours, and no owner or group is given\n"


def unprivileged(*arguments: object, stdin: bytes = b"") -> Ran:
    """Run `mesh-host` as somebody without privileges."""
    if os.geteuid() != 0:
        return process(*arguments, stdin=stdin)
    if shutil.which("setpriv") is None:
        pytest.skip("there is no setpriv")
    reached = Path(sys.prefix).stat().st_mode & 0o005
    if not reached:
        pytest.skip("nobody else may run this Python")
    return process(*arguments, stdin=stdin, before=AS_NOBODY)


def test_the_machine_itself_needs_root() -> None:
    ran = unprivileged("apply", "-", stdin=declared(1, file("/etc/mesh-host-test-is-never-made")))
    assert ran.code == 1
    assert ran.err.splitlines() == [
        "this machine can be changed by root only, and you are not root",
        "  sudo mesh-host apply -     or, for trying: mesh-host apply --root DIR -",
    ]
    assert not Path("/etc/mesh-host-test-is-never-made").exists()


def test_under_a_root_of_ones_own_it_works_and_says_once_that_no_owner_is_given(open_folder: Path) -> None:
    root = open_folder / "machine"
    stdin = declared(1, file("/etc/motd", owner="root", mode="0640"), file("/etc/b", owner="daemon"))
    ran = unprivileged("apply", "-", "--root", root, stdin=stdin)
    assert (ran.code, ran.err) == (0, NO_OWNERS)
    assert ran.out.endswith("2 made\n")
    made = (root / "etc/motd").stat()
    assert made.st_mode & 0o777 == 0o640
    assert made.st_uid == (NOBODY if os.geteuid() == 0 else os.geteuid())
    again = unprivileged("apply", "-", "--root", root, stdin=stdin)
    assert again.out == "nothing to do: everything is as generation 1 says\n"
    assert unprivileged("status", "--root", root).code == 0
    ran = unprivileged("apply", "-", "--root", root, stdin=declared(2, empty=True))
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "3 removed")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes what somebody else may not read")
def test_a_journal_and_a_file_that_may_not_be_read_are_told(open_folder: Path) -> None:
    root = open_folder / "machine"
    root.mkdir()
    root.chmod(0o755)
    well("apply", "-", "--root", root, stdin=declared(1, file("/etc/motd")))
    assert (root / JOURNAL).stat().st_mode & 0o777 == 0o700
    stdin = declared(2, file("/etc/motd"))
    for words in (
        ["status"],
        ["owned"],
        ["apply", "-"],
        ["apply", "-", "--dry-run"],
        ["forget", "/etc/motd"],
    ):
        ran = unprivileged(*words, "--root", root, stdin=stdin)
        assert ran.code == 5, words
        assert "Permission denied" in ran.err
        assert "forget --everything" not in ran.err, "it is not damaged"
    ran = unprivileged("forget", "--everything", "--root", root)
    assert ran.code == 5
    assert "Permission denied" in ran.err
    secret = open_folder / "secret.json"
    secret.write_bytes(stdin)
    secret.chmod(0o600)
    ran = unprivileged("apply", secret, "--root", open_folder / "other")
    assert ran.code == 1
    assert f"{secret} cannot be read: Permission denied\n" in ran.err
