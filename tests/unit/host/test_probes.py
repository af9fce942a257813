"""The probes that ship: what each finds on a machine that has it, and on one that has nothing."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probe import Probe, probe_all
from mesh_adapters.host.probes.architecture import Architecture
from mesh_adapters.host.probes.audio import Audio
from mesh_adapters.host.probes.containers import Containers
from mesh_adapters.host.probes.disk import Disk
from mesh_adapters.host.probes.display import Display
from mesh_adapters.host.probes.distribution import Distribution
from mesh_adapters.host.probes.gpu import Gpu
from mesh_adapters.host.probes.kvm import Kvm
from mesh_adapters.host.probes.looking import size
from mesh_adapters.host.probes.memory import Memory
from mesh_adapters.host.probes.packages import Packages
from mesh_adapters.host.probes.stated import Stated
from mesh_adapters.host.probes.systemd import Systemd
from mesh_adapters.host.probes.tunnel import Tunnel
from tests.unit.host.machines import answering, machine_in, put


def found(probe: Probe, machine: Machine) -> dict[str, tuple[bool, str | None]]:
    return {one.name: (one.present, one.detail) for one in probe.look(machine)}


ABSENT: list[tuple[Probe, dict[str, str]]] = [
    (Audio(), {"audio": "no sound card plays"}),
    (Containers(), {"containers": "there is no podman", "podman": "there is no podman"}),
    (Display(), {"display": "there is nothing to connect one to"}),
    (Distribution(), {"distribution": "there is no os-release"}),
    (Gpu(), {"gpu": "no /dev/dri"}),
    (Kvm(), {"kvm": "no /dev/kvm"}),
    (Memory(), {"memory": "/proc/meminfo does not say"}),
    (
        Packages(),
        {
            "packages:apt": "there is no apt-get",
            "packages:dnf": "there is no dnf",
            "packages:pacman": "there is no pacman",
        },
    ),
    (Systemd(), {"systemd": "it is not installed"}),
    (Tunnel(), {"tunnel": "no WireGuard or tun device"}),
]


@pytest.mark.parametrize(("probe", "said"), ABSENT, ids=lambda one: type(one).__name__)
def test_on_a_machine_that_has_nothing_everything_is_absent(
    tmp_path: Path, probe: Probe, said: dict[str, str]
) -> None:
    assert found(probe, machine_in(tmp_path)) == {name: (False, why) for name, why in said.items()}
    assert set(probe.reports) == set(said), "what it reports where it fails is what it reports else"


def test_architecture(tmp_path: Path) -> None:
    assert found(Architecture(), machine_in(tmp_path)) == {f"arch:{platform.machine()}": (True, None)}


def test_audio_is_a_card_that_plays(tmp_path: Path) -> None:
    put(tmp_path, "proc/asound/card0/id", "Mic\n")
    put(tmp_path, "proc/asound/card0/pcm0c/info")
    put(tmp_path, "proc/asound/version")
    assert found(Audio(), machine_in(tmp_path)) == {"audio": (False, "no sound card plays")}
    put(tmp_path, "proc/asound/card1/id", "Headphones\n")
    put(tmp_path, "proc/asound/card1/pcm0p/info")
    assert found(Audio(), machine_in(tmp_path)) == {"audio": (True, "Headphones")}


def test_containers_are_podmans(tmp_path: Path) -> None:
    put(tmp_path, "usr/bin/podman", executable=True)
    says = machine_in(tmp_path, answering({"podman": "podman version 4.3.1\n"}))
    assert found(Containers(), says) == {"podman": (True, "4.3.1"), "containers": (True, "podman 4.3.1")}
    mute = machine_in(tmp_path)
    assert found(Containers(), mute)["containers"] == (False, "podman does not run")


def test_disk(tmp_path: Path) -> None:
    (said,) = found(Disk(), machine_in(tmp_path)).items()
    name, (present, detail) = said
    assert (name, present) == ("disk", True)
    assert (detail or "").endswith(" free")


def test_display_is_what_is_connected(tmp_path: Path) -> None:
    put(tmp_path, "sys/class/drm/card0-HDMI-A-1/status", "disconnected\n")
    assert found(Display(), machine_in(tmp_path)) == {"display": (False, "nothing is connected")}
    put(tmp_path, "sys/class/drm/card0-eDP-1/status", "connected\n")
    put(tmp_path, "sys/class/drm/card0-eDP-1/modes", "1920x1080\n1280x720\n")
    assert found(Display(), machine_in(tmp_path)) == {"display": (True, "eDP-1 1920x1080")}


def test_distribution(tmp_path: Path) -> None:
    put(tmp_path, "usr/lib/os-release", "# a comment\nNAME='Void'\nID=void\n")
    assert found(Distribution(), machine_in(tmp_path)) == {"distribution:void": (True, None)}
    put(tmp_path, "etc/os-release", 'PRETTY_NAME="Debian"\nID=debian\nVERSION_ID="12"\n')
    assert found(Distribution(), machine_in(tmp_path)) == {"distribution:debian": (True, "12")}
    put(tmp_path, "etc/os-release", "NAME=x\n")
    assert found(Distribution(), machine_in(tmp_path)) == {"distribution": (False, "os-release has no ID")}


def test_gpu_is_what_renders(tmp_path: Path) -> None:
    put(tmp_path, "dev/dri/card0")
    assert found(Gpu(), machine_in(tmp_path)) == {"gpu": (False, "nothing in /dev/dri renders")}
    put(tmp_path, "dev/dri/renderD128")
    assert found(Gpu(), machine_in(tmp_path)) == {"gpu": (True, "/dev/dri/renderD128")}
    (tmp_path / "sys/bus/drivers/amdgpu").mkdir(parents=True)
    device = tmp_path / "sys/class/drm/renderD128/device"
    device.mkdir(parents=True)
    (device / "driver").symlink_to("../../../../bus/drivers/amdgpu")
    assert found(Gpu(), machine_in(tmp_path)) == {"gpu": (True, "amdgpu, /dev/dri/renderD128")}


def test_kvm(tmp_path: Path) -> None:
    place = put(tmp_path, "dev/kvm")
    assert found(Kvm(), machine_in(tmp_path)) == {"kvm": (True, "/dev/kvm")}
    place.unlink()
    place.mkdir()
    assert found(Kvm(), machine_in(tmp_path)) == {"kvm": (False, "/dev/kvm: Is a directory")}


def test_memory(tmp_path: Path) -> None:
    put(tmp_path, "proc/meminfo", "MemTotal:        8053764 kB\nMemFree:          100 kB\n")
    assert found(Memory(), machine_in(tmp_path)) == {"memory": (True, "7.68 GiB")}


@pytest.mark.parametrize(
    ("programs", "present"),
    [
        (["apt-get", "dpkg"], {"packages:apt"}),
        (["apt-get"], set()),
        (["dnf", "rpm", "pacman"], {"packages:dnf", "packages:pacman"}),
    ],
)
def test_package_managers(tmp_path: Path, programs: list[str], present: set[str]) -> None:
    for name in programs:
        put(tmp_path, f"usr/bin/{name}", executable=True)
    put(tmp_path, "bin/dnf-not-this", executable=True)
    said = found(Packages(), machine_in(tmp_path))
    assert {name for name, (there, _) in said.items() if there} == present


def test_a_program_that_may_not_be_run_is_none(tmp_path: Path) -> None:
    put(tmp_path, "usr/bin/pacman")
    assert found(Packages(), machine_in(tmp_path))["packages:pacman"] == (False, "there is no pacman")


def test_systemd_is_what_started_the_machine(tmp_path: Path) -> None:
    put(tmp_path, "usr/bin/systemctl", executable=True)
    says = machine_in(tmp_path, answering({"systemctl": "systemd 252 (252.39-1~deb12u1)\n+PAM\n"}))
    why = "it is installed, and something else started this machine"
    assert found(Systemd(), says) == {"systemd": (False, why)}
    (tmp_path / "run/systemd/system").mkdir(parents=True)
    assert found(Systemd(), says) == {"systemd": (True, "252")}


def test_what_its_owner_states_of_a_machine_is_reported_as_it_is_written(tmp_path: Path) -> None:
    assert found(Stated(), machine_in(tmp_path)) == {}
    said = '{"smtp-out": true, "smart": {"present": false, "detail": "SD card"}}'
    put(tmp_path, "etc/mesh-host/capabilities.json", said)
    assert found(Stated(), machine_in(tmp_path)) == {"smtp-out": (True, None), "smart": (False, "SD card")}


@pytest.mark.parametrize("unfit", ["", "[]", '{"SMTP": true}', '{"smart": 1}'])
def test_what_is_stated_and_cannot_be_read_takes_no_other_probe_down(tmp_path: Path, unfit: str) -> None:
    put(tmp_path, "etc/mesh-host/capabilities.json", unfit)
    put(tmp_path, "sys/class/net/tun0/tun_flags", "0x1\n")
    put(tmp_path, "sys/class/net/tun0/uevent", "INTERFACE=tun0\n")
    machine = machine_in(tmp_path)
    both = {one.name: one for one in probe_all([("stated", Stated()), ("tunnel", Tunnel())], machine)}
    assert (both["stated"].present, both["tunnel"].present) == (False, True)
    assert (both["stated"].detail or "").startswith("the probe failed: ")


def test_tunnel(tmp_path: Path) -> None:
    put(tmp_path, "sys/class/net/eth0/uevent", "INTERFACE=eth0\n")
    put(tmp_path, "sys/class/net/wg0/uevent", "DEVTYPE=wireguard\nINTERFACE=wg0\n")
    put(tmp_path, "sys/class/net/tun0/uevent", "INTERFACE=tun0\n")
    put(tmp_path, "sys/class/net/tun0/tun_flags", "0x1\n")
    assert found(Tunnel(), machine_in(tmp_path)) == {"tunnel": (True, "tun0, wg0")}


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "0.977 KiB"),
        (1024**3, "1 GiB"),
        (16 * 1024**3, "16 GiB"),
        (1500 * 1024**4, "1500 TiB"),
    ],
)
def test_sizes(count: int, said: str) -> None:
    assert size(count) == said


@pytest.mark.skipif(os.geteuid() != 0, reason="root may open everything, which is what is asked")
def test_nothing_is_changed_by_looking(tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for probe, _ in ABSENT:
        found(probe, machine_in(tmp_path))
    assert sorted(tmp_path.rglob("*")) == before
