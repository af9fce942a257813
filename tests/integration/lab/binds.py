"""What of the host has to be bound into a machine, for the project's programs to run in it.

A machine's root is an overlay of the host's `/`. That shows neither what lies on other mounts of the
host, nor what lies in folders that the machine has of its own.
"""

import re
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
OWN = [Path("/dev"), Path("/proc"), Path("/run"), Path("/sys"), Path("/tmp")]
"""Folders that every machine has for itself."""


def needed() -> list[Path]:
    """The checkout, its environment and the Python that made that, as far as `/` does not show them."""
    found = [CHECKOUT, Path(sys.prefix), Path(sys.base_prefix), Path(sys.executable).resolve().parent]
    return hidden(found, mount_points(Path("/proc/self/mountinfo").read_text()))


def hidden(paths: list[Path], mounts: list[Path]) -> list[Path]:
    """Those of `paths` that an overlay of `/` does not show, outermost first and each once."""
    return sorted({path for path in paths if not shown(path, mounts)})


def shown(path: Path, mounts: list[Path]) -> bool:
    others = [place for place in mounts if place != Path("/")]
    return not any(path.is_relative_to(place) for place in others + OWN)


def mount_points(mountinfo: str) -> list[Path]:
    """The mount points in a /proc/PID/mountinfo, which has a space as a backslash and its octal number."""
    fields = [line.split(" ")[4] for line in mountinfo.splitlines()]
    return [Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), field)) for field in fields]
