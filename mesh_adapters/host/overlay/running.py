"""Commands of the network: what they say, or that something cannot be made so."""

from __future__ import annotations

from typing import Final

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.machine import Machine
from mesh_core.explain import overlay as say

SECONDS: Final = 20.0


class Trouble(Exception):
    """Something of the network cannot be made so, in a sentence."""


def run(machine: Machine, *words: str) -> Ended:
    """Run a command to its end."""
    # By hand: whoever only asks how it stands need not load what puts longer commands together.
    return machine.run(Command(argv=words, seconds=SECONDS))


def well(machine: Machine, *words: str) -> Ended:
    """Run a command that has to end well. Raises `Trouble`."""
    ended = run(machine, *words)
    if not ended.well:
        raise Trouble(say.cannot(" ".join(words), ended.words))
    return ended
