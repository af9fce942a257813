"""`tree`: what was built of a module's source, at a path: a whole tree of files, or the one before it.

    {kind = "tree", path = "/opt/web"}

The control plane adds what a build came to, `artifact` (the digest of an OCI manifest) and `from` (where it
is). The artifact is got and checked before anything of its module is touched. What was there before is put
back only where that was an empty directory; one with something in it is somebody's, and is not replaced. What
a person puts into the tree stays, also when the tree goes or another comes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, Literal

from mesh_adapters.host.artifacts.cache import Cache
from mesh_adapters.host.artifacts.limits import ArtifactError, Limits
from mesh_adapters.host.artifacts.listing import Record
from mesh_adapters.host.artifacts.placing import Spot, is_whole, named, replace, take_off, tidy
from mesh_adapters.host.artifacts.records import Records, drop_without_tree
from mesh_adapters.host.artifacts.source import WANTED, source_of
from mesh_adapters.host.artifacts.stating import edited, state_of, tree_state
from mesh_adapters.host.artifacts.tar import listing_of
from mesh_adapters.host.files import Found, words_of
from mesh_adapters.host.kind import (
    Acted,
    Attribute,
    AttributeFault,
    Brought,
    Context,
    Done,
    Failed,
    Immaterial,
    LeftAlone,
    Observed,
    Prepared,
    SimpleKind,
    StillNeeded,
    Unobservable,
)
from mesh_adapters.host.kinds.directory import never_replaced, rights_of
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.parents import missing_parents
from mesh_core import Resource
from mesh_core.reconcile import LET_GO, Act, Action, Wanted

_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_OWNED = "owned"
"""The attribute of a tree as the journal remembers it, which no declared one has."""


class Tree(SimpleKind):
    """The kind `tree`."""

    name = "tree"
    place: Literal["path", "name"] = "path"
    attributes: tuple[Attribute, ...] = (
        Attribute(
            name="artifact",
            wanted="the digest of a manifest: sha256: and 64 of 0-9 and a-f",
            fits=lambda value: isinstance(value, str) and _DIGEST.fullmatch(value) is not None,
        ),
        Attribute(
            name="from",
            wanted=WANTED,
            fits=lambda value: isinstance(value, str) and source_of(value) is not None,
        ),
    )

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits or Limits()
        self._needed: dict[str, tuple[str, ...]] = {}
        """By path, the blobs that were fetched for it and are not unpacked yet."""

    def faults(self, resource: Resource) -> Iterator[AttributeFault]:
        """It has both or neither, and is not the root of everything."""
        given = [name for name in ("artifact", "from") if name in resource.attributes]
        if len(given) == 1:
            wanted = "a tree has both 'artifact' and 'from', or neither until it is built"
            yield AttributeFault(key=None, found=f"only {given[0]!r}", wanted=wanted)
        if resource.path == "/":
            yield AttributeFault(key="path", found="found '/'", wanted="a directory that a tree can replace")

    def prepare(self, resource: Resource, context: Context) -> Prepared:
        """The tree of its artifact. Raises `Immaterial` where nothing was built yet."""
        given = resource.attributes
        if "artifact" not in given:
            module = context.data["module"]["name"]
            raise Immaterial(f"{module} has no artifact yet: mesh build {module}")
        wanted = Wanted(identity=resource.identity, kind=self.name, state=tree_state(given["artifact"]))
        return Prepared(wanted=wanted)

    def remembered(self, resource: Resource) -> Resource:
        """Where it is, and that it is as remembered; what is in it is in the record of the tree."""
        return Resource(kind=self.name, path=resource.path, attributes_json={_OWNED: True})

    def observe(self, resources: Sequence[Resource], machine: Machine) -> Mapping[str, Observed]:
        """Which artifact's tree is there, or that it was edited; or what else is there."""
        return {resource.identity: self._look(resource, machine) for resource in resources}

    def fetch(self, resources: Sequence[Resource], machine: Machine) -> Failed | None:
        """Get every artifact that is not in its place, its manifest and its layer, and look at all of it."""
        self._needed |= {str(resource.path): () for resource in resources}
        for resource in resources:
            path = str(resource.path)
            try:
                if not self._is_there(resource, machine):
                    self._needed[path] = self._got(resource, machine)
            except ArtifactError as error:
                return Failed(why=f"{path}: {error}")
            except OSError as error:
                return Failed(why=words_of(error, path))
        self._drop_unneeded(machine)
        drop_without_tree(machine.state, machine.files.place)
        return None

    def brings(self, action: Action, resource: Resource, machine: Machine) -> Brought | Failed:
        """The directories above it that are not there."""
        return missing_parents(action, resource, machine)

    def act(self, action: Action, resource: Resource, content: bytes | None, machine: Machine) -> Acted:
        """Put the whole tree there; or take it off, and leave what a person put into it."""
        path = str(resource.path)
        try:
            acted = self._acted(action, resource, machine)
        except ArtifactError as error:
            return Failed(why=f"{path}: {error}")
        except OSError as error:
            return Failed(why=words_of(error, path))
        if not isinstance(acted, Failed):  # what failed is tried again, and is not to be got again for that
            self._settled(path, machine)
        return acted

    def _acted(self, action: Action, resource: Resource, machine: Machine) -> Acted:
        spot = self._spot(resource, machine)
        record = tidy(spot)
        found = machine.files.look(spot.path)
        if action.act in LET_GO:
            return _take_off(action, spot, record, found, machine)
        if found is not None and found.type != "directory":
            return Failed(why=f"there is a {found.type} at {spot.path}; move it away, and apply again")
        return self._make(action, resource, spot, record, machine)

    def _make(
        self, action: Action, resource: Resource, spot: Spot, was: Record | None, machine: Machine
    ) -> Acted:
        if was is not None and action.act is Act.MAKE:
            # The mesh has let go of that one: what is there now is somebody's.
            spot.records.drop()
            was = None
        artifact = resource.attributes["artifact"]
        if was is not None and was.artifact == artifact and not was.going and is_whole(spot, was):
            return Done()
        holds_something = os.path.isdir(spot.place) and bool(os.listdir(spot.place))
        if was is None and holds_something and action.act is not Act.PUT_BACK:
            why = f"there is a directory at {spot.path} with things in it; move it away, and apply again"
            return Failed(why=why)
        cache = Cache(machine.state)
        layer = self._got(resource, machine)[-1]
        with cache.open(layer, machine.alive) as file:
            to_come = self._record(spot, artifact, file)
            if was is None and holds_something:
                # It is ours, and its record was lost: what it has where the artifact has something is ours.
                was = to_come
                spot.records.put_now(was)
            differing = edited(spot, was) if was is not None and action.act is Act.PUT_BACK else ()
            carried = replace(spot, file, was, to_come)
        return Done(notes=(*_note("put back", differing), *_note("not of the artifact, and stays", carried)))

    def _record(self, spot: Spot, artifact: str, file: BinaryIO) -> Record:
        items = listing_of(file, self._limits)
        file.seek(0)
        return Record(path=spot.path, artifact=artifact, owner=spot.owner, items=items)

    def _got(self, resource: Resource, machine: Machine) -> tuple[str, ...]:
        """The blobs of its artifact, which are in the cache now: the manifest, and the layer last."""
        # Imported only where something is got: every run of the host knows all kinds.
        from mesh_adapters.broker.credential import Role
        from mesh_adapters.host.artifacts.fetching import Fetching

        given = resource.attributes
        source = source_of(given["from"])
        if source is None:
            raise AssertionError("its kind has looked at that")
        settings = (machine.root / Role.NODE.place).parent
        fetching = Fetching(Cache(machine.state), settings, self._limits, machine.alive)
        return given["artifact"], fetching.fetch(given["artifact"], source).digest

    def _is_there(self, resource: Resource, machine: Machine) -> bool:
        """Whether a run that was killed has put it there: only tidying up is left to do."""
        spot = self._spot(resource, machine)
        record = spot.records.next() or spot.records.now()
        wanted = resource.attributes["artifact"]
        return record is not None and record.artifact == wanted and is_whole(spot, record)

    def _settled(self, path: str, machine: Machine) -> None:
        self._needed.pop(path, None)
        self._drop_unneeded(machine)

    def _drop_unneeded(self, machine: Machine) -> None:
        Cache(machine.state).keep_only(blob for blobs in self._needed.values() for blob in blobs)

    def _spot(self, resource: Resource, machine: Machine) -> Spot:
        path = str(resource.path)
        return Spot(
            path=path,
            place=machine.files.place(path),
            records=Records(machine.state, path),
            owner=0 if machine.privileged else None,
            limits=self._limits,
            step=machine.step,
            alive=machine.alive,
            settled=lambda: self._settled(path, machine),
        )

    def _look(self, resource: Resource, machine: Machine) -> Observed:
        try:
            found = machine.files.look(str(resource.path))
            declared = _OWNED not in resource.attributes
            return state_of(self._spot(resource, machine), found, declared=declared)
        except OSError as error:
            return Unobservable(why=words_of(error, str(resource.path)))


def _take_off(
    action: Action, spot: Spot, record: Record | None, found: Found | None, machine: Machine
) -> Acted:
    before = {} if action.target is None else action.target.as_data()
    type_, path = before.get("type"), spot.path
    if found is None:
        spot.records.drop()
        return Done() if type_ in (None, "tree") else never_replaced(path, before)
    if found.type == type_ == "directory" and record is None:
        machine.files.set_owner_and_mode(path, **rights_of(before))
        return Done()
    if found.type != "directory" or record is None:
        spot.records.drop()
        return LeftAlone(why=f"the {found.type} at {path} is not what the mesh put there")
    if type_ not in (None, "tree", "directory"):
        return never_replaced(path, before)
    if _DIGEST.fullmatch(str(before.get("artifact"))):
        spot.records.drop()
        why = f"{path} had another artifact before the mesh, which is not known here any more"
        return LeftAlone(why=why)

    def give_back() -> None:
        machine.files.set_owner_and_mode(path, **rights_of(before))

    left = take_off(spot, record, give_back if type_ == "directory" else None)
    if not left:
        return Done()
    why = f"{path} is not empty: {named(left)} was edited or added, and stays"
    return StillNeeded(why=why) if action.act is Act.SWEEP else LeftAlone(why=why)


def _note(what: str, paths: Sequence[str]) -> tuple[str, ...]:
    return (f"{what}: {named(paths)}",) if paths else ()
