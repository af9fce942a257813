"""Can the lab run here? It needs root, Linux with overlay and cgroup2, systemd and apt; some of it more."""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

SYSTEMD = Path("/lib/systemd/systemd")
POSTGRES = Path("/usr/lib/postgresql")
PSYCOPG2 = Path("/usr/lib/python3/dist-packages/psycopg2")
PROGRAMS = (
    "unshare",
    "nsenter",
    "setpriv",
    "pivot_root",
    "mount",
    "umount",
    "hostname",
    "systemctl",
    "journalctl",
    "dpkg-deb",
    "apt-get",
)

OF_NETWORK = ("ip", "nft")
OF_TUNNELS = ("wireguard-go", "wg", "ping")
OF_DATABASES = ("psql", "pg_createcluster", "make-ssl-cert", "runuser")

IN_THE_ROOT = ("/etc", "/usr", "/var", "/var/lib", "/var/lib/dpkg", "/var/log")
"""A machine has these from an overlay of the host's `/`, so they must not be mounts of their own."""

UNSHARE = (
    "unshare",
    "--mount",
    "--propagation=private",
    "--uts",
    "--ipc",
    "--net",
    "--pid",
    "--cgroup",
    "--fork",
)

PROBE = """
set -e
cd "$1"
mount -t tmpfs lab .
cd "$1"
mkdir upper work root
mount -t overlay lab -o lowerdir=/,upperdir=upper,workdir=work root
mount -t proc proc root/proc
mount -t sysfs sysfs root/sys
mount -t cgroup2 lab root/sys/fs/cgroup
mkdir "root/sys/fs/cgroup/lab-probe-$2"
rmdir "root/sys/fs/cgroup/lab-probe-$2"
"""

PROBE_NETWORK = """
set -e
ip link add lan type bridge
ip link add one type veth peer name other
nft -f - <<END
table inet router {
    chain leaving {
        type nat hook postrouting priority srcnat; policy accept;
        ct state established,related accept
        masquerade
    }
}
table bridge blocked {
    chain coming {
        type filter hook prerouting priority 0; policy accept;
    }
}
END
"""

# What a machine has as /dev/net/tun, whether the host has that file or not.
PROBE_TUNNEL = """
set -e
mount -t tmpfs lab "$1"
mknod "$1/tun" c 10 200
: <>"$1/tun"
"""


@functools.cache
def why_not() -> str | None:
    """One line that says why the lab cannot run here; None where it can."""
    return missing() or refused()


@functools.cache
def why_no_network() -> str | None:
    """The same for machines that have a network (`LabNetwork`)."""
    return (
        why_not()
        or uninstalled("the lab's network", OF_NETWORK)
        or tried("the lab's network", ("unshare", "--net"), PROBE_NETWORK)
    )


@functools.cache
def why_no_tunnels() -> str | None:
    """The same for machines that are joined by WireGuard."""
    return (
        why_no_network()
        or uninstalled("a tunnel between machines", OF_TUNNELS)
        or tried("a tunnel between machines", ("unshare", "--mount"), PROBE_TUNNEL)
    )


@functools.cache
def why_no_databases() -> str | None:
    """The same for machines that run PostgreSQL."""
    why = why_not() or uninstalled("PostgreSQL in a machine", OF_DATABASES)
    if why is None and not (any(POSTGRES.glob("*/bin/postgres")) and PSYCOPG2.exists()):
        return "no PostgreSQL with psycopg2 is installed (sh scripts/system_packages.sh)"
    return why


def missing() -> str | None:
    if sys.platform != "linux":
        return f"the lab needs Linux, and this is {sys.platform}"
    if os.geteuid() != 0:
        return "the lab needs root"
    if not SYSTEMD.exists():
        return f"the lab needs systemd, and there is no {SYSTEMD} (sh scripts/system_packages.sh)"
    without = lacking("the lab", PROGRAMS)
    if without is not None:
        return without
    apart = [path for path in IN_THE_ROOT if os.path.ismount(path)]
    if apart:
        return f"the lab overlays /, and here {apart[0]} is a mount of its own"
    return None


def lacking(what: str, programs: Sequence[str]) -> str | None:
    without = [name for name in programs if shutil.which(name) is None]
    return f"{what} needs {', '.join(without)} on PATH" if without else None


def uninstalled(what: str, programs: Sequence[str]) -> str | None:
    """The same of those that not every Debian has."""
    without = lacking(what, programs)
    return without and f"{without} (sh scripts/system_packages.sh)"


def refused() -> str | None:
    """Do what a machine does first, in namespaces that end with it, and quote what is not allowed."""
    return tried("the lab", UNSHARE, PROBE)


def tried(what: str, unshare: Sequence[str], probe: str) -> str | None:
    """Do it where nothing is left of it; what was said if it is not allowed here."""
    with tempfile.TemporaryDirectory(prefix="meshwright-lab-probe-") as folder:
        done = subprocess.run(
            [*unshare, "sh", "-c", probe, "sh", folder, str(os.getpid())],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
    return f"{what} is not allowed here: {said[0].removeprefix('sh: ')}"
