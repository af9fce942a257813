"""The homelab's laptop, applied to a machine with real systemd, dpkg and files, and taken off again.

> removes what it owns and the declaration no longer names, **and nothing else**. What was there before it (a
> file's bytes, mode and owner; a package already installed; a service already enabled) is remembered and put
> back or left; what a person edited since is left and reported. (design, part 8)
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.host.homelab.laptop import (
    Control,
    apply,
    installed,
    invocation,
    repository,
    stat,
)
from tests.integration.lab.machine import LabMachine

REFUSED = 3
MOTD = b"Welcome to my laptop.\n"
TIMESYNCD = b"[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
I3 = {"i3-wm", "libi3-stand-in", "i3lock", "suckless-tools"}
XORG = {"xserver-xorg", "x11-xserver-utils", "xinit", "xterm"}
I3_FILES = ("/etc/xdg/i3/config", "/etc/X11/xorg.conf.d/30-touchpad.conf", "/etc/X11/Xresources/home-xterm")
SERVICES = ("systemd-timesyncd", "nftables", "prometheus-node-exporter", "postgresql", "restic.timer", "ssh")


@pytest.mark.long
def test_a_laptop_becomes_what_it_is_declared_to_be_and_gives_back_what_it_was_lent(
    machine: LabMachine, tmp_path: Path
) -> None:
    before = as_its_user_has_it(machine, tmp_path)
    control = Control(tmp_path)

    first = control.declaration()
    assert not troubles(apply(machine, first))
    everything_is_there(machine)
    assert actions(apply(machine, first)) == {}, "a second apply makes no change"

    a_service_restarts_where_its_configuration_changed_and_nowhere_else(machine, control, tmp_path)
    what_is_edited_by_hand_is_put_back(machine, control)

    # A package of the user's own, which needs one of ours.
    machine.run(["apt-get", "--quiet", "--yes", "install", "my-bar"])
    machine.write("/etc/X11/Xresources/home-xterm", b"mine now\n")
    control.mesh("unassign", "laptop", "i3")
    said = apply(machine, control.declaration(), code=REFUSED)
    assert said["error"]["code"] == "too-many-removals"
    assert "i3-wm" in installed(machine), "without the word for it, nothing is taken off"
    said = apply(machine, control.declaration("--allow-removals"))
    i3_and_its_display_server_are_gone(machine, before, said)

    control.mesh("unassign", "laptop", *assigned(control))
    said = apply(machine, control.declaration("--allow-removals"))
    it_is_as_it_was(machine, before)


def as_its_user_has_it(machine: LabMachine, folder: Path) -> set[str]:
    """A file, a package and a service that were there before the mesh; the packages that are."""
    repository(folder / "repository").install_into(machine)
    machine.write("/etc/motd", MOTD, mode=0o640)
    machine.run(["chown", "root:mail", "/etc/motd"])
    machine.run(["rm", "--force", "/etc/systemd/system/systemd-timesyncd.service"])
    machine.write("/etc/systemd/system/systemd-timesyncd.service", TIMESYNCD)
    machine.run(["apt-get", "--quiet", "--yes", "install", "xterm", "systemd-timesyncd"])
    machine.run(["systemctl", "daemon-reload"])
    machine.run(["systemctl", "enable", "--now", "systemd-timesyncd"])
    return installed(machine)


def everything_is_there(machine: LabMachine) -> None:
    assert installed(machine) >= I3 | XORG | {"i3status", "zsh", "zsh-common", "openssh-server"}
    assert stat(machine, "/etc/restic") == "700 root:root"
    assert stat(machine, "/etc/nftables.conf") == "755 root:root"
    assert stat(machine, "/etc/postgresql/15/main/pg_hba.conf") == "640 postgres:postgres"
    assert b"looked after by mesh" in machine.read("/etc/motd")
    # A template: who keeps the backups, and where.
    assert b"sftp:backup@nas.mesh:/srv/backup/%H" in machine.read("/etc/systemd/system/restic.service")
    for service in SERVICES:
        assert machine.run(["systemctl", "is-active", service]).stdout.strip() == "active", service
        assert machine.run(["systemctl", "is-enabled", service]).stdout.strip() == "enabled", service


def a_service_restarts_where_its_configuration_changed_and_nowhere_else(
    machine: LabMachine, control: Control, folder: Path
) -> None:
    """> restarted or reloaded when a file that it watches changed"""
    was = {service: invocation(machine, service) for service in SERVICES}
    manifest = control.mesh("module", "show", "node-exporter", "--json")
    changed = folder / "node-exporter.json"
    changed.write_text(changed_manifest(manifest))
    control.mesh("module", "add", str(changed))
    said = apply(machine, control.declaration())
    assert actions(said) == {
        "path:/etc/default/prometheus-node-exporter": "change",
        "service:prometheus-node-exporter": "refresh",
    }
    now = {service: invocation(machine, service) for service in SERVICES}
    assert {service for service in SERVICES if now[service] != was[service]} == {"prometheus-node-exporter"}


def what_is_edited_by_hand_is_put_back(machine: LabMachine, control: Control) -> None:
    declared = machine.read("/etc/xdg/i3/config")
    machine.write("/etc/xdg/i3/config", b"bindsym $mod+x exec oops\n", mode=0o600)
    said = apply(machine, control.declaration())
    assert actions(said) == {"path:/etc/xdg/i3/config": "put-back"}
    assert machine.read("/etc/xdg/i3/config") == declared
    assert stat(machine, "/etc/xdg/i3/config") == "644 root:root"


def i3_and_its_display_server_are_gone(machine: LabMachine, before: set[str], said: dict[str, Any]) -> None:
    left = installed(machine)
    assert not (I3 | XORG) & (left - before)
    assert {"my-bar", "i3status"} <= left, "the user's own package stays, and what it needs"
    assert "xterm" in left, "it was there before"
    assert outcomes(said)["package:i3status"] == "still-needed"
    assert machine.read("/etc/X11/Xresources/home-xterm") == b"mine now\n", "edited, and no longer declared"
    assert actions(said)["path:/etc/X11/Xresources/home-xterm"] == "leave"
    assert [stat(machine, path) for path in I3_FILES[:2]] == ["-", "-"]
    assert b"looked after by mesh" in machine.read("/etc/motd"), "everything else is as declared"


def it_is_as_it_was(machine: LabMachine, before: set[str]) -> None:
    """Byte for byte, but for what the user did meanwhile."""
    assert installed(machine) == before | {"my-bar", "i3status"}
    assert machine.read("/etc/motd") == MOTD
    assert stat(machine, "/etc/motd") == "640 root:mail"
    assert machine.read("/etc/systemd/system/systemd-timesyncd.service") == TIMESYNCD
    assert machine.run(["systemctl", "is-active", "systemd-timesyncd"]).stdout.strip() == "active"
    assert machine.run(["systemctl", "is-enabled", "systemd-timesyncd"]).stdout.strip() == "enabled"
    for gone in ("/etc/restic", "/etc/nftables.d", "/etc/xdg/i3", "/etc/systemd/system/restic.timer"):
        assert stat(machine, gone) == "-", gone


def assigned(control: Control) -> list[str]:
    shown = json.loads(control.mesh("node", "show", "laptop", "--json"))
    modules: list[str] = shown["node"]["assign"]
    return modules


def changed_manifest(shown: str) -> str:
    """The manifest of a module with other arguments for its daemon, and so of another version."""
    manifest = json.loads(shown)["module"]
    manifest["version"] += ".1"
    manifest["resources"][1]["content"] = 'ARGS="--collector.systemd --collector.processes"\n'
    return json.dumps(manifest)


def actions(said: dict[str, Any]) -> dict[str, str]:
    """What was done on the machine, or had to be said, by identity."""
    return {
        one["identity"]: one["action"] for one in said["actions"] if one["action"] not in ("adopt", "confirm")
    }


def outcomes(said: dict[str, Any]) -> dict[str, str]:
    return {one["identity"]: one["outcome"] for one in said["actions"]}


def troubles(said: dict[str, Any]) -> list[Any]:
    failed: list[Any] = [one for one in said["actions"] if one["outcome"] == "failed"]
    return [*failed, *said["troubles"], *(check for check in said["checks"] if not check["passed"])]
