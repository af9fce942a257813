"""Where there can be no lab; and what a machine has to be given of a host. These need no machine."""

from collections.abc import Callable
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


@pytest.mark.parametrize(
    ("asked", "program", "what"),
    [
        (availability.why_no_network, "nft", "the lab's network"),
        (availability.why_no_tunnels, "ping", "a tunnel between machines"),
        (availability.why_no_databases, "psql", "PostgreSQL in a machine"),
    ],
)
@pytest.mark.usefixtures("lab")
def test_what_some_machines_need_is_asked_only_for_those(
    asked: Callable[[], str | None], program: str, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: None if name == program else name)
    assert uncached(asked)() == f"{what} needs {program} on PATH (sh scripts/system_packages.sh)"
    assert availability.missing() is None


@pytest.mark.parametrize(
    "asked", [availability.why_no_network, availability.why_no_tunnels, availability.why_no_databases]
)
def test_where_there_can_be_no_machine_that_is_all_that_is_said(
    asked: Callable[[], str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("why_not", "why_no_network"):
        monkeypatch.setattr(availability, name, uncached(getattr(availability, name)))
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert uncached(asked)() == "the lab needs root"


@pytest.mark.usefixtures("lab")
def test_a_host_that_lets_no_network_be_made_is_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    none = ("unshare", "--net", "setpriv", "--bounding-set=-net_admin", "--inh-caps=-all")
    said = availability.tried("the lab's network", none, availability.PROBE_NETWORK)
    assert said is not None
    assert said.startswith("the lab's network is not allowed here: ")
    no_tunnel = ("unshare", "--mount", "setpriv", "--bounding-set=-mknod", "--inh-caps=-all")
    said = availability.tried("a tunnel", no_tunnel, availability.PROBE_TUNNEL)
    assert said is not None
    assert "mknod" in said


@pytest.mark.usefixtures("lab")
def test_a_host_without_postgresql_is_told_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name: name)
    monkeypatch.setattr(availability, "PSYCOPG2", Path("/no/psycopg2"))
    said = "no PostgreSQL with psycopg2 is installed (sh scripts/system_packages.sh)"
    assert uncached(availability.why_no_databases)() == said


def uncached(asked: Callable[[], str | None]) -> Callable[[], str | None]:
    """What it answers now, and not what it answered before."""
    function: Callable[[], str | None] = asked.__wrapped__  # type: ignore[attr-defined]
    return function
