"""`package`: something that the machine's package manager installs, with what that needs.

    {kind = "package", name = "zsh"}
    {kind = "package", name = "fd", names = {apt = "fd-find", dnf = "fd-find"}, purge = true}

What would remove or downgrade another package is refused. A removal takes nothing that the journal does not
own: what an installation brought is owned, and goes when nothing else needs it. It is removed and not purged,
unless it says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from mesh_adapters.host.attributes import truth
from mesh_adapters.host.kind import (
    Acted,
    Around,
    Attribute,
    AttributeFault,
    Brought,
    Context,
    Done,
    Failed,
    LeftAlone,
    Observed,
    Prepared,
    SimpleKind,
    StillNeeded,
    Unobservable,
)
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.managers import NAMES, manager_of
from mesh_adapters.host.managers.manager import Manager, Presence, Transaction
from mesh_core import Resource
from mesh_core.reconcile import HALFWAY, Act, Action, State, Wanted

# Neither an option, nor what apt reads as "remove this" (NAME-), nor a pattern.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9+._:@-]*(?<!-)")
_NAME_WANTED = "a name as the package manager has it: letters, digits and +._:@-, not '-' at its ends"
INSTALLED = State(facts={"installed": True})
_HALFWAY = State(facts={"installed": False, HALFWAY: True})


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and _NAME.fullmatch(value) is not None


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and bool(value)
        and value.keys() <= set(NAMES)
        and all(_is_name(name) for name in value.values())
    )


class Package(SimpleKind):
    """The kind `package`."""

    name = "package"
    place: Literal["path", "name"] = "name"
    attributes: tuple[Attribute, ...] = (
        Attribute(
            name="names",
            wanted=f"the package's names by manager ({', '.join(NAMES)}), each {_NAME_WANTED}",
            fits=_are_names,
        ),
        truth("purge"),
    )

    def faults(self, resource: Resource) -> Iterator[AttributeFault]:
        """Its name has to be one that a manager has."""
        if resource.name is not None and not _is_name(resource.name):
            yield AttributeFault(key="name", found=f"found {resource.name!r}", wanted=_NAME_WANTED)

    def prepare(self, resource: Resource, context: Context) -> Prepared:
        """That it is installed; nothing is said of versions."""
        return Prepared(wanted=Wanted(identity=resource.identity, kind=self.name, state=INSTALLED))

    def observe(self, resources: Sequence[Resource], machine: Machine) -> Mapping[str, Observed]:
        """Whether each is installed: one question for all."""
        manager = manager_of(machine)
        if manager is None:
            none = Unobservable(why=_no_manager(machine), elsewhere=not machine.running)
            return {r.identity: none for r in resources}
        there = manager.installed()
        if isinstance(there, Failed):
            return {r.identity: Unobservable(why=there.why) for r in resources}
        return {r.identity: _observed(there.get(_name_of(r, manager))) for r in resources}

    def fetch(self, resources: Sequence[Resource], machine: Machine) -> Failed | None:
        """All packages in one go."""
        manager = manager_of(machine)
        if manager is None:
            return Failed(why=_no_manager(machine))
        return manager.fetch([_name_of(resource, manager) for resource in resources])

    def brings(self, action: Action, resource: Resource, machine: Machine) -> Brought | Failed:
        """The packages that come with it, or why it is not installed."""
        manager = manager_of(machine)
        if manager is None:
            return Failed(why=_no_manager(machine))
        if action.target != INSTALLED:
            return Brought()
        name = _name_of(resource, manager)
        planned = manager.simulate_install([name])
        if isinstance(planned, Failed):
            return planned
        why = _refused(name, planned) or _other(name, planned, manager)
        if why is not None:
            return Failed(why=why)
        brought = [Resource(kind=self.name, name=other) for other in planned.installed if other != name]
        return Brought(resources=tuple(brought))

    def bring(self, resource: Resource, machine: Machine) -> State:
        """What comes along is installed."""
        return INSTALLED

    def act(self, action: Action, resource: Resource, content: bytes | None, machine: Machine) -> Acted:
        """Install it. What was there halfway before the mesh is left as it is now."""
        manager = manager_of(machine)
        if manager is None:
            return Failed(why=_no_manager(machine))
        if action.target != INSTALLED:
            return LeftAlone(why="it was there before, half installed; that does not come back")
        return manager.install([_name_of(resource, manager)])

    def take_off(self, action: Action, resource: Resource, around: Around, machine: Machine) -> Acted:
        """Remove it, and with it only what is going anyway."""
        manager = manager_of(machine)
        if manager is None:
            return Failed(why=_no_manager(machine))
        name = _name_of(resource, manager)
        shared = [other.identity for other in around.staying if _name_of(other, manager) == name]
        if shared:
            return StillNeeded(why=f"{shared[0]} is the same package, and declared")
        there = manager.installed()
        if isinstance(there, Failed):
            return there
        if name not in there:
            return Done()
        leaving = {_name_of(other, manager): other for other in around.leaving} | {name: resource}
        swept = {r.identity for r in around.brought} | (
            {resource.identity} if action.act is Act.SWEEP else set()
        )
        going = [resource, *around.leaving]
        made = {_name_of(other, manager) for other in going if other.identity not in swept}
        theirs = _asked_for({_name_of(other, manager) for other in going} - made, manager)
        if isinstance(theirs, Failed):
            return theirs
        if name in theirs:
            return LeftAlone(why="somebody asked for it by name since it came along")
        acted = _remove(name, {n: it for n, it in leaving.items() if n not in theirs}, manager)
        if isinstance(acted, StillNeeded) and name in made:
            # So that a later sweep may take it. Where that fails it passes for a person's, and stays.
            manager.mark_needed(name)
        return acted


def _asked_for(names: set[str], manager: Manager) -> set[str] | Failed:
    """Those that a person wants for their own sake by now."""
    asked = manager.asked_for() if names else ()
    return asked if isinstance(asked, Failed) else names.intersection(asked)


def _remove(name: str, leaving: Mapping[str, Resource], manager: Manager) -> Acted:
    """Remove a package with those of `leaving` that cannot be without it; where others cannot, it stays."""
    planned = manager.simulate_remove([name])
    if isinstance(planned, Failed):
        return planned
    why = _needed(name, planned, leaving)
    if why is not None:
        return StillNeeded(why=why)
    purge = {other for other, it in leaving.items() if it.attributes.get("purge")}
    return manager.remove(planned.removed, purge & set(planned.removed))


def _no_manager(machine: Machine) -> str:
    return f"no package manager in {machine.root} (looked for the databases of {', '.join(NAMES)})"


def _name_of(resource: Resource, manager: Manager) -> str:
    """What the manager calls it."""
    names: dict[str, str] = resource.attributes.get("names", {})
    return names.get(manager.name, str(resource.name))


def _observed(presence: Presence | None) -> Observed:
    if presence is None:
        return None
    return INSTALLED if presence is Presence.INSTALLED else _HALFWAY


def _refused(name: str, planned: Transaction) -> str | None:
    """Why an installation is not begun."""
    held = [other for other in planned.held if other != name]
    if name in planned.held:
        return f"{name} is held; it is left as it is"
    if planned.removed:
        return f"installing {name} would remove {_list(planned.removed)}"
    if planned.downgraded:
        return f"installing {name} would downgrade {_list(planned.downgraded)}"
    if held:
        return f"installing {name} would change {_list(held)}, which is held"
    return None


def _other(name: str, planned: Transaction, manager: Manager) -> str | None:
    """Why the package would not be there afterwards: a manager may take a name for that of a group, say."""
    changed = {*planned.installed, *planned.upgraded}
    if name in changed:
        return None
    there = manager.installed()
    if isinstance(there, Failed):
        return there.why
    if name in there:
        return None
    instead = f"; it would install {_list(planned.installed)} instead" if planned.installed else ""
    return f"{manager.name} has no package {name}{instead}"


def _needed(name: str, planned: Transaction, leaving: Mapping[str, Resource]) -> str | None:
    """Why a removal is not begun."""
    if planned.protected:
        return f"the machine cannot be without {_list(planned.protected)}, says its package manager"
    if planned.held:
        return f"{_list(planned.held)} is held; it is left as it is"
    others = [other for other in planned.removed if other not in leaving]
    if others:
        return f"{_list(others)} needs it"
    came = (*planned.installed, *planned.upgraded, *planned.downgraded)
    return f"removing {name} would install or change {_list(came)}" if came else None


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)
