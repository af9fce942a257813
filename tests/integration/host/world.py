"""A machine under a directory of its own, with its journal: what the tests of the host's proof share."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import field, frozen

from mesh_adapters.host.applied import Applied
from mesh_adapters.host.applying import Decided, Host, Refused, apply, decide, unchanged
from mesh_adapters.host.files import Files
from mesh_adapters.host.journal import Entry, Journal
from mesh_adapters.host.kind import Kind
from mesh_adapters.host.kinds.directory import Directory
from mesh_adapters.host.kinds.file import File
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.steps import Step, no_step
from mesh_core import Resource
from mesh_core.canonical import canonical_json
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.wire.declaration import declaration_to_data

KINDS: Mapping[str, Kind] = {"file": File(), "directory": Directory()}
PRIVILEGED = os.geteuid() == 0
Shown = tuple[str, int, int, int, bytes]
"""What is at a path: its type, mode, owner and group, and its bytes or where it leads."""


def file(path: str, content: str = "ours\n", **attributes: Any) -> Resource:
    return Resource(kind="file", path=path, attributes_json={"content": content, **attributes})


def directory(path: str, **attributes: Any) -> Resource:
    return Resource(kind="directory", path=path, attributes_json=attributes)


def declaration(
    generation: int,
    *modules: list[Resource],
    node: str = "pi",
    allow_removals: bool = True,
    empty: bool | None = None,
) -> bytes:
    """The bytes of a declaration with these modules, each given as its resources."""
    told = Declaration(
        node=node,
        generation=generation,
        modules=[
            DeclaredModule(name=f"m{number}", version="1", resources=resources)
            for number, resources in enumerate(modules)
        ],
        allow_removals=allow_removals,
        empty=not modules if empty is None else empty,
    )
    return canonical_json(declaration_to_data(told)).encode()


def shown(root: Path) -> dict[str, Shown]:
    """Everything under a directory, as paths of the machine. What it is in has no path."""
    return dict(_shown(root, ""))


def _shown(place: Path, path: str) -> Iterator[tuple[str, Shown]]:
    for inner in sorted(os.scandir(place), key=lambda one: one.name):
        status = inner.stat(follow_symlinks=False)
        here = f"{path}/{inner.name}"
        content, type_ = b"", "special"
        if stat.S_ISLNK(status.st_mode):
            type_, content = "link", os.fsencode(os.readlink(inner.path))
        elif stat.S_ISREG(status.st_mode):
            type_, content = "file", Path(inner.path).read_bytes()
        elif stat.S_ISDIR(status.st_mode):
            type_ = "directory"
            yield from _shown(Path(inner.path), here)
        yield here, (type_, stat.S_IMODE(status.st_mode), status.st_uid, status.st_gid, content)


@frozen
class World:
    """A root directory and the directory of its journal, both under one folder."""

    folder: Path
    kinds: Mapping[str, Kind] = field(default=KINDS)
    root: Path = field(init=False)
    state: Path = field(init=False)

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "root", self.folder / "root")
        object.__setattr__(self, "state", self.folder / "state")
        self.root.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def host(self, step: Step = no_step) -> Iterator[Host]:
        journal = Journal.open(self.state, step)
        try:
            files = Files(self.root, step)
            machine = Machine(
                root=self.root,
                files=files,
                privileged=PRIVILEGED,
                step=step,
                kept=journal.kept,
                state=self.state,
            )
            yield Host(machine=machine, journal=journal, kinds=self.kinds)
        finally:
            journal.close()

    def decide(self, content: bytes) -> Decided | Refused:
        with self.host() as host:
            return decide(content, host)

    def apply(self, content: bytes, step: Step = no_step) -> Applied | Refused:
        with self.host(step) as host:
            decided = decide(content, host)
            return apply(decided, host) if isinstance(decided, Decided) else decided

    def applied(self, content: bytes) -> Applied:
        """Apply what has to be taken."""
        outcome = self.apply(content)
        assert isinstance(outcome, Applied), outcome
        return outcome

    def unchanged(self, content: bytes) -> Applied | None:
        with self.host() as host:
            return unchanged(content, host)

    def entries(self) -> dict[str, Entry]:
        """What is owned, by identity."""
        with self.host() as host:
            return {entry.owned.identity: entry for entry in host.journal.entries()}

    def kept(self) -> int:
        """Of how many files the journal has the bytes."""
        with self.host() as host:
            return int(host.journal._db.execute("SELECT count(*) FROM kept").fetchone()[0])

    def copy(self, folder: Path) -> World:
        """The same once more, elsewhere."""
        shutil.copytree(self.folder, folder, symlinks=True, copy_function=_copied)
        for made in [*folder.rglob("*")]:
            status = os.lstat(self.folder / made.relative_to(folder))
            os.lchown(made, status.st_uid, status.st_gid)
            if not made.is_symlink():
                made.chmod(stat.S_IMODE(status.st_mode))
        return World(folder, self.kinds)

    def put(self, path: str, content: str, *, mode: int = 0o644, owner: int | None = None) -> None:
        """As a person does it, with an editor: whatever is there is gone."""
        place = self.root / path.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)
        place.chmod(mode)
        if owner is not None and PRIVILEGED:
            os.chown(place, owner, owner)

    def link(self, path: str, target: str, *, owner: int | None = None) -> None:
        place = self.root / path.lstrip("/")
        place.symlink_to(target)
        if owner is not None and PRIVILEGED:
            os.lchown(place, owner, owner)

    def folder_at(self, path: str, *, mode: int = 0o755) -> None:
        place = self.root / path.lstrip("/")
        place.mkdir(parents=True)
        place.chmod(mode)


def _copied(source: str, target: str) -> str:
    return shutil.copyfile(source, target, follow_symlinks=False)


def quick() -> str | None:
    """Where a directory is made that is written to a thousand times: in memory, where there is such a place.

    What is killed there leaves what it would leave on a disk, since only a power cut loses what is unsynced.
    """
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
