"""The one place of `mesh-host` that names concrete adapters: the machine, its journal, kinds and probes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mesh_cli.exits import Exit, Stop

if TYPE_CHECKING:
    from mesh_adapters.broker.address import RabbitAddress
    from mesh_adapters.host.agent.loop import Agent as Agent
    from mesh_adapters.host.applied import Applied
    from mesh_adapters.host.applying import Decided as Decided
    from mesh_adapters.host.applying import Host as Host
    from mesh_adapters.host.journal import Journal as Journal
    from mesh_adapters.host.overlay.keeping import Kept

_PATIENCE = 1.0
"""Seconds to wait for the journal: somebody may just be looking at it."""


def privileged() -> bool:
    """Whether owners can be given, and the machine itself changed."""
    return os.geteuid() == 0


def journal_of(root: Path) -> Path:
    """Where the journal is."""
    from mesh_adapters.host.own_place import PLACE

    return root / PLACE


def journal_fault(error: Exception) -> str | None:
    """The code of what keeps a journal from being used; None for anything else."""
    from mesh_adapters.host.journal import JournalBusy, JournalError

    if isinstance(error, JournalBusy):
        return "journal-busy"
    return "journal" if isinstance(error, JournalError) else None


@contextmanager
def journal_looked_at(root: Path) -> Iterator[Journal]:
    """The journal, to be read only: nothing is made or changed. Raises `JournalError`."""
    from mesh_adapters.host.peeking import peek

    with _closed_in_the_end(lambda: peek(journal_of(root)), root) as journal:
        yield journal


@contextmanager
def journal_at_work(root: Path) -> Iterator[Journal]:
    """The journal, held as long as this lasts. Raises `JournalError`."""
    with _closed_in_the_end(lambda: _opened(journal_of(root)), root) as journal:
        yield journal


@contextmanager
def _closed_in_the_end(get: Callable[[], Journal], root: Path) -> Iterator[Journal]:
    import sqlite3

    from mesh_adapters.host.journal import JournalError

    journal = get()
    try:
        yield journal
    except sqlite3.Error as error:
        line = f"the journal in {journal_of(root)} cannot be used any more: {error}"
        raise JournalError(
            f"{line}. What was done until then stands in it, and the next run goes on"
        ) from None
    finally:
        journal.close()


def _opened(directory: Path) -> Journal:
    from mesh_adapters.host.journal import Journal, JournalBusy

    until = time.monotonic() + _PATIENCE
    while True:
        try:
            return Journal.open(directory)
        except JournalBusy:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


def put_aside(root: Path) -> Path | None:
    """Move the journal away, damaged or not: to which folder; None where there is none.

    Raises `JournalError`.
    """
    from mesh_adapters.host.anew import put_aside as move

    return move(journal_of(root))


def host(root: Path, journal: Journal) -> Host:
    """This machine, or the root directory that stands for one, with everything that it knows.

    What was imported by then stays, so the garbage collector need not go through it again.
    """
    from mesh_adapters.host.applying import Host
    from mesh_adapters.host.machine import machine_at
    from mesh_adapters.host.memory import collect_less
    from mesh_adapters.host.registry import known_kinds

    kinds = known_kinds()
    collect_less()
    return Host(machine=machine_at(root, kept=journal.kept), journal=journal, kinds=kinds)


def decide(content: bytes, name: str, host: Host) -> Decided:
    """What a declaration's bytes ask for. Stops where they are none, or it is not taken."""
    from mesh_adapters.host.applying import Decided, Malformed
    from mesh_adapters.host.applying import decide as decide_on
    from mesh_core.explain.taking import not_taken, not_taken_to_data

    found = decide_on(content, host)
    if isinstance(found, Decided):
        return found
    if isinstance(found, Malformed):
        from mesh_cli.reading import malformed

        raise malformed(name, found.faults)
    cause, *would_do = not_taken(found)
    facts = not_taken_to_data(found)
    lines = [f"refused: {cause}", *(f"  {line}" for line in would_do), "nothing was changed"]
    raise Stop(Exit.REFUSED, facts.pop("code"), lines, facts)


def planned(decided: Decided) -> dict[str, Any]:
    """What would be done, as plain data."""
    from mesh_adapters.host.status import action_to_data, trouble_to_data

    return {
        "node": decided.declaration.node,
        "generation": decided.declaration.generation,
        "dry_run": True,
        "actions": [
            action_to_data(action, decided.gathered.modules(action.identity)) for action in decided.actions
        ],
        "troubles": [trouble_to_data(trouble) for trouble in decided.gathered.troubles],
    }


def planned_with_differences(decided: Decided, host: Host, *, private: bool) -> dict[str, Any]:
    """The same, each change of a file with its difference."""
    from mesh_adapters.host.differing import differences
    from mesh_adapters.host.overlay.by_hand import would

    plan, found = planned(decided), differences(decided, host, private=private)
    plan |= {"network": list(told)} if (told := would(decided, host)) else {}
    for action in plan["actions"]:
        if action["identity"] in found:
            action["difference"] = found[action["identity"]].as_data()
    return plan


def same_again(content: bytes, host: Host) -> dict[str, Any] | None:
    """What came of it, as plain data, where the same was applied before and everything is as it was left."""
    from mesh_adapters.host.applying import unchanged
    from mesh_adapters.host.overlay.by_hand import keep_up

    applied = unchanged(content, host)
    return None if applied is None else _with_network(_outcome(applied), keep_up(host))


def do(
    decided: Decided, host: Host, watch: Callable[[dict[str, Any]], None], *, with_network: bool = True
) -> dict[str, Any]:
    """Do what was decided: what came of it, as plain data; `watch` gets each action when it is done.

    The network is left as it is where it is not to be done `with_network`. Raises `JournalError`, and
    `KeyboardInterrupt` where somebody wanted to stop before the last action.
    """
    from mesh_adapters.host.applying import Stopped, apply_until
    from mesh_adapters.host.overlay.by_hand import make as make_network
    from mesh_adapters.host.status import event_to_data
    from mesh_cli.host.stopping import between

    network = make_network(decided, host) if with_network else None
    with between() as asked_to_stop:
        applied = apply_until(decided, host, asked_to_stop, lambda event: watch(event_to_data(event)))
    if isinstance(applied, Stopped):
        raise KeyboardInterrupt
    return _outcome(applied) if network is None else _with_network(_outcome(applied), network)


def _outcome(applied: Applied) -> dict[str, Any]:
    from mesh_adapters.host.status import status_of

    return status_of(applied) | {"changed": applied.changed}


def _with_network(outcome: dict[str, Any], kept: Kept) -> dict[str, Any]:
    """The outcome; a network that could not be made is a part that failed."""
    told = [*kept.failed, *kept.notes]
    state = {"state": "failed"} if kept.failed else {}
    return outcome | state | ({"network": told} if told else {})


def network_of(root: Path) -> dict[str, Any] | None:
    """How it stands with the machine's part of the overlay, as plain data; None where it has none."""
    from mesh_adapters.host.machine import machine_at
    from mesh_adapters.host.overlay.standing import standing

    return standing(machine_at(root))


def probed() -> dict[str, Any]:
    """What this machine has: the report document."""
    from mesh_adapters.host.machine import machine_at
    from mesh_adapters.host.probe import known_probes, probe_all, report_to_data

    return dict(report_to_data(probe_all(known_probes(), machine_at(Path("/")))))


def daemon(
    root: Path, *, every: float, say: Callable[[str], None], heard: Callable[[dict[str, Any]], None]
) -> Agent:
    """The daemon of this machine, over the broker that its credential names. Stops where it has none.

    `heard` gets each report as plain data. What was imported by then stays, as with `host`.
    """
    from mesh_adapters.broker.opening import open_host
    from mesh_adapters.host.agent.loop import Agent
    from mesh_adapters.host.memory import collect_less
    from mesh_adapters.host.notify import Notifier
    from mesh_adapters.host.registry import known_kinds
    from mesh_core.wire.said import report_to_data

    node, address = credential(root)
    broker = open_host(address, node)
    kinds = known_kinds()
    collect_less()
    return Agent(
        node=node,
        root=root,
        connect=lambda: broker,
        every=every,
        say=say,
        heard=lambda report: heard(report_to_data(report)),
        notifier=Notifier(),
        kinds=kinds,
    )


def credential(root: Path) -> tuple[str, RabbitAddress]:
    """Which node this machine is, and how it reaches its broker. Stops where it did not join."""
    from mesh_cli.wiring_joining import reached, role_called

    node = role_called("node")
    return reached(root / node.place, node, journal_of(root))
