"""The machine's part of the overlay kept as it is declared, with a change that is tried first.

What the host made is in its record, and taken off again when it is declared no longer, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from attrs import evolve, field, frozen

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay import hosts, interface
from mesh_adapters.host.overlay.finding import find
from mesh_adapters.host.overlay.interface import Trouble
from mesh_adapters.host.overlay.key import public_key
from mesh_adapters.host.overlay.record import Record, RecordError, drop_record, read_record, write_record
from mesh_adapters.host.overlay.trial import MINUTE
from mesh_core.explain import overlay as say
from mesh_core.model.network import DeclaredNetwork

Reach = Callable[[], bool]
"""Whether the broker is reached now: something is sent to it, and it says that it has it, in time."""


def _lines(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(given)


@frozen(kw_only=True)
class Kept:
    """How it stands: what failed and what is worth a word, in sentences; whether a change was put right."""

    failed: tuple[str, ...] = field(default=(), converter=_lines)
    notes: tuple[str, ...] = field(default=(), converter=_lines)
    put_right: bool = False


WELL: Final = Kept()
"""All is as declared, or nothing is."""


class Keeping:
    """One machine's part. `find` says where endpoints are."""

    def __init__(self, machine: Machine, find: Callable[[Iterable[str]], dict[str, str]] = find) -> None:
        self._machine = machine
        self._find = find
        self._key: str | None = None
        self._looked = False
        """Whether it was seen to before: a machine that was restarted has no interface, which is no news."""

    @property
    def key(self) -> str | None:
        """The public key, if this machine can have one. Raises `OSError` where it cannot be kept."""
        if self._key is None:
            self._key = public_key(self._machine)
        return self._key

    def declared(
        self,
        network: DeclaredNetwork | None,
        generation: int,
        *,
        hosts_declared: bool,
        reached_before: Reach,
        reached_again: Reach,
    ) -> Kept:
        """Make it what a generation declares. A change is tried, where the broker was in reach before it.

        `hosts_declared` is whether a module has the file of names for itself.
        """
        if not self._machine.running:
            return Kept(notes=[say.elsewhere()]) if network is not None else WELL
        with self._record() as (record, kept):
            if record is None:
                return kept
            record = self._taken_up(record, reached_again)
            if record.undone == generation:
                return self._kept_up(record, hosts_declared, say.undone(generation, MINUTE))
            if network == record.network:
                return self._kept_up(self._keep(evolve(record, undone=None)), hosts_declared)
            tries = reached_before()
            trying = generation if tries else None
            record = evolve(record, before=record.network, network=network, trying=trying, undone=None)
            self._keep(record)
            kept = self._made(record, hosts_declared)
            if not tries:
                self._keep(record.settled())
                return kept
            record = self._tried(record, reached_again)
            if record.undone is None:
                return kept
            return self._kept_up(record, hosts_declared, say.undone(generation, MINUTE))

    def look(self, *, hosts_declared: bool) -> Kept:
        """Put right what somebody changed, and what went with a restart of the machine."""
        with self._record() as (record, kept):
            return kept if record is None else self._kept_up(record, hosts_declared)

    def leave(self) -> Kept:
        """Nothing of it is here any more, but for the key."""
        with self._record() as (record, kept):
            if record is None:
                return kept
            kept = self._made(evolve(record, network=None, before=record.network), False)
            if not kept.failed:
                drop_record(self._machine.state)
            return kept

    @contextmanager
    def _record(self) -> Iterator[tuple[Record | None, Kept]]:
        """What is kept; None where it cannot be used, and then why."""
        try:
            record = read_record(self._machine.state)
        except RecordError as error:
            yield None, Kept(failed=[say.record_unusable(str(error))])
            return
        yield record, WELL

    def _keep(self, record: Record) -> Record:
        """Keep what is declared and tried; what was made is noted where it is made."""
        self._remember(
            network=record.network, before=record.before, trying=record.trying, undone=record.undone
        )
        return record

    def _taken_up(self, record: Record, reached_again: Reach) -> Record:
        """A trial that somebody was killed in is gone on with: from now on there is another minute."""
        if record.trying is None:
            return record
        self._made(record, False)
        return self._tried(record, reached_again)

    def _tried(self, record: Record, reached_again: Reach) -> Record:
        """What holds after a trial: the change, or what was before."""
        if reached_again():
            return self._keep(record.settled())
        back = evolve(record, network=record.before, before=record.network, undone=record.trying, trying=None)
        self._keep(back)
        self._made(back, False)
        return self._keep(back.settled())

    def _kept_up(self, record: Record, hosts_declared: bool, *failed: str) -> Kept:
        kept = self._made(record, hosts_declared, changes_are_news=False)
        return evolve(kept, failed=(*failed, *kept.failed))

    def _made(self, record: Record, hosts_declared: bool, *, changes_are_news: bool = True) -> Kept:
        """Make it so, as far as it goes; `changes_are_news` is whether a change is no surprise."""
        try:
            changed, notes = self._interface(record)
        except Trouble as trouble:
            return Kept(failed=[str(trouble)])
        renamed, why = self._names(record, hosts_declared)
        drifted = (changed or renamed) and self._looked and not changes_are_news
        self._looked = True
        told = [*notes, *([say.put_right()] if drifted else []), *([why] if why else [])]
        return Kept(notes=told, put_right=drifted)

    def _interface(self, record: Record) -> tuple[bool, list[str]]:
        """Whether it was changed, and what is worth a word."""
        machine, network = self._machine, record.network
        if network is None:
            return self._no_interface(), []
        key = self.key
        if key is None:
            raise Trouble(say.no_tools() if machine.running else say.elsewhere())
        endpoints = [peer.endpoint for peer in network.peers if peer.endpoint is not None]
        found = self._find(endpoints)
        raised = self._raised(key)
        changed = interface.make_so(machine, network, record.before or record.network, key, found)
        self._forward(network)
        missing = [endpoint for endpoint in endpoints if endpoint not in found]
        return raised or changed, [say.not_found(missing)] if missing else []

    def _raised(self, key: str) -> bool:
        """See to it that there is a link, and that it is ours: whether it had to be made."""
        if interface.is_there(self._machine):
            ours = read_record(self._machine.state).raised
            seen = None if ours else interface.look(self._machine)
            if not ours and (seen is None or seen.wireguard.key != key):
                raise Trouble(say.not_ours(interface.NAME))
            return False
        self._remember(raised=True)
        interface.raise_it(self._machine)
        return True

    def _no_interface(self) -> bool:
        if not read_record(self._machine.state).raised:
            return False
        self._forward(None)
        interface.take_away(self._machine)
        self._remember(raised=False)
        return True

    def _forward(self, network: DeclaredNetwork | None) -> None:
        was = read_record(self._machine.state).forwarding
        now = interface.forward(self._machine, network, was)
        if now != was:
            self._remember(forwarding=now)

    def _names(self, record: Record, hosts_declared: bool) -> tuple[bool, str | None]:
        names = record.network.names if record.network is not None else ()
        if hosts_declared:
            return False, say.names_declared() if names else None
        if not names and not read_record(self._machine.state).named:
            return False, None
        self._remember(named=bool(names))
        return hosts.write_names(self._machine, tuple((node, address) for node, address in names))

    def _remember(self, **news: object) -> None:
        """Intent before the act: whatever was made is known to be ours."""
        was = read_record(self._machine.state)
        now = evolve(was, **news)  # type: ignore[arg-type]
        if now != was:
            write_record(self._machine.state, now)
