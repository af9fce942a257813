"""Four machines with real systemd, WireGuard and PostgreSQL: docs/network.md, followed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.broker.conftest import session_server as session_server
from tests.integration.broker.server import RabbitServer
from tests.integration.cli.program import ROOT, mesh, ok
from tests.integration.joining.conftest import a_plane
from tests.integration.lab.fixtures import databases as databases
from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import tunnels as tunnels
from tests.integration.overlay.four import NAMES, Four, four_machines, join, services, until

TELLTALE = "https://example.org/first"


@pytest.fixture
def four(
    lab: None,
    databases: None,
    tunnels: None,
    session_server: RabbitServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Four]:
    """Four machines that have not joined, and a control plane that has done what the page says first."""
    (tmp_path / "home").mkdir()
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MESH_BROKER_CREDENTIAL", str(tmp_path / "broker.json"))
    monkeypatch.chdir(tmp_path)
    a_plane(session_server, tmp_path, monkeypatch)
    with four_machines(session_server, tmp_path) as made:
        yield made


def test_from_nothing_to_four_machines(four: Four) -> None:
    """One story, told by the page; each of its parts stands on the one before."""
    the_control_plane_is_made(four)
    for node in NAMES:
        join(four, node)
    what_pi_takes_from_is_pushed_and_then_pi(four)
    everything_that_the_example_says_is_running(four)
    the_page_is_served_from_the_database_on_another_machine(four)


def the_control_plane_is_made(four: Four) -> None:
    follow = four.follow
    follow.mesh("mesh init")
    follow.mesh("mesh broker setup --admin admin.json")
    follow.mesh("mesh import examples/homelab/mesh.toml --anyway")
    follow.mesh("mesh assign vps postfix")
    follow.mesh("mesh node remove laptop --yes")
    follow.mesh("mesh network attach vps --endpoint 203.0.113.10 --relay")
    follow.mesh("mesh network attach attic --endpoint 203.0.113.20 --site ''")
    follow.mesh("mesh network attach nas --lan 192.168.1.2 --site home")
    follow.mesh("mesh network attach pi --site garden --no-endpoint")
    shown = follow.mesh("mesh network show")
    assert "nobody" not in shown.out


def a_role_and_a_database(four: Four, node: str) -> None:
    create = """runuser -u postgres -- psql -c "CREATE ROLE links LOGIN PASSWORD 'a password'\""""
    four.follow.on(four[node], create)
    four.follow.on(four[node], "runuser -u postgres -- createdb --owner links links")


def what_pi_takes_from_is_pushed_and_then_pi(four: Four) -> None:
    follow = four.follow
    follow.mesh("mesh push nas vps attic --wait")
    a_role_and_a_database(four, "nas")
    follow.on(four["pi"], "install -d -m 0700 /etc/links")
    follow.on(four["pi"], "echo 'a password' >/etc/links/database-password")
    follow.mesh("mesh push --wait")
    follow.mesh("mesh network show")
    follow.mesh("mesh status")


def everything_that_the_example_says_is_running(four: Four) -> None:
    for node, state in four.states().items():
        assert (state["state"], state["wants"]) == ("applied", state["has"]), (node, state)
    for node in NAMES:
        for service in services(node):
            shown = four[node].run(["systemctl", "is-active", service], check=False).stdout.strip()
            assert shown == "active", f"{service} on {node}"


def the_page_is_served_from_the_database_on_another_machine(four: Four) -> None:
    """> serves a row that it just read from PostgreSQL on another machine, reached through the overlay under
    > the address that its template was given, and names the server it came from
    """
    nas = four.addresses()["nas"]
    assert f"PGHOST={nas} " in four["pi"].read("/etc/systemd/system/links.service").decode()
    follow = four.follow
    follow.on(four["pi"], f"curl -d url={TELLTALE} http://127.0.0.1:8080/")
    page = four.page()
    assert TELLTALE in page
    assert f"Kept at {nas}." in page
    select = ["runuser", "-u", "postgres", "--", "psql", "-Atc", "SELECT url FROM link", "links"]
    assert four["nas"].run(select).stdout.strip() == TELLTALE
