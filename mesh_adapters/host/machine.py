"""What a kind of resource may touch: the machine, or the root directory that stands for one."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from attrs import field, frozen

from mesh_adapters.host.commands import Command, Ended, run
from mesh_adapters.host.files import Files
from mesh_adapters.host.own_place import PLACE
from mesh_adapters.host.steps import Step, no_step


def nobody_watches() -> None:
    """What `alive` is where nobody wants to know."""


@frozen(kw_only=True)
class Machine:
    """A machine: its files, and how commands are run on it.

    `root` is `/`, or a directory that everything is put under (for trying, and for images): then nothing runs
    there, and kinds that need something running say so. `privileged` is whether owners can be given.
    `kept` gives the bytes that the journal remembers, by their SHA-256. `state` is where the host keeps what
    is its own. `alive` is called now and then by what takes long, and tells whoever watches.
    """

    root: Path
    files: Files
    privileged: bool
    run: Callable[[Command], Ended] = run
    step: Step = no_step
    kept: Callable[[str], bytes]
    state: Path = field()
    alive: Callable[[], None] = nobody_watches

    @state.default
    def _state(self) -> Path:
        return self.root / PLACE

    @property
    def running(self) -> bool:
        """Whether this is the machine that the host runs on."""
        return self.root == Path("/")


def nothing_kept(_sha256: str) -> bytes:
    """What a journal gives that is not there: whoever only looks at a machine needs none."""
    raise LookupError


def machine_at(
    root: Path,
    *,
    kept: Callable[[str], bytes] = nothing_kept,
    run: Callable[[Command], Ended] = run,
    alive: Callable[[], None] = nobody_watches,
) -> Machine:
    """The machine at a root directory, as far as this process may change it."""
    return Machine(
        root=root, files=Files(root), privileged=os.geteuid() == 0, run=run, kept=kept, alive=alive
    )
