"""The unit of the daemon: what systemd reads of it, with the program in its place."""

from __future__ import annotations

import shutil
import subprocess
from configparser import RawConfigParser
from pathlib import Path

import pytest

from mesh_adapters.broker.credential import Role
from mesh_adapters.build.unit import UNIT as OF_BUILDER
from mesh_adapters.host.unit import UNIT
from mesh_adapters.own_unit import OwnUnit

unit_text = UNIT.text


def read(text: str) -> RawConfigParser:
    parser = RawConfigParser(strict=True, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return parser


def test_it_runs_the_program_and_never_gives_up() -> None:
    unit = read(unit_text("/opt/mesh/bin/mesh-host"))
    assert unit["Service"]["ExecStart"] == "/opt/mesh/bin/mesh-host run"
    assert unit["Service"]["Type"] == "notify"
    assert unit["Service"]["Restart"] == "always"
    assert unit["Unit"]["StartLimitIntervalSec"] == "0"
    assert "network-online.target" in unit["Unit"]["After"]
    assert unit["Install"]["WantedBy"] == "multi-user.target"


def test_a_builders_unit_leaves_it_what_shutting_builds_in_needs() -> None:
    unit = read(OF_BUILDER.text("/opt/mesh/bin/mesh-builder"))
    service = unit["Service"]
    assert service["ExecStart"] == "/opt/mesh/bin/mesh-builder run"
    assert (service["Type"], service["StateDirectory"]) == ("notify", "mesh-builder")
    assert service["KillMode"] == "mixed", "the builder alone is asked, and ends what it started"
    breaking = ("RestrictNamespaces", "PrivateDevices", "ProtectKernelTunables", "ProtectControlGroups")
    assert not [name for name in breaking if name in service]
    assert unit["Unit"]["ConditionPathExists"] == f"/{Role.BUILDER.place}"


def test_what_it_started_through_systemd_and_what_is_in_hand_are_let_be() -> None:
    service = read(unit_text("/usr/bin/mesh-host"))["Service"]
    assert service["KillMode"] == "mixed"
    assert service["WatchdogSec"] == "10min", "the lock of a package manager is waited for five"
    assert service["TimeoutStopSec"] == "10min"


@pytest.mark.parametrize(
    ("program", "read_as"),
    [
        ("/opt/my mesh/mesh-host", '"/opt/my mesh/mesh-host" run'),
        ("/opt/100%/mesh-host", '"/opt/100%%/mesh-host" run'),
        ('/opt/"a"\\b/mesh-host', '"/opt/\\"a\\"\\\\b/mesh-host" run'),
        ("/opt/it's/mesh-host", '"/opt/it\'s/mesh-host" run'),
    ],
)
def test_a_path_is_quoted_as_systemd_reads_it(program: str, read_as: str) -> None:
    assert read(unit_text(program))["Service"]["ExecStart"] == read_as


@pytest.mark.parametrize("program", ["mesh-host", "", "/opt/a\nExecStartPre=/bin/x"])
def test_what_is_no_path_is_refused(program: str) -> None:
    with pytest.raises(ValueError, match="not the whole path"):
        unit_text(program)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
@pytest.mark.parametrize("own", [UNIT, OF_BUILDER])
def test_systemd_has_nothing_against_it(tmp_path: Path, own: OwnUnit) -> None:
    place = tmp_path / own.name
    place.write_text(own.text("/bin/true"))
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(place)], capture_output=True, text=True, check=False
    )
    said = [line for line in ran.stderr.splitlines() if own.name in line]
    assert said == []
