"""The systemd unit of the host's daemon."""

from __future__ import annotations

from importlib.resources import files

NAME = "mesh-host.service"


def unit_text(program: str) -> str:
    """The unit that runs the program `mesh-host` at this whole path. Raises `ValueError` for another."""
    if not program.startswith("/") or not program.isprintable():
        raise ValueError(f"{program!r} is not the whole path of a program")
    text = (files("mesh_adapters.host") / "units" / NAME).read_text("utf-8")
    return text.replace("@PROGRAM@", _quoted(program))


def _quoted(program: str) -> str:
    """A path as systemd reads it in a command line: what it would replace, or split at, is escaped."""
    escaped = program.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return escaped if escaped == program and " " not in program and "'" not in program else f'"{escaped}"'
