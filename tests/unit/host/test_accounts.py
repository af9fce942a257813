"""Users and groups are looked up once for each stretch of work: what a package made is known after it."""

from __future__ import annotations

import os
import pwd
from pathlib import Path
from types import SimpleNamespace

import pytest

from mesh_adapters.host.accounts import Accounts
from mesh_adapters.host.files import Files


def test_a_user_that_came_meanwhile_is_known_once_everything_has_settled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "f").write_text("")
    files, known = Files(tmp_path), dict[int, str]()

    def look_up(uid: int) -> SimpleNamespace:
        return SimpleNamespace(pw_name=known[uid])

    monkeypatch.setattr(pwd, "getpwuid", look_up)
    number = str(os.stat(tmp_path / "f").st_uid)
    assert _owner(files) == number, "nobody is called so"
    known[int(number)] = "the-packages-own"
    files.settle()
    assert _owner(files) == "the-packages-own"


def _owner(files: Files) -> str | None:
    found = files.look("/f")
    return None if found is None else found.owner


def test_many_files_of_one_user_ask_the_system_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def look_up(name: str) -> SimpleNamespace:
        asked.append(name)
        return SimpleNamespace(pw_uid=os.geteuid())

    monkeypatch.setattr(pwd, "getpwnam", look_up)
    files = Files(tmp_path)
    for number in range(3):
        files.write_soon(f"/{number}", b"", mode="0600", owner="somebody", group=None)
    assert files.settle() == {}
    assert asked == ["somebody"]


@pytest.mark.parametrize(("owner", "group"), [("nobody-of-that-name", None), (None, "no-group-of-that-name")])
def test_who_is_not_there_is_named(owner: str | None, group: str | None) -> None:
    with pytest.raises(OSError, match=owner or group):
        Accounts().numbers(owner, group)


def test_a_number_needs_nobody_of_that_name() -> None:
    assert Accounts().numbers("4242", "4343") == (4242, 4343)
    assert Accounts().numbers(None, None) == (-1, -1)
