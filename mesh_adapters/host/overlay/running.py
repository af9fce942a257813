"""Commands of the network: what they say, or that something cannot be made so."""

from __future__ import annotations

from typing import Final

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.machine import Machine
from mesh_core.explain import overlay as say

SECONDS: Final = 20.0


class Trouble(Exception):
    """Something of the network cannot be made so, in a sentence."""


class Unfinished(Trouble):
    """A command took too long, and what it began may go on without it."""


def run(machine: Machine, *words: str) -> Ended:
    """Run a command to its end."""
    # By hand: whoever only asks how it stands need not load what puts longer commands together.
    return machine.run(Command(argv=words, seconds=SECONDS))


def well(machine: Machine, *words: str) -> Ended:
    """Run a command that has to end well. Raises `Trouble`."""
    ended = run(machine, *words)
    if not ended.well:
        raise trouble(" ".join(words), ended)
    return ended


def trouble(what: str, ended: Ended) -> Trouble:
    """That a command did not end well."""
    told = say.cannot(what, ended.words)
    return Unfinished(told) if ended.code is None else Trouble(told)
