"""How the commands of a build are run: shut in by bubblewrap, or not at all where the builder was told so.

Shut in, a build sees a copy of its source at `/build/src`, a home and a /tmp of its own, and of the machine
what `sandbox_bwrap` lists, read-only. It has an environment, a host name, processes and (unless its recipe
asks for it) a network of its own. It ends whole: with its last command, with its time, with the builder.

What it does not keep in: memory and processors are not bounded (a unit of the builder's can, with MemoryMax
and CPUQuota), and a build with network has the machine's, with whatever listens on its loopback.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from attrs import Factory, evolve, field, frozen

from mesh_adapters.build.sandbox_attend import Bounds, Limits, Ran, Tail, Watch
from mesh_adapters.build.sandbox_bwrap import (
    HOME,
    PATH,
    SOURCE,
    bounded,
    for_commands,
    settled,
    shared,
)
from mesh_adapters.build.sandbox_open import run_open
from mesh_adapters.build.sandbox_place import BUILDER_ID, Place, hand_over, prepare, remove, since_epoch
from mesh_adapters.build.sandbox_shut import run_shut
from mesh_adapters.build.sandbox_turns import Ended, in_turn
from mesh_core.model.build import Shut

_PROBE_SECONDS = 10.0
_NOT_THERE = "bubblewrap (bwrap) is not installed"


@frozen(kw_only=True)
class Job:
    """Commands to run one after another, in a folder of the source (`.` is all of it), at most `seconds`.

    `at` is the commit's instant, like `2026-12-01T22:20:02Z`.
    """

    commands: tuple[str, ...]
    at: str
    seconds: float
    folder: str = "."
    network: bool = False


@frozen(kw_only=True)
class Missing:
    """Why something that a build needs is not there."""

    why: str


class Sandbox(Protocol):
    """What runs the commands of a build."""

    @property
    def shut(self) -> Shut:
        """How they are shut in."""

    @property
    def limits(self) -> Limits:
        """What they may use."""

    def run(self, job: Job, place: Place, watch: Watch) -> Ended:
        """Run them in a prepared place. When it returns, nothing lives of what they started.

        Raises what `watch` raises, and `OSError` where the machine is out of processes or the like.
        """


@frozen(kw_only=True)
class Bubblewrap:
    """Runs commands in bubblewrap. `own_account` (as root only) is whether they get another account."""

    program: str
    own_account: bool
    limits: Limits = field(default=Factory(Limits))

    @property
    def shut(self) -> Shut:
        """By bubblewrap."""
        return Shut.BUBBLEWRAP

    def run(self, job: Job, place: Place, watch: Watch) -> Ended:
        """As `Sandbox.run`."""
        if self.own_account:
            hand_over(place, BUILDER_ID)
        folder = SOURCE if job.folder == "." else f"{SOURCE}/{job.folder}"
        told = [
            *for_commands(job.network, self.own_account),
            *shared(place, job.network, self.limits),
            *settled(folder, environment(job.at, HOME, "/tmp")),
        ]

        def run_one(command: str, tail: Tail, bounds: Bounds) -> Ran:
            argv = bounded(self.limits, self.own_account, "sh", "-euc", command)
            return run_shut(self.program, told, argv, tail, bounds, watch)

        return in_turn(job.commands, job.seconds, place, self.limits, run_one)


@frozen(kw_only=True)
class NotShutIn:
    """Runs commands as the builder itself, with all that it may do: only for a builder that was told so.

    They have a cleared environment, a session of their own and a deadline, and what they started is ended
    with them, also in other sessions. But they can read and write what the builder can, its credentials too,
    and reach the network whatever the recipe says; nothing bounds what they use but time and the disk's room;
    the paths that they see differ from build to build; and if the builder is killed, they go on.
    While they run, the builder must start no other process: it would be taken for one of theirs.
    """

    limits: Limits = field(default=Factory(Limits))

    @property
    def shut(self) -> Shut:
        """Not at all."""
        return Shut.NOT_AT_ALL

    def run(self, job: Job, place: Place, watch: Watch) -> Ended:
        """As `Sandbox.run`."""
        variables = environment(job.at, str(place.home), str(place.temporary))
        folder = place.source / job.folder

        def run_one(command: str, tail: Tail, bounds: Bounds) -> Ran:
            return run_open(command, folder, variables, tail, bounds, watch)

        return in_turn(job.commands, job.seconds, place, self.limits, run_one)


def find_sandbox(limits: Limits | None = None, path: str = PATH) -> Bubblewrap | Missing:
    """The bubblewrap of this machine, if it is there and can shut something in here: that is tried."""
    program = shutil.which("bwrap", path=path)
    if program is None:
        return Missing(why=_NOT_THERE)
    why = ""
    for own_account in (True, False) if os.geteuid() == 0 else (False,):
        found = Bubblewrap(program=program, own_account=own_account, limits=limits or Limits())
        failed = _tried(found)
        if failed is None:
            return found
        why = why or failed
    return Missing(why=f"bubblewrap is installed and cannot shut anything in here: {why}")


def _tried(sandbox: Bubblewrap) -> str | None:
    with tempfile.TemporaryDirectory(prefix="meshwright-probe-") as folder:
        place = prepare(Path(folder, "probe"))
        job = Job(commands=("true",), at="1970-01-01T00:00:00Z", seconds=_PROBE_SECONDS)
        # Nothing about the room of this disk: no build runs here.
        without_room = evolve(sandbox, limits=evolve(sandbox.limits, free_bytes=0))
        ended = without_room.run(job, place, Watch())
        remove(place.root)
    return None if ended.why is None else "; ".join(ended.log[1:][-3:]) or ended.why


def environment(at: str, home: str, temporary: str) -> Mapping[str, str]:
    """All that a build's commands have of an environment."""
    names = {"LC_ALL": "C.UTF-8", "LANG": "C.UTF-8", "TZ": "UTC", "PATH": PATH, "SHELL": "/bin/sh"}
    who = {"HOME": home, "TMPDIR": temporary, "USER": "build", "LOGNAME": "build"}
    return {**names, **who, "SOURCE_DATE_EPOCH": str(since_epoch(at))}
