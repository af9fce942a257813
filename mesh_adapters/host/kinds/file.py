r"""`file`: a regular file with its content, owner and mode, written whole or not at all.

    {kind = "file", path = "/etc/motd", content = "Welcome to {{ node.name }}\n"}
    {kind = "file", path = "/etc/web.conf", mode = "0640", owner = "www-data", template = "..."}

A manifest may say `content_from` or `template_from` instead: a path beside it, taken in when it is added.
What was there before - bytes, mode and owner - comes back when the mesh lets go of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from mesh_adapters.host.attributes import GROUP, MODE, OWNER, text
from mesh_adapters.host.files import Found, words_of
from mesh_adapters.host.kind import (
    Acted,
    Attribute,
    AttributeFault,
    Brought,
    Context,
    Done,
    Failed,
    Observed,
    Prepared,
    SimpleKind,
    Unobservable,
)
from mesh_adapters.host.kinds.directory import never_replaced, rights_of, without_owners
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.parents import missing_parents
from mesh_adapters.host.templates import render
from mesh_core import Resource
from mesh_core.reconcile import Action, Fact, State, Wanted


class File(SimpleKind):
    """The kind `file`."""

    name = "file"
    place: Literal["path", "name"] = "path"
    attributes: tuple[Attribute, ...] = (
        text("content"),
        text("template", "text with jinja2 in it"),
        MODE,
        OWNER,
        GROUP,
    )

    def faults(self, resource: Resource) -> Iterator[AttributeFault]:
        """It has content, or a template."""
        given = [name for name in ("content", "template") if name in resource.attributes]
        if len(given) != 1:
            found = "both 'content' and 'template'" if given else "neither 'content' nor 'template'"
            yield AttributeFault(key=None, found=found, wanted="a file has exactly one of them")

    def prepare(self, resource: Resource, context: Context) -> Prepared:
        """The content, rendered where it is a template; 0644 and root where it is not said otherwise."""
        given = resource.attributes
        made = render(given["template"], context) if "template" in given else given.get("content", "")
        content = made.encode()
        facts: dict[str, Fact] = {
            "type": "file",
            "sha256": hashlib.sha256(content).hexdigest(),
            "mode": given.get("mode", "0644"),
            "owner": given.get("owner", "root"),
            "group": given.get("group", "root"),
        }
        wanted = Wanted(identity=resource.identity, kind=self.name, state=State(facts=facts))
        return Prepared(wanted=wanted, content=content)

    def remembered(self, resource: Resource) -> Resource:
        """Where it is; whose it is, and what is in it, is in the state."""
        return Resource(kind=self.name, path=resource.path)

    def on(self, machine: Machine, state: State) -> State:
        """Owner and group are whatever they are, for somebody who can give nothing away."""
        return state if machine.privileged else without_owners(state)

    def observe(self, resources: Sequence[Resource], machine: Machine) -> Mapping[str, Observed]:
        """Type, digest, mode, owner and group of what is there."""
        found = machine.files.look_all(str(resource.path) for resource in resources)
        return {f"path:{path}": _observed(path, there) for path, there in found.items()}

    def brings(self, action: Action, resource: Resource, machine: Machine) -> Brought | Failed:
        """The directories above it that are not there."""
        return missing_parents(action, resource, machine)

    def act(self, action: Action, resource: Resource, content: bytes | None, machine: Machine) -> Acted:
        """Write it, give it its owner and mode, put back what was there, or remove it."""
        path, files, target = str(resource.path), machine.files, action.target
        try:
            found = files.look(path)
            if found is not None and found.type not in ("file", "link"):
                return Failed(why=f"there is a {found.type} at {path}; move it away, and apply again")
            if target is None:
                if found is not None:
                    files.remove(path)
                return Done()
            facts = target.as_data()
            given = rights_of(facts)
            if facts["type"] not in ("file", "link"):
                return never_replaced(path, facts)
            if facts["type"] == "link":
                files.write_link(path, str(facts["target"]), owner=given["owner"], group=given["group"])
                return Done()
            if found is not None and found.sha256 == facts["sha256"]:
                files.set_owner_and_mode(path, **given)
            elif content is None:
                return Failed(why=f"{path}: its content is not known any more")
            else:
                files.write_soon(path, content, **given)
        except OSError as error:
            return Failed(why=words_of(error, path))
        return Done()


def _observed(path: str, found: Found | OSError | None) -> Observed:
    if isinstance(found, OSError):
        return Unobservable(why=words_of(found, path))
    if found is None:
        return None
    if found.sha256 is not None:
        own: tuple[tuple[str, Fact], ...] = (("sha256", found.sha256),)
    else:
        own = (("target", found.target),) if found.target is not None else ()
    every = ("group", found.group), ("mode", found.mode), ("owner", found.owner)
    return State(facts=(*every, *own, ("type", found.type)))
