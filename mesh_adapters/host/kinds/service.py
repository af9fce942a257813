"""`service`: a unit of systemd, enabled and running, and told when a file that it watches changed.

    {kind = "service", name = "ssh"}
    {kind = "service", name = "web", restart_on = ["/etc/web.conf"], reload_on = ["/etc/web/routes"]}

A name without a suffix is a service; `fstrim.timer` is a timer. When the mesh lets go, it is as enabled
and as running as it was before.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from mesh_adapters.host.attributes import paths, truth
from mesh_adapters.host.kind import (
    Acted,
    Attribute,
    AttributeFault,
    Context,
    Done,
    Failed,
    Observed,
    Prepared,
    SimpleKind,
    Unobservable,
)
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.systemd import (
    SETTLED,
    UNIT_NAME,
    Unit,
    bring_up,
    change,
    is_unit_name,
    look_afresh,
    look_at,
    unit_name,
    why_not_loaded,
)
from mesh_core import Resource
from mesh_core.reconcile import LET_GO, Act, Action, Fact, State, Wanted


class Service(SimpleKind):
    """The kind `service`. A service has to be active for `settled` seconds after its start."""

    name = "service"
    place: Literal["path", "name"] = "name"
    attributes: tuple[Attribute, ...] = (
        truth("enabled"),
        truth("running"),
        paths("restart_on"),
        paths("reload_on"),
    )

    def __init__(self, settled: float = SETTLED) -> None:
        self._settled = settled

    def faults(self, resource: Resource) -> Iterator[AttributeFault]:
        """One unit has one name here, so that two modules that mean it mean the same resource."""
        name = str(resource.name)
        if name.endswith(".service"):
            short = name.removesuffix(".service")
            wanted = "a service is named without .service"
            yield AttributeFault(key="name", found=f"found {name!r}", wanted=wanted, suggestion=short)
        elif not is_unit_name(name):
            wanted = UNIT_NAME
            yield AttributeFault(key="name", found=f"found {name!r}", wanted=wanted)

    def prepare(self, resource: Resource, context: Context) -> Prepared:
        """Enabled and running, where it is not said otherwise."""
        given = resource.attributes
        facts: dict[str, Fact] = {name: given.get(name, True) for name in ("enabled", "running")}
        watched = [*given.get("restart_on", []), *given.get("reload_on", [])]
        wanted = Wanted(
            identity=resource.identity,
            kind=self.name,
            state=State(facts=facts),
            watches=[f"path:{path}" for path in watched],
        )
        return Prepared(wanted=wanted)

    def on(self, machine: Machine, state: State) -> State:
        """Nothing runs under a root."""
        return state if machine.running else without_running(state)

    def observe(self, resources: Sequence[Resource], machine: Machine) -> Mapping[str, Observed]:
        """Whether each is enabled and running; a unit that is not there is neither."""
        names = {resource.identity: unit_name(str(resource.name)) for resource in resources}
        units = look_at(list(dict.fromkeys(names.values())), machine)
        if isinstance(units, Unobservable):
            return dict.fromkeys(names, units)
        now = time.monotonic()
        return {identity: _seen(units[name], now, machine) for identity, name in names.items()}

    def act(self, action: Action, resource: Resource, content: bytes | None, machine: Machine) -> Acted:
        """Enable or disable it, start, stop, restart or reload it: what differs, and no more."""
        unit = look_afresh(unit_name(str(resource.name)), machine)
        if isinstance(unit, Unobservable):
            return Failed(why=unit.why)
        target = {} if action.target is None else action.target.as_data()
        if not unit.loaded and action.act in LET_GO:
            return _let_go_of_what_is_gone(unit, target, machine)
        if not unit.loaded and any(target.values()):
            return Failed(why=why_not_loaded(unit, machine))
        failed = _enabled(unit, target, action, machine) or self._running(
            unit, target, action, resource, machine
        )
        return failed or Done()

    def _running(
        self, unit: Unit, target: Mapping[str, Fact], action: Action, resource: Resource, machine: Machine
    ) -> Failed | None:
        if "running" not in target:
            return None
        if not target["running"]:
            return None if unit.down else change(machine, "stop", unit.name)
        verb = _verb(unit, action, resource)
        return None if verb is None else bring_up(unit.name, verb, machine, self._settled)


def _seen(unit: Unit, now: float, machine: Machine) -> State:
    state = State(facts={"enabled": unit.enabled, "running": unit.runs(now)})
    return state if machine.running else without_running(state)


def without_running(state: State) -> State:
    """The state of something under a root, where nothing runs."""
    return State(facts=[(name, fact) for name, fact in state.facts if name != "running"])


def _enabled(unit: Unit, target: Mapping[str, Fact], action: Action, machine: Machine) -> Failed | None:
    wanted = target.get("enabled")
    if wanted is None or wanted == unit.enabled:
        return None
    if not unit.fixed:
        return change(machine, "enable" if wanted else "disable", unit.name)
    if action.act in LET_GO:
        return None  # it was not there before, and goes with its file
    why = f"{unit.name} is {unit.file_state}: it can be neither enabled nor disabled"
    return Failed(why=why)


def _verb(unit: Unit, action: Action, resource: Resource) -> str | None:
    """What makes it run as declared; None where it does."""
    runs = unit.runs(time.monotonic())
    if unit.down and not runs:
        return "start"  # and so it reads whatever changed
    if action.because or action.act is Act.REFRESH:
        given = resource.attributes
        reloading = {f"path:{path}" for path in given.get("reload_on", [])}
        reloading -= {f"path:{path}" for path in given.get("restart_on", [])}
        reloads = bool(action.because) and reloading.issuperset(action.because)
        return "reload" if reloads and unit.reloadable and unit.active == "active" else "restart"
    # Nobody can say of a oneshot that just came whether it has run; it is run once.
    if not runs or (action.act is Act.MAKE and unit.ended_oneshot):
        return "start" if unit.down else "restart"
    return None


def _let_go_of_what_is_gone(unit: Unit, target: Mapping[str, Fact], machine: Machine) -> Acted:
    """Its file went before it (a package that was removed): at most, something of it still runs."""
    if unit.down or target.get("running"):
        return Done()
    return change(machine, "stop", unit.name) or Done()
