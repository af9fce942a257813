"""Where there can be no lab; and what a machine has to be given of a host. These need no machine."""

from pathlib import Path

import pytest

from tests.integration.lab import availability, fixtures
from tests.integration.lab.binds import hidden, mount_points


def test_what_an_overlay_of_the_root_does_not_show() -> None:
    mounts = mount_points("29 1 8:1 / / rw - ext4 /dev/a rw\n30 29 8:2 / /opt/a\\040b rw - ext4 /dev/b rw\n")
    paths = [
        Path("/opt/a b/venv"),
        Path("/opt/a"),
        Path("/usr"),
        Path("/tmp/checkout"),
        Path("/tmp/checkout"),
    ]
    assert hidden(paths, mounts) == [Path("/opt/a b/venv"), Path("/tmp/checkout")]


def test_where_there_can_be_no_lab_a_test_is_skipped_and_in_ci_it_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fixtures, "why_not", lambda: "the lab needs root")
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"^the lab needs root$"):
        fixtures.need_lab()
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match=r"^the lab needs root; CI skips nothing$"):
        fixtures.need_lab()


def test_a_host_that_allows_none_of_it_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "UNSHARE", ("setpriv", "--bounding-set=-sys_admin", "--inh-caps=-all"))
    said = availability.refused()
    assert said is not None
    assert said.startswith("the lab is not allowed here: ")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("sys.platform", "darwin", "the lab needs Linux, and this is darwin"),
        ("os.geteuid", lambda: 1000, "the lab needs root"),
        ("shutil.which", lambda name: None if name == "unshare" else name, "the lab needs unshare on PATH"),
        (
            "os.path.ismount",
            lambda path: path == "/var",
            "the lab overlays /, and here /var is a mount of its own",
        ),
    ],
)
@pytest.mark.usefixtures("lab")
def test_what_is_missing_is_said_in_one_line(
    name: str, value: object, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name, value)
    assert availability.missing() == why


def test_a_host_without_systemd_is_told_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(availability, "SYSTEMD", Path("/no/systemd"))
    assert availability.missing() == (
        "the lab needs systemd, and there is no /no/systemd (sh scripts/system_packages.sh)"
    )
