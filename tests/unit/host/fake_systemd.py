"""A machine whose systemd is a few values: what `systemctl` and `journalctl` do to them and say of them."""

import json
from collections.abc import Callable
from pathlib import Path

from attrs import define, field

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.files import Files
from mesh_adapters.host.machine import Machine


def machine_with(run: Callable[[Command], Ended], root: Path = Path("/")) -> Machine:
    """A machine that runs commands so, and has no files to look at."""
    return Machine(root=root, files=Files(root), privileged=True, run=run, kept=lambda _: b"")


def ended(command: Command, code: int | None = 0, output: str = "", errors: str = "") -> Ended:
    return Ended(command=command, code=code, output=output, errors=errors)


@define
class FakeUnit:
    """A unit, and what becomes of it when it is started."""

    load: str = "loaded"
    file_state: str = "disabled"
    active: str = "inactive"
    sub: str = "dead"
    type: str = "simple"
    can_reload: bool = False
    outdated: bool = False
    started: Callable[["FakeUnit"], str] = lambda unit: ""
    words: list[tuple[str, str]] = field(factory=list)
    more: dict[str, str] = field(factory=dict)

    def shown(self, name: str) -> str:
        facts = {
            "Id": name,
            "LoadState": self.load,
            "LoadError": "" if self.load == "loaded" else f'x.y.NoSuchUnit "Unit {name} not found."',
            "UnitFileState": self.file_state,
            "ActiveState": self.active,
            "SubState": self.sub,
            "Type": self.type,
            "Result": "success",
            "CanReload": "yes" if self.can_reload else "no",
            "NeedDaemonReload": "yes" if self.outdated else "no",
            **self.more,
        }
        return "".join(f"{key}={value}\n" for key, value in facts.items())


@define
class FakeSystemd:
    """systemd with units by name; `calls` are the verbs that changed something, in order."""

    units: dict[str, FakeUnit] = field(factory=dict)
    calls: list[str] = field(factory=list)
    asked: int = 0

    def run(self, command: Command) -> Ended:
        program, *given = command.argv
        options, names = [word for word in given if word.startswith("-")], given
        names = given[given.index("--") + 1 :] if "--" in given else []
        verb = next(word for word in [*given, ""] if not word.startswith("-"))
        if program == "journalctl":
            return self._journal(command, options)
        if verb == "show":
            self.asked += 1
            shown = [self.units.get(name, FakeUnit(load="not-found", file_state="")) for name in names]
            return ended(command, output="\n".join(u.shown(n) for u, n in zip(shown, names, strict=True)))
        if verb == "reset-failed":
            return ended(command)
        self.calls.append(" ".join([verb, *names]))
        return self._change(command, verb, names)

    def _change(self, command: Command, verb: str, names: list[str]) -> Ended:
        if verb == "daemon-reload":
            for unit in self.units.values():
                unit.outdated = False
            return ended(command)
        unit = self.units[names[0]]
        if verb in ("enable", "disable"):
            unit.file_state = f"{verb}d"
        elif verb == "stop":
            unit.active, unit.sub = "inactive", "dead"
        else:
            if unit.type != "oneshot":
                unit.active, unit.sub = "active", "running"
            if errors := unit.started(unit):
                return ended(command, code=1, errors=errors)
        return ended(command)

    def _journal(self, command: Command, options: list[str]) -> Ended:
        names = [option.removeprefix("--unit=") for option in options if option.startswith("--unit=")]
        words = self.units[names[0]].words if names else []
        lines = [json.dumps({"MESSAGE": text, "_PID": pid}) for pid, text in words]
        return ended(command, output="\n".join(lines))

    @property
    def machine(self) -> Machine:
        return machine_with(self.run)
