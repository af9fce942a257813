"""Can the lab run here? It needs root, Linux with overlay and cgroup2, systemd and apt."""

import functools
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

SYSTEMD = Path("/lib/systemd/systemd")
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


@functools.cache
def why_not() -> str | None:
    """One line that says why the lab cannot run here; None where it can."""
    return missing() or refused()


def missing() -> str | None:
    if sys.platform != "linux":
        return f"the lab needs Linux, and this is {sys.platform}"
    if os.geteuid() != 0:
        return "the lab needs root"
    if not SYSTEMD.exists():
        return f"the lab needs systemd, and there is no {SYSTEMD} (sh scripts/system_packages.sh)"
    lacking = [name for name in PROGRAMS if shutil.which(name) is None]
    if lacking:
        return f"the lab needs {', '.join(lacking)} on PATH"
    apart = [path for path in IN_THE_ROOT if os.path.ismount(path)]
    if apart:
        return f"the lab overlays /, and here {apart[0]} is a mount of its own"
    return None


def refused() -> str | None:
    """Do what a machine does first, in namespaces that end with it, and quote what is not allowed."""
    with tempfile.TemporaryDirectory(prefix="meshwright-lab-probe-") as folder:
        done = subprocess.run(
            [*UNSHARE, "sh", "-c", PROBE, "sh", folder, str(os.getpid())],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    if done.returncode == 0:
        return None
    said = done.stderr.strip().splitlines() or [f"exit {done.returncode}"]
    return f"the lab is not allowed here: {said[0].removeprefix('sh: ')}"
