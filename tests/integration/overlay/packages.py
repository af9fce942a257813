"""The tiny packages that stand for Debian's on four machines of the homelab.

Real are those that the network and the database are made of: wireguard-tools, wireguard-go, nftables,
PostgreSQL, and what the web application talks to it with. What is in the others is only what the example
talks to.
"""

from __future__ import annotations

from pathlib import Path

from tests.integration.host.homelab.laptop import daemon, plain
from tests.integration.lab.aptrepo import AptRepository, Package

TIMER = """[Unit]
Description=Stands for {name}
[Timer]
OnCalendar=daily
[Install]
WantedBy=timers.target
"""


def timed(name: str, timer: str) -> Package:
    """A package with a timer, and what it starts."""
    unit = "[Service]\nType=oneshot\nExecStart=/bin/true\n"
    folder = "/lib/systemd/system"
    return plain(
        name, files={f"{folder}/{timer}.timer": TIMER.format(name=name), f"{folder}/{timer}.service": unit}
    )


PACKAGES = (
    *(plain(name) for name in ("ca-certificates", "unattended-upgrades", "openssh-client", "restic", "zsh")),
    daemon("systemd-timesyncd", "systemd-timesyncd"),
    daemon("openssh-server", "ssh", 22),
    daemon("prometheus-node-exporter", "prometheus-node-exporter", 9100, host="0.0.0.0"),
    daemon("smartmontools", "smartmontools"),
    timed("prometheus-node-exporter-collectors", "prometheus-node-exporter-smartmon"),
    daemon("dnsmasq", "dnsmasq", 53),
    daemon("samba", "smbd", 445),
    daemon("nullmailer", "nullmailer"),
    daemon("caddy", "caddy", 2019),
    daemon("postfix", "postfix", 25),
    daemon("prometheus", "prometheus", 9090),
)


def repository(folder: Path) -> AptRepository:
    """Every package that the four are told to have, and that is not there already."""
    return AptRepository(folder, *PACKAGES)
