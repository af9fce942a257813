"""`command`: the way out for everything that no other kind does.

    {kind = "command", name = "swap", check = "swapon --show | grep -q /swap", apply = "...", remove = "..."}

Each is text for `/bin/sh -c`. `check` ends with 0 where it is done, and changes nothing; `apply` makes it
so; `remove` takes it off again, and without it nothing does. Each may take `seconds` (300), and is ended
then with everything that it started.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from mesh_adapters.host.attributes import seconds, text
from mesh_adapters.host.commands import Ended, command
from mesh_adapters.host.kind import (
    Acted,
    Attribute,
    Context,
    Done,
    Failed,
    LeftAlone,
    Observed,
    Prepared,
    SimpleKind,
    Unobservable,
)
from mesh_adapters.host.machine import Machine
from mesh_core import Resource
from mesh_core.reconcile import LET_GO, Action, State, Wanted

SECONDS = 300.0


class ShellCommand(SimpleKind):
    """The kind `command`."""

    name = "command"
    place: Literal["path", "name"] = "name"
    attributes: tuple[Attribute, ...] = (
        text("check", "text for the shell", needed=True),
        text("apply", "text for the shell", needed=True),
        text("remove", "text for the shell"),
        seconds("seconds"),
    )

    def prepare(self, resource: Resource, context: Context) -> Prepared:
        """Its check passes."""
        state = State(facts={"done": True})
        return Prepared(wanted=Wanted(identity=resource.identity, kind=self.name, state=state))

    def observe(self, resources: Sequence[Resource], machine: Machine) -> Mapping[str, Observed]:
        """Whether the check of each passes."""
        return {resource.identity: _look(resource, machine) for resource in resources}

    def act(self, action: Action, resource: Resource, content: bytes | None, machine: Machine) -> Acted:
        """Run `apply` and see that the check passes then; or run `remove`."""
        if action.act in LET_GO:
            return _take_off(resource, machine)
        if _run("check", resource, machine).well:
            return Done()
        applied = _run("apply", resource, machine)
        if not applied.well:
            return Failed(why=f"apply: {applied.words}")
        checked = _run("check", resource, machine)
        if checked.well:
            return Done()
        return Failed(why=f"apply ended well, and check does not pass after it: {checked.words}")


def _look(resource: Resource, machine: Machine) -> Observed:
    if not machine.running:
        why = f"a command runs on the machine itself, and not under {machine.root}"
        return Unobservable(why=why, elsewhere=True)
    checked = _run("check", resource, machine)
    if checked.code is None:
        return Unobservable(why=f"check: {checked.words}")
    return State(facts={"done": checked.well})


def _take_off(resource: Resource, machine: Machine) -> Acted:
    if "remove" not in resource.attributes:
        return LeftAlone(why=f"command {resource.name} has no 'remove', so what it did stays")
    removed = _run("remove", resource, machine)
    return Done() if removed.well else Failed(why=f"remove: {removed.words}")


def _run(which: str, resource: Resource, machine: Machine) -> Ended:
    given = resource.attributes
    shell = command("/bin/sh", "-c", given[which], seconds=float(given.get("seconds", SECONDS)))
    return machine.run(shell)
