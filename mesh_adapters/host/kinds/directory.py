"""`directory`: a directory with its owner and mode. What is in it is its own business.

    {kind = "directory", path = "/srv/media", mode = "2775", owner = "root", group = "users"}

It is removed when the mesh made it and it is empty; one with something in it is left.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict

from mesh_adapters.host.attributes import GROUP, MODE, OWNER
from mesh_adapters.host.files import words_of
from mesh_adapters.host.kind import (
    Acted,
    Attribute,
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
from mesh_adapters.host.parents import missing_parents
from mesh_core import Resource
from mesh_core.reconcile import Act, Action, Fact, State, Wanted


class Directory(SimpleKind):
    """The kind `directory`."""

    name = "directory"
    place: Literal["path", "name"] = "path"
    attributes: tuple[Attribute, ...] = (MODE, OWNER, GROUP)

    def prepare(self, resource: Resource, context: Context) -> Prepared:
        """0755 and root, where the resource does not say otherwise."""
        given = resource.attributes
        facts: dict[str, Fact] = {"type": "directory", "mode": given.get("mode", "0755")}
        facts |= {who: given.get(who, "root") for who in ("owner", "group")}
        wanted = Wanted(identity=resource.identity, kind=self.name, state=State(facts=facts))
        return Prepared(wanted=wanted)

    def remembered(self, resource: Resource) -> Resource:
        """Where it is; whose it is, and what is in it, is in the state."""
        return Resource(kind=self.name, path=resource.path)

    def on(self, machine: Machine, state: State) -> State:
        """Owner and group are whatever they are, for somebody who can give nothing away."""
        return state if machine.privileged else without_owners(state)

    def observe(self, resources: Sequence[Resource], machine: Machine) -> Mapping[str, Observed]:
        """Type, mode, owner and group of what is there."""
        return {resource.identity: _look(resource, machine) for resource in resources}

    def brings(self, action: Action, resource: Resource, machine: Machine) -> Brought | Failed:
        """The directories above it that are not there."""
        return missing_parents(action, resource, machine)

    def bring(self, resource: Resource, machine: Machine) -> State:
        """As a resource that says nothing of owner and mode."""
        return self.on(machine, self.prepare(resource, Context(data={})).wanted.state)

    def act(self, action: Action, resource: Resource, content: bytes | None, machine: Machine) -> Acted:
        """Make it, give it its owner and mode, or remove it where it is empty."""
        path, files, target = str(resource.path), machine.files, action.target
        try:
            found = files.look(path)
            if target is None:
                return Done() if found is None else _remove(path, action, machine)
            if found is not None and found.type != "directory":
                return Failed(why=f"there is a {found.type} at {path}; move it away, and apply again")
            facts = target.as_data()
            given = rights_of(facts)
            if facts["type"] != "directory":
                return never_replaced(path, facts)
            if found is None:
                files.make_directory(path, **given)
            else:
                files.set_owner_and_mode(path, **given)
        except OSError as error:
            return Failed(why=words_of(error, path))
        return Done()


def _look(resource: Resource, machine: Machine) -> Observed:
    path = str(resource.path)
    try:
        found = machine.files.look(path)
    except OSError as error:
        return Unobservable(why=words_of(error, path))
    if found is None:
        return None
    facts = {"type": found.type, "mode": found.mode, "owner": found.owner, "group": found.group}
    return State(facts=facts)


def _remove(path: str, action: Action, machine: Machine) -> Acted:
    try:
        machine.files.remove_directory(path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        why = f"{path} is not empty"
        return StillNeeded(why=why) if action.act is Act.SWEEP else LeftAlone(why=why)
    return Done()


def without_owners(state: State) -> State:
    """The state for somebody who can give nothing away: owner and group are whatever they are."""
    return State(facts=[(name, fact) for name, fact in state.facts if name not in ("owner", "group")])


def never_replaced(path: str, before: Mapping[str, Fact]) -> LeftAlone:
    """What was there before is of a type that this kind does not replace: somebody else took it away."""
    return LeftAlone(why=f"before there was a {before['type']} at {path}, and somebody else took it away")


class Rights(TypedDict):
    """The mode of what is at a path, and whose it is; where that is None, it stays whose it was."""

    mode: str
    owner: str | None
    group: str | None


def rights_of(facts: Mapping[str, Fact]) -> Rights:
    """The rights that a state says."""
    owner, group = facts.get("owner"), facts.get("group")
    return Rights(
        mode=str(facts["mode"]),
        owner=None if owner is None else str(owner),
        group=None if group is None else str(group),
    )
