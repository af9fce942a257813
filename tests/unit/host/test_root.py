"""`--root DIR`: where everything is put, however the directory is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from mesh_cli.exits import Exit, Stop
from mesh_cli.roots import root_of


@pytest.mark.parametrize("said", [None, "/", "//", "/./", "/tmp/.."])
def test_the_machine_itself(said: str | None) -> None:
    assert str(root_of(said)) == "/"


def test_a_directory_by_any_of_its_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "link").symlink_to("here")
    monkeypatch.chdir(tmp_path)
    real = (tmp_path / "here").resolve()
    for said in ("here", "here/", "./here", "link", f"/{tmp_path}/here", "not-there/../here"):
        assert root_of(said) == real
    assert root_of("not-there") == tmp_path.resolve() / "not-there"


def test_what_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Stop) as raised:
        root_of(str(tmp_path / "file"))
    assert (raised.value.exit_code, raised.value.code) == (Exit.FAILED, "not-a-directory")
    with pytest.raises(Stop) as raised:
        root_of("")
    assert raised.value.exit_code == Exit.USAGE
