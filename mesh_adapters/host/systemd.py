"""systemd: the calls of `systemctl` and `journalctl` as values, and what they say of a unit.

Under a root that is not `/` only whether a unit is enabled can be said and changed (`systemctl --root`).
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from mesh_adapters.host.commands import Ended, command
from mesh_adapters.host.kind import Failed, Unobservable
from mesh_adapters.host.machine import Machine

START_SECONDS = 120.0
"""For starting, restarting, reloading and stopping: more than the 90 s that systemd itself waits."""
ASK_SECONDS = 30.0
SETTLED = 3.0
"""Seconds for which a unit has to be active after its start, to count as started."""
RECENT = 10.0
"""Seconds after a restart by itself in which a unit may well be restarting over and over."""
LAST_LINES = 5
"""Lines of its journal that a failing unit is reported with."""

_PROPERTIES = (
    "Id,LoadState,LoadError,UnitFileState,ActiveState,SubState,Type,RemainAfterExit,Result,NRestarts,"
    "ActiveEnterTimestampMonotonic,ConditionTimestampMonotonic,ConditionResult,WantedBy,RequiredBy,"
    "CanReload,NeedDaemonReload"
)
UNIT_NAME = "the name of a unit: letters, digits and : _ . @ \\ -"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9:_.@\\-]{0,200}")
_UP = frozenset({"active", "reloading", "refreshing"})
_DOWN = frozenset({"inactive", "failed"})
_FIXED = frozenset({"static", "generated", "transient", "alias", "indirect"})
_SUFFIXES = (".service", ".socket", ".timer", ".path", ".mount", ".automount", ".swap", ".target", ".slice")


@frozen(kw_only=True)
class Unit:
    """A unit as systemd sees it. `since` is when it became active, by the machine's monotonic clock.

    `tried` is whether it was started since the machine was, as far as systemd remembers; `awaited` whether
    systemd does remember: it forgets a unit that ended and that no other one wants.
    """

    name: str
    load: str
    load_error: str = ""
    file_state: str = ""
    active: str = "inactive"
    sub: str = "dead"
    type: str = ""
    result: str = ""
    remains: bool = False
    restarts: int = 0
    since: float = 0.0
    tried: bool = False
    skipped: bool = False
    awaited: bool = False
    reloadable: bool = False
    outdated: bool = False

    @property
    def loaded(self) -> bool:
        """Whether it can be started at all: it is there, it can be read, and it is not masked."""
        return self.load == "loaded"

    @property
    def down(self) -> bool:
        """Whether nothing of it runs."""
        return self.active in _DOWN

    @property
    def fixed(self) -> bool:
        """Whether it can be neither enabled nor disabled: nothing in it says what would want it."""
        return self.file_state in _FIXED

    @property
    def enabled(self) -> bool:
        """Whether it is started when the machine is.

        A unit that can be neither enabled nor disabled counts as enabled: whatever starts it does so
        already, and nothing is left to be done. One that is enabled until the next boot does not.
        """
        return self.file_state == "enabled" or self.fixed

    def runs(self, now: float) -> bool:
        """Whether it does its work, `now` by the monotonic clock.

        One that restarted by itself has to be active for a while. A oneshot has done its work when it ended
        well: with `RemainAfterExit` systemd calls it active; else it is inactive, as one is that was never
        started - which systemd can tell apart only where something wants it, and where it cannot, it counts
        as done: it would be run again and again otherwise.
        """
        if self.active in _UP:
            return self.restarts == 0 or now - self.since >= RECENT
        if self.type != "oneshot":
            return False
        if self.active == "activating":
            return self.sub != "auto-restart"
        return self.ended_oneshot and (self.tried or not self.awaited)

    @property
    def ended_oneshot(self) -> bool:
        """Whether it is a oneshot at rest that is not called active once it ended well."""
        return self.type == "oneshot" and self.active == "inactive" and not self.remains


def is_unit_name(name: str) -> bool:
    """Whether this may name a unit; systemd would take other characters for patterns, or escape them."""
    return _NAME.fullmatch(name) is not None


def unit_name(name: str) -> str:
    """The unit that a name means: a service, where it does not say otherwise."""
    return name if name.endswith(_SUFFIXES) else f"{name}.service"


def look_at(names: Sequence[str], machine: Machine) -> Mapping[str, Unit] | Unobservable:
    """Every unit of these, by its name as it was asked for, in one call."""
    if not names:
        return {}
    if not machine.running:
        return _look_in_image(names, machine)
    ended = _systemctl(machine, "show", f"--property={_PROPERTIES}", "--", *names)
    blocks = [block for block in ended.output.split("\n\n") if block.strip()]
    if not ended.well or len(blocks) != len(names):
        return Unobservable(why=f"systemctl: {_words(ended)}")
    return {name: _unit(name, block) for name, block in zip(names, blocks, strict=True)}


def look_at_one(name: str, machine: Machine) -> Unit | Unobservable:
    """One unit."""
    units = look_at([name], machine)
    return units if isinstance(units, Unobservable) else units[name]


def look_afresh(name: str, machine: Machine) -> Unit | Unobservable:
    """One unit, after systemd was told to read its changed files."""
    unit = look_at_one(name, machine)
    if isinstance(unit, Unobservable) or not unit.outdated:
        return unit
    failed = reread(machine)
    return Unobservable(why=failed.why) if failed is not None else look_at_one(name, machine)


def reread(machine: Machine) -> Failed | None:
    """Have systemd read the files of units again; under a root there is none that would."""
    return change(machine, "daemon-reload") if machine.running else None


def change(machine: Machine, verb: str, *names: str) -> Failed | None:
    """Enable, disable, stop and the like, with systemctl's words where it refuses."""
    ended = _systemctl(machine, verb, "--", *names, seconds=START_SECONDS)
    return None if ended.well else Failed(why=_words(ended))


def bring_up(name: str, verb: str, machine: Machine, settled: float) -> Failed | None:
    """Start, restart or reload a unit, and see that it stays up for `settled` seconds."""
    began = time.time()
    _systemctl(machine, "reset-failed", "--", name)  # what failed before has no part in this start
    failed = change(machine, verb, name)
    if failed is not None:
        return Failed(why=_with_its_own_words(name, failed.why, began, machine))
    unit = _settle(name, machine, settled)
    if isinstance(unit, Unobservable):
        return Failed(why=unit.why)
    if unit.active in _UP and not unit.restarts:
        return None
    if unit.type == "oneshot" and unit.runs(time.monotonic()):
        return None
    return Failed(why=_with_its_own_words(name, _how_it_went(unit), began, machine))


def why_not_loaded(unit: Unit, machine: Machine) -> str:
    """Why a unit cannot be started or enabled, in systemd's words."""
    said = unit.load_error.partition(" ")[2].strip('"') or f"{unit.name} is {unit.load}"
    if unit.load == "masked":
        return f"{said} systemctl unmask {unit.name} would allow it again"
    if unit.load == "not-found":
        return said
    return _with_its_own_words(unit.name, said, time.time() - 60, machine)


def _systemctl(machine: Machine, *arguments: str, seconds: float = ASK_SECONDS) -> Ended:
    root = () if machine.running else (f"--root={machine.root}",)
    return machine.run(
        command("systemctl", "--no-pager", "--no-ask-password", *root, *arguments, seconds=seconds)
    )


def _words(ended: Ended) -> str:
    """What it said, without the advice to ask elsewhere: that was done already."""
    said = (ended.errors.strip() or ended.output.strip()).splitlines()
    lines = [line.strip() for line in said if not line.startswith(("See ", "Created symlink", "Removed "))]
    told = "; ".join([line for line in lines if line][:3])
    return told if told and ended.code is not None else ended.words


def _unit(name: str, block: str) -> Unit:
    given = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
    # A oneshot whose conditions did not hold never left its rest, but it was tried.
    tried = int(given.get("ConditionTimestampMonotonic") or 0) > 0
    return Unit(
        name=name,
        load=given.get("LoadState", ""),
        load_error=given.get("LoadError", ""),
        file_state=_file_state(name, given.get("UnitFileState", "")),
        active=given.get("ActiveState", ""),
        sub=given.get("SubState", ""),
        type=given.get("Type", ""),
        result=given.get("Result", ""),
        remains=given.get("RemainAfterExit") == "yes",
        restarts=int(given.get("NRestarts") or 0),
        since=int(given.get("ActiveEnterTimestampMonotonic") or 0) / 1_000_000,
        tried=tried,
        skipped=tried and given.get("ConditionResult") == "no",
        awaited=bool(given.get("WantedBy") or given.get("RequiredBy")),
        reloadable=given.get("CanReload") == "yes",
        outdated=given.get("NeedDaemonReload") == "yes",
    )


def _file_state(name: str, said: str) -> str:
    """As systemd says; but an instance of a template that others have instances of is just not enabled."""
    return "disabled" if said == "indirect" and "@" in name else said


def _look_in_image(names: Sequence[str], machine: Machine) -> Mapping[str, Unit] | Unobservable:
    try:
        if not any(machine.files.look(place) for place in ("/usr/lib/systemd", "/lib/systemd")):
            return Unobservable(why=f"there is no systemd under {machine.root}", elsewhere=True)
    except OSError as error:
        return Unobservable(why=f"{machine.root}: {error.strerror or error}")
    plain = [name for name in names if "@" not in name]
    states: dict[str, str] = {}
    if plain:
        ended = _systemctl(machine, "list-unit-files", "--no-legend", "--plain", "--", *plain)
        # Where it finds none of them, it says nothing and ends with 1.
        if not ended.well and (ended.code is None or ended.errors):
            return Unobservable(why=f"systemctl: {_words(ended)}")
        states = {line.split()[0]: line.split()[1] for line in ended.output.splitlines() if line.strip()}
    for name in set(names) - set(plain):  # instances are listed by the name of their template only
        states[name] = _systemctl(machine, "is-enabled", "--", name).output.strip()
    return {name: _in_image(name, states.get(name, "")) for name in names}


def _in_image(name: str, state: str) -> Unit:
    if state in ("", "not-found"):
        return Unit(name=name, load="not-found", load_error=f'- "Unit {name} not found."')
    load = "masked" if state.startswith("masked") else "loaded"
    return Unit(name=name, load=load, file_state=_file_state(name, state))


def _settle(name: str, machine: Machine, seconds: float) -> Unit | Unobservable:
    """The unit once it was active for that long, or as soon as it is not."""
    until = time.monotonic() + seconds
    while True:
        unit = look_at_one(name, machine)
        if isinstance(unit, Unobservable) or unit.active not in _UP or unit.type == "oneshot":
            return unit
        if unit.restarts or time.monotonic() >= until:
            return unit
        time.sleep(min(0.25, seconds))


def _how_it_went(unit: Unit) -> str:
    if unit.restarts or unit.sub == "auto-restart":
        return f"{unit.name} does not stay up: it is restarting over and over ({unit.result})"
    if unit.active == "inactive" and unit.skipped:
        return f"{unit.name} was not started: a condition of its unit does not hold"
    if unit.active == "inactive":
        return f"{unit.name} ended by itself right after its start"
    return f"{unit.name} does not stay up: it is {unit.active} ({unit.result})"


def _with_its_own_words(name: str, said: str, began: float, machine: Machine) -> str:
    told = "; ".join(_last_lines(name, began, machine))
    return f"{said.rstrip('.')}: {told}" if told else said


def _last_lines(name: str, began: float, machine: Machine) -> list[str]:
    """The last lines in the journal of a unit since it began: its own, or else systemd's about it."""
    if not machine.running:
        return []
    machine.run(command("journalctl", "--sync", seconds=ASK_SECONDS))
    fields = "--output-fields=MESSAGE,_PID,PODMAN_EVENT"
    asked = ["--quiet", "--no-pager", f"--since=@{began:.3f}", "--lines=50", "--output=json", fields]
    ended = machine.run(command("journalctl", f"--unit={name}", *asked, seconds=ASK_SECONDS))
    entries = list(_entries(ended.output)) if ended.well else []
    own = [text for text, ours in entries if ours]
    return (own or [text for text, _ in entries])[-LAST_LINES:]


def _entries(output: str) -> Iterator[tuple[str, bool]]:
    """Each message of a journal, and whether the unit's own processes said it (1 is systemd)."""
    for line in output.splitlines():
        try:
            entry: dict[str, Any] = json.loads(line)
        except ValueError:
            continue  # cut, since only the end of a long output is kept
        text = entry.get("MESSAGE")
        if isinstance(text, list):  # how the journal shows what is no text
            text = bytes(text).decode("utf-8", "replace")
        if text and "PODMAN_EVENT" not in entry:
            yield str(text).strip(), entry.get("_PID") != "1"
