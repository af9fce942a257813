"""The systemd unit that runs a program of meshwright, put there and taken off by the program itself.

Nothing of this is in a host's journal: what a program raised for itself is never given back as a
declaration's is.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Final

from attrs import frozen

from mesh_adapters.host import systemd
from mesh_adapters.host.files import sync_directory
from mesh_adapters.host.kind import Failed
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.whole import write_whole

RUNNING_SYSTEMD: Final = Path("/run/systemd/system")
"""There where systemd is what this machine was started with (sd_booted(3))."""
UNITS: Final = Path("/etc/systemd/system")


def has_systemd() -> bool:
    """Whether systemd runs this machine."""
    return RUNNING_SYSTEMD.is_dir()


@frozen(kw_only=True)
class OwnUnit:
    """A unit: what it is called, and the package that has its text in a folder `units`."""

    name: str
    package: str

    @property
    def place(self) -> Path:
        """Where it is on the machine."""
        return UNITS / self.name

    def text(self, program: str) -> str:
        """The unit that runs the program at this whole path. Raises `ValueError` for another."""
        if not program.startswith("/") or not program.isprintable():
            raise ValueError(f"{program!r} is not the whole path of a program")
        text = (files(self.package) / "units" / self.name).read_text("utf-8")
        return text.replace("@PROGRAM@", _quoted(program))

    def is_there(self) -> bool:
        """Whether the unit is there."""
        return self.place.is_file()

    def put(self, program: str, machine: Machine, *, start: bool) -> Failed | None:
        """Write the unit, and have systemd run the program now and from each boot on. Raises `OSError`."""
        try:
            text = self.text(program)
        except ValueError as error:
            return Failed(why=str(error))
        write_whole(self.place, text.encode(), 0o644)
        failed = systemd.reread(machine)
        if failed is not None or not start:
            return failed
        # Not only started: where it runs already, it has another credential from now on.
        return systemd.change(machine, "enable", self.name) or systemd.bring_up(
            self.name, "restart", machine, systemd.SETTLED
        )

    def take_off(self, machine: Machine) -> Failed | None:
        """Stop the unit and take it away. Raises `OSError`."""
        failed = systemd.change(machine, "stop", self.name) or systemd.change(machine, "disable", self.name)
        if failed is not None:
            return failed
        self.place.unlink()
        sync_directory(self.place.parent)
        return systemd.reread(machine)


def _quoted(program: str) -> str:
    """A path as systemd reads it in a command line: what it would replace, or split at, is escaped."""
    escaped = program.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return escaped if escaped == program and " " not in program and "'" not in program else f'"{escaped}"'
