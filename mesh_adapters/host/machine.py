"""What a kind of resource may touch: the machine, or the root directory that stands for one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from attrs import frozen

from mesh_adapters.host.commands import Command, Ended, run
from mesh_adapters.host.files import Files
from mesh_adapters.host.steps import Step, no_step


@frozen(kw_only=True)
class Machine:
    """A machine: its files, and how commands are run on it.

    `root` is `/`, or a directory that everything is put under (for trying, and for images): then nothing runs
    there, and kinds that need something running say so. `privileged` is whether owners can be given.
    `kept` gives the bytes that the journal remembers, by their SHA-256.
    """

    root: Path
    files: Files
    privileged: bool
    run: Callable[[Command], Ended] = run
    step: Step = no_step
    kept: Callable[[str], bytes]

    @property
    def running(self) -> bool:
        """Whether this is the machine that the host runs on."""
        return self.root == Path("/")
