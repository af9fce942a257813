"""The homelab's laptop as a machine of the lab, and the tiny packages that stand for Debian's there.

The mesh is the example's own, with its own resources. A package has the name of Debian's; what is in it is
only what the example talks to: a unit that listens where a check asks, a user, the directories it expects.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.integration.lab.aptrepo import AptRepository, Package
from tests.integration.lab.machine import LabMachine

EXAMPLE = Path(__file__).parents[4] / "examples" / "homelab"
PROGRAMS = Path(sys.executable).parent

LISTEN = """#!{python}
import http.server, sys

class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"node_uname_info 1\\n")

    def log_message(self, *_):
        pass

http.server.ThreadingHTTPServer((sys.argv[2], int(sys.argv[1])), Answer).serve_forever()
"""

UNIT = """[Unit]
Description=Stands for {name}
[Service]
{service}
[Install]
WantedBy=multi-user.target
"""


# Above Debian's own, of which this machine may have one that does not bear an older neighbour.
VERSION = "99:1"


def plain(name: str, **more: Any) -> Package:
    """A package with nothing in it that matters."""
    return Package(name=name, version=VERSION, **more)


def daemon(name: str, unit: str, port: int | None = None, *, host: str = "127.0.0.1", **more: Any) -> Package:
    """A package with a service that runs, and that listens where a check will ask."""
    program = f"/usr/lib/{name}/listen"
    command = "/bin/sleep infinity" if port is None else f"{program} {port} {host}"
    service = f"ExecStart={command}\nExecReload=/bin/true"
    files = {
        f"/lib/systemd/system/{unit}.service": UNIT.format(name=name, service=service),
        program: LISTEN.format(python=sys.executable),
        **more.pop("files", {}),
    }
    return plain(name, files=files, **more)


POSTGRES_USER = """
if ! getent passwd postgres >/dev/null; then
    groupadd --system postgres
    useradd --system --gid postgres --no-create-home postgres
fi
chown -R postgres:postgres /etc/postgresql
"""

PACKAGES = (
    *(
        plain(name)
        for name in (
            *(
                "ca-certificates",
                "unattended-upgrades",
                "openssh-client",
                "restic",
                "i3lock",
                "suckless-tools",
            ),
            *("xserver-xorg", "x11-xserver-utils", "xinit", "xterm", "fonts-dejavu-core"),
        )
    ),
    plain("i3-wm", depends="libi3-stand-in"),
    plain("libi3-stand-in"),
    plain("i3status"),
    plain("zsh", depends="zsh-common"),
    plain("zsh-common"),
    plain("my-bar", depends="i3status"),
    daemon("systemd-timesyncd", "systemd-timesyncd"),
    daemon("nftables", "nftables"),
    daemon("prometheus-node-exporter", "prometheus-node-exporter", 9100),
    daemon("openssh-server", "ssh", 22),
    daemon(
        "postgresql-15",
        "postgresql",
        5432,
        files={
            "/etc/postgresql/15/main/pg_hba.conf": "# Debian's\n",
            "/etc/postgresql/15/main/conf.d/.keep": "",
        },
        conffiles=("/etc/postgresql/15/main/pg_hba.conf",),
        scripts={"postinst": POSTGRES_USER},
    ),
)


def repository(folder: Path) -> AptRepository:
    """Every package that the laptop is told to have, and one that its user installs."""
    return AptRepository(folder, *PACKAGES)


class Control:
    """The control plane beside the machine: a store of its own, with the homelab in it."""

    def __init__(self, folder: Path) -> None:
        self._store = folder / "mesh.db"
        self.generation = 0
        self.mesh("init")
        self.mesh("import", str(EXAMPLE / "mesh.toml"), "--anyway")
        # With mpv comes what mounts the NAS when it is asked for; a machine of the lab has no autofs.
        self.mesh("unassign", "laptop", "mpv")

    def mesh(self, *arguments: str) -> str:
        """Run `mesh`, and give what it prints."""
        done = subprocess.run(
            [PROGRAMS / "mesh", *arguments, "--store", str(self._store)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def declaration(self, *options: str) -> bytes:
        """The next declaration of the laptop, as a push would send it."""
        self.generation += 1
        said = self.mesh("declare", "laptop", "--json", "--generation", str(self.generation), *options)
        return said.encode()


def apply(machine: LabMachine, declaration: bytes, *, code: int = 0) -> dict[str, Any]:
    """Hand a declaration to the machine's host program; what it says, as data."""
    machine.write("/root/declaration.json", declaration)
    done = machine.run(
        [str(PROGRAMS / "mesh-host"), "apply", "/root/declaration.json", "--json"], check=False, timeout=300
    )
    assert done.returncode == code, done.stdout + done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def installed(machine: LabMachine) -> set[str]:
    """The packages that dpkg has installed there."""
    shown = machine.run(["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\\n"])
    rows = [line.split() for line in shown.stdout.splitlines()]
    return {row[0] for row in rows if row[1:] == ["installed"]}


def invocation(machine: LabMachine, unit: str) -> str:
    """What changes whenever a unit is started."""
    return machine.run(["systemctl", "show", "--property", "InvocationID,ActiveState", unit]).stdout


def stat(machine: LabMachine, path: str) -> str:
    """`644 root:root` of a path, or `-` where nothing is."""
    shown = machine.run(["stat", "--format", "%a %U:%G", path], check=False)
    return shown.stdout.strip() or "-"
