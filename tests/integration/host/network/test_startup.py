"""A question to a machine that is in a network imports no more than the same question to any other."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mesh_core.model.network import DeclaredNetwork
from tests.integration.cli.program import environment
from tests.integration.host.cli.program import declared, file, well
from tests.unit.host.fake_wireguard import FakeWireGuard

HEAVY = {"networkx", "kombu", "sqlite_utils", "jinja2", "plumbum", "rich", "platformdirs", "hypothesis"}

# The machine under the root counts as the one that this runs on, and its `ip` and `wg` say what they said.
LISTING = """
import json, sys
from mesh_adapters.host import commands, machine
machine.Machine.running = property(lambda self: True)
answers = json.loads(sys.argv.pop(1))
asked = []
def run(command):
    asked.append(command.argv[0])
    return commands.Ended(command=command, code=0, output=answers[command.argv[0]], errors="")
plain = machine.machine_at
machine.machine_at = lambda root, **more: plain(root, **{**more, "run": run})
from mesh_cli.host.main import run as main
code = main(sys.argv[1:])
print(json.dumps([code, asked, sorted(sys.modules)]), file=sys.stderr)
"""


@pytest.fixture
def fake(tmp_path: Path) -> FakeWireGuard:
    """A machine in a network, to which something was applied."""
    fake = FakeWireGuard(tmp_path)
    well("apply", "-", "--root", tmp_path, stdin=declared(1, file("/etc/motd")))
    from mesh_adapters.host.overlay.keeping import Keeping

    network = DeclaredNetwork(address="10.77.0.1", range="10.77.0.0/24")
    kept = Keeping(fake.machine).declared(
        network, 1, hosts_elsewhere=False, reached_before=None, reached_again=None
    )
    assert not kept.failed
    return fake


def asked(fake: FakeWireGuard, *arguments: str) -> tuple[Any, list[str], set[str]]:
    """What a command says, the programs that it ran, and what it has imported in the end."""
    assert fake.link is not None
    answers = json.dumps({"ip": fake._shown(fake.link), "wg": fake._dump(fake.link)})
    ran = subprocess.run(
        [sys.executable, "-c", LISTING, answers, *arguments, "--root", str(fake.root)],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    code, programs, modules = json.loads(ran.stderr.splitlines()[-1])
    assert code == 0, ran.stderr
    return json.loads(ran.stdout), programs, set(modules)


def test_status_looks_with_two_programs_and_imports_nothing_heavy(fake: FakeWireGuard) -> None:
    said, programs, modules = asked(fake, "status", "--json")
    assert (said["network"]["address"], said["network"]["up"]) == ("10.77.0.1", True)
    assert programs == ["ip", "wg"]
    assert not modules & HEAVY
    assert not {name for name in modules if name.startswith("mesh_adapters.host.kinds")}
    assert "mesh_adapters.host.applying" not in modules


def test_what_the_mesh_has_here_is_none_of_the_network(fake: FakeWireGuard) -> None:
    _, programs, modules = asked(fake, "owned", "--json")
    assert programs == []
    assert not {name for name in modules if name.startswith("mesh_adapters.host.overlay")}
