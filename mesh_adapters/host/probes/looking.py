"""Small pieces of probes: text of the kernel's files, sizes, programs."""

from __future__ import annotations

import os
import re
from pathlib import Path

from mesh_adapters.host.commands import PATH, command
from mesh_adapters.host.machine import Machine

_SECONDS = 5.0


def text(place: Path) -> str | None:
    """What stands in a small file, trimmed; None where it cannot be read."""
    try:
        return place.read_text("utf-8", "replace").strip()
    except OSError:
        return None


def entries(place: Path) -> list[Path]:
    """What is in a directory, by name; nothing where it cannot be read."""
    try:
        return sorted(place.iterdir())
    except OSError:
        return []


def program(name: str, machine: Machine) -> Path | None:
    """Where a program is on the machine's own path; None where it is not."""
    for folder in PATH.split(":"):
        place = machine.root / folder.lstrip("/") / name
        if place.is_file() and os.access(place, os.X_OK):
            return place
    return None


def version(name: str, machine: Machine) -> str | None:
    """The first thing like a version that `name --version` says; None where it does not run."""
    ended = machine.run(command(name, "--version", seconds=_SECONDS))
    found = re.search(r"\d+(\.\d+)*", ended.output) if ended.well else None
    return found.group() if found else None


def size(count: int) -> str:
    """A number of bytes, to three digits: `7.7 GiB`."""
    amount, unit = float(count), "bytes"
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1000 or unit == "TiB":
            break
        amount /= 1024
    return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:.0f} {unit}"
