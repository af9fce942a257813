"""Four machines with real systemd, WireGuard and PostgreSQL: docs/network.md, followed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

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


@pytest.mark.long
def test_from_nothing_to_four_machines(four: Four) -> None:
    """One story, told by the page; each of its parts stands on the one before."""
    the_control_plane_is_made(four)
    for node in NAMES:
        join(four, node)
    what_pi_takes_from_is_pushed_and_then_pi(four)
    everything_that_the_example_says_is_running(four)
    the_page_is_served_from_the_database_on_another_machine(four)
    what_crosses_the_internet_can_be_read_by_nobody(four)
    moving_the_pin_moves_the_connection(four)
    a_machine_that_was_away_ends_at_the_newest(four)
    a_push_that_cuts_a_machine_off_is_undone_by_it(four)


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


def what_crosses_the_internet_can_be_read_by_nobody(four: Four) -> None:
    """> the captured traffic between two machines shows no plaintext of theirs"""
    vps, attic = "203.0.113.10", "203.0.113.20"
    ask = ["curl", "--silent", "--max-time", "20"]
    with four.network.capture(vps, attic, "203.0.113.3") as seen:
        page = four["vps"].run([*ask, "http://pi.mesh:8080/"]).stdout
        metrics = four["attic"].run([*ask, "http://vps.mesh:9100/metrics"]).stdout
        # Seen it would be: this goes beside the tunnel.
        beside = f"printf besides >/dev/udp/{vps}/9"
        four["attic"].run(["bash", "-c", beside])
        until(lambda: b"besides" in seen.pcap, "what goes beside the tunnel is seen", 10)
    assert (TELLTALE in page, "node_uname_info" in metrics) == (True, True)
    for telltale in (TELLTALE, "node_uname_info", "Kept at"):
        assert telltale.encode() not in seen.pcap, telltale


def moving_the_pin_moves_the_connection(four: Four) -> None:
    """> moving the pin to a second database moves the connection after a push"""
    follow = four.follow
    follow.mesh("mesh assign attic postgres")
    follow.mesh("mesh push --wait")
    assert f"Kept at {four.addresses()['nas']}." in four.page(), "nothing moves before somebody says so"
    a_role_and_a_database(four, "attic")
    follow.mesh("mesh pin pi database attic")
    follow.mesh("mesh push --wait")
    page = four.page()
    assert f"Kept at {four.addresses()['attic']}." in page
    assert TELLTALE not in page, "it is another database"


def a_machine_that_was_away_ends_at_the_newest(four: Four) -> None:
    """> a machine taken away and brought back three generations later ends at the newest"""
    before = four.states()["nas"]["wants"]
    four.network.cut(four["nas"])
    for words in ("one", "two", "three"):
        ok("module", "add", "-", stdin=json.dumps(motd(words)))
        assert mesh("push").code == 0
    four.network.mend(four["nas"])
    state = until(lambda: applied(four, "nas"), "it has applied the newest")
    assert state["has"] == before + 3
    assert four["nas"].read("/etc/motd") == b"three\n"


def motd(words: str) -> dict[str, Any]:
    """Another manifest of what every machine has."""
    resources = [{"kind": "file", "path": "/etc/motd", "content": f"{words}\n"}]
    return {"name": "motd", "version": f"1.0-{words}", "resources": resources}


def applied(four: Four, node: str) -> dict[str, Any] | None:
    """How it stands with a node that has applied what it was sent last."""
    state = four.states()[node]
    return state if state["state"] == "applied" and state["has"] == state["wants"] else None


def a_push_that_cuts_a_machine_off_is_undone_by_it(four: Four) -> None:
    """> a push that would cut a machine off the network is undone by that machine

    The new range has the broker's own address in it, so what `pi` sends there goes into the tunnel.
    """
    address = four.addresses()["pi"]
    ok("network", "move", "203.0.113.0/29", "--yes")
    assert four.addresses()["pi"].startswith("203.0.113.")
    mesh("push", "pi")
    state = until(lambda: undone(four, "pi"), "it has undone it, and said so")
    assert state["state"] == "failed"
    shown = four["pi"].run(["ip", "-brief", "address", "show", "mesh0"]).stdout
    assert f"{address}/24" in shown
    ok("network", "move", "10.77.0.0/24", "--yes")
    assert mesh("push", "--wait").code == 0
    assert f"Kept at {four.addresses()['attic']}." in four.page()


def undone(four: Four, node: str) -> dict[str, Any] | None:
    state = four.states()[node]
    return state if "was undone" in " ".join(state["why"]) else None
