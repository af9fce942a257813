"""The machine's part of the overlay kept as it is declared, with a change that is tried first.

What the host made is in its record, and taken off again when it is declared no longer, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from attrs import evolve, field, frozen

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay.finding import find
from mesh_adapters.host.overlay.key import Keys, NoKey
from mesh_adapters.host.overlay.making import Making
from mesh_adapters.host.overlay.record import Record, RecordError, drop_record, read_record, write_record
from mesh_adapters.host.overlay.trial import MINUTE
from mesh_core.explain import overlay as say
from mesh_core.model.network import DeclaredNetwork

Reach = Callable[[], bool]
"""Whether the broker is reached now: something is sent to it, and it says that it has it, in time."""


def _lines(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(given))


@frozen(kw_only=True)
class Kept:
    """How it stands: what failed and what is worth a word, in sentences; whether a change was put right.

    `unsettled` is whether a later look may find more to do, though nothing else is declared. `untried` is
    whether a change was made without a broker that could have been lost by it.
    """

    failed: tuple[str, ...] = field(default=(), converter=_lines)
    notes: tuple[str, ...] = field(default=(), converter=_lines)
    put_right: bool = False
    unsettled: bool = False
    untried: bool = False


WELL: Final = Kept()
"""All is as declared, or nothing is."""


class Keeping:
    """One machine's part. `find` says where endpoints are."""

    def __init__(self, machine: Machine, find: Callable[[Iterable[str]], dict[str, str]] = find) -> None:
        self._machine = machine
        self._keys = Keys(machine)
        self._find = find
        self._looked = False
        """Whether it was seen to before: a machine that was restarted has no interface, which is no news."""

    @property
    def key(self) -> str | None:
        """The public key, if this machine can have one. Raises `OSError` where it cannot be kept."""
        found = self._keys.public()
        return None if isinstance(found, NoKey) else found

    def declared(
        self,
        network: DeclaredNetwork | None,
        generation: int,
        *,
        hosts_elsewhere: bool,
        reached_before: Reach | None,
        reached_again: Reach | None,
    ) -> Kept:
        """Make it what a generation declares. A change is tried, where the broker was in reach before it.

        `hosts_elsewhere` is whether the file of names is a module's, or still is. Whoever has no broker to
        ask gives None: then nothing is tried, and what is being tried stays so.
        """
        if not self._machine.running:
            return Kept(notes=[say.elsewhere()]) if network is not None else WELL

        def seen_to(record: Record) -> Kept:
            record = self._taken_up(record, reached_again, hosts_elsewhere)
            if record.undone == generation:
                return self._kept_up(record, hosts_elsewhere, say.undone(generation, MINUTE))
            if network == record.network:
                return self._kept_up(self._keep(evolve(record, undone=None)), hosts_elsewhere)
            change = evolve(record, before=record.network, network=network, undone=None)
            if reached_before is not None and reached_again is not None and reached_before():
                change = evolve(change, trying=generation)
                return self._tried_first(self._keep(change), reached_again, hosts_elsewhere)
            kept = self._made(self._keep(evolve(change, trying=None)), hosts_elsewhere)
            return evolve(kept, untried=True)

        return self._with_record(seen_to)

    def look(self, *, hosts_elsewhere: bool) -> Kept:
        """Put right what somebody changed, and what went with a restart of the machine."""
        if not self._machine.running:
            return WELL

        def seen_to(record: Record) -> Kept:
            undone = [] if record.undone is None else [say.undone(record.undone, MINUTE)]
            return self._kept_up(record, hosts_elsewhere, *undone)

        return self._with_record(seen_to)

    def leave(self) -> Kept:
        """Nothing of it is here any more, but for the key. A record that cannot be read keeps nobody."""
        if not self._machine.running:
            return WELL

        def gone(record: Record) -> Kept:
            left = evolve(record, network=None, before=record.network, trying=None)
            kept = self._made(self._keep(left), hosts_elsewhere=False)
            if not kept.failed:
                drop_record(self._machine.state)
            return kept

        # What has our key or our marks goes, and what has not stays.
        return self._with_record(gone, where_damaged=Record(named=True))

    def _with_record(self, see_to: Callable[[Record], Kept], where_damaged: Record | None = None) -> Kept:
        try:
            return see_to(self._record(where_damaged))
        except RecordError as error:
            return Kept(failed=[say.record_unusable(str(error))])
        except OSError as error:
            return Kept(failed=[say.record_unwritable(error.strerror or str(error))])

    def _record(self, where_damaged: Record | None) -> Record:
        """What is kept; with the other in its place where that cannot be used."""
        try:
            return read_record(self._machine.state)
        except RecordError:
            if where_damaged is None:
                raise
            write_record(self._machine.state, where_damaged)
            return where_damaged

    def _keep(self, record: Record) -> Record:
        """Keep what is declared and tried; what was made is noted where it is made."""
        was = read_record(self._machine.state)
        now = evolve(
            was,
            network=record.network,
            before=record.before,
            trying=record.trying,
            undone=record.undone,
        )
        if now != was:
            write_record(self._machine.state, now)
        return record

    def _taken_up(self, record: Record, reached_again: Reach | None, hosts_elsewhere: bool) -> Record:
        """A trial that somebody was killed in is gone on with: from now on there is another minute."""
        if record.trying is None or reached_again is None:
            return record
        kept = self._made(record, hosts_elsewhere)
        return self._tried(record, kept, reached_again, hosts_elsewhere)

    def _tried_first(self, record: Record, reached_again: Reach, hosts_elsewhere: bool) -> Kept:
        """Make it so, and keep to it only where the broker is reached after that."""
        kept = self._made(record, hosts_elsewhere)
        record = self._tried(record, kept, reached_again, hosts_elsewhere)
        if record.undone is None:
            return kept
        return self._kept_up(record, hosts_elsewhere, say.undone(record.undone, MINUTE))

    def _tried(self, record: Record, kept: Kept, reached_again: Reach, hosts_elsewhere: bool) -> Record:
        """What holds after a trial: the change, or what was before. `kept` is what came of the change."""
        if reached_again():
            return self._keep(evolve(record, trying=None, before=record.before if kept.failed else None))
        back = evolve(record, network=record.before, before=record.network, undone=record.trying, trying=None)
        self._made(self._keep(back), hosts_elsewhere)
        return evolve(back, before=read_record(self._machine.state).before)

    def _kept_up(self, record: Record, hosts_elsewhere: bool, *failed: str) -> Kept:
        kept = self._made(record, hosts_elsewhere, changes_are_news=False)
        return evolve(kept, failed=(*failed, *kept.failed))

    def _made(self, record: Record, hosts_elsewhere: bool, *, changes_are_news: bool = True) -> Kept:
        """Make it so, as far as it goes; `changes_are_news` is whether a change is no surprise."""
        made = Making(self._machine, self._keys, self._find).make(
            record.network, record.before or record.network, hosts_elsewhere
        )
        if not made.failed and record.trying is None and record.before is not None:
            self._keep(evolve(record, before=None))
        drifted = made.changed and self._looked and not changes_are_news
        self._looked = self._looked or not made.failed
        notes = [*made.notes, *([say.put_right()] if drifted else [])]
        return Kept(failed=made.failed, notes=notes, put_right=drifted, unsettled=made.unsettled)
