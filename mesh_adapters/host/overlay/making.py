"""What the overlay needs on a machine, made so as far as it goes: the interface, its peers, the names.

It is noted in the record before it is made: whatever is there of it is known to be ours, however a run ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import evolve, field, frozen

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay import hosts, interface
from mesh_adapters.host.overlay.configuration import SeenInterface, settings, to_be_found
from mesh_adapters.host.overlay.forwarding import forward, of_the_machine
from mesh_adapters.host.overlay.interface import NAME, Link
from mesh_adapters.host.overlay.key import Keys, NoKey
from mesh_adapters.host.overlay.record import Raised, Record, read_record, write_record
from mesh_adapters.host.overlay.running import Trouble, Unfinished, well
from mesh_adapters.host.probes.looking import text
from mesh_core.explain import overlay as say
from mesh_core.model.network import DeclaredNetwork

_BOOT = "proc/sys/kernel/random/boot_id"


def _lines(given: Iterable[str]) -> tuple[str, ...]:
    return tuple(given)


@frozen(kw_only=True)
class Made:
    """Whether anything of what was told before was otherwise, what failed, what is worth a word.

    `unsettled` is whether a later look may find more to do.
    """

    changed: bool = False
    failed: tuple[str, ...] = field(default=(), converter=_lines)
    notes: tuple[str, ...] = field(default=(), converter=_lines)
    unsettled: bool = False


class Making:
    """One machine. `find` says where endpoints are."""

    def __init__(
        self, machine: Machine, keys: Keys, find: Callable[[Iterable[str]], Mapping[str, str]]
    ) -> None:
        self._machine = machine
        self._keys = keys
        self._find = find

    def make(
        self, network: DeclaredNetwork | None, told: DeclaredNetwork | None, hosts_elsewhere: bool
    ) -> Made:
        """Make it what `network` says; `told` is what it was told last.

        `hosts_elsewhere` is whether the file of names is a module's. Raises `OSError` where the record cannot
        be kept, and `RecordError`.
        """
        try:
            changed, missing = self._interface(network, told)
            failed = []
        except Trouble as trouble:
            changed, missing, failed = False, [], [str(trouble)]
        was_named = self._record().named
        nameless = hosts_elsewhere and network is not None and bool(network.names)
        named = self._names(network, hosts_elsewhere) if hosts_elsewhere or not failed else hosts.Named()
        failed += [] if named.failed is None else [named.failed]
        return Made(
            changed=changed or (named.changed and was_named and not hosts_elsewhere),
            failed=failed,
            notes=[*([say.not_found(missing)] if missing else []), *([say.names_elsewhere()] * nameless)],
            unsettled=bool(missing or failed or nameless),
        )

    def _interface(
        self, network: DeclaredNetwork | None, told: DeclaredNetwork | None
    ) -> tuple[bool, list[str]]:
        """Whether anything was changed, and the endpoints that were not found."""
        if network is None:
            return self._no_interface(), []
        key = self._key()
        link = interface.look(self._machine)
        inside = None if link is None else self._ours(link, key)
        raised = link is None or inside is None
        if link is None or inside is None:
            link, inside = self._raised(key)
        missing = self._peers(network, told, inside, key)
        # Where a peer is found changes by itself, and is nothing that anybody did.
        others = settings(network, inside, key, str(self._keys.place), {})
        addressed = interface.address(self._machine, network, link)
        forwards = forward(self._machine, network, dict(self._record().settings), self._remember_settings)
        return bool(raised or others or addressed or forwards), missing

    def _key(self) -> str:
        """The public key of this machine. Raises `Trouble` where it has none."""
        try:
            key = self._keys.public()
        except OSError as error:
            raise Trouble(say.key_unkept(error.strerror or str(error))) from error
        if isinstance(key, NoKey):
            raise Trouble(key.why)
        return key

    def _peers(
        self, network: DeclaredNetwork, told: DeclaredNetwork | None, inside: SeenInterface, key: str
    ) -> list[str]:
        """Have WireGuard know its peers; the endpoints that were not found."""
        wanted = to_be_found(network, told, inside)
        found = self._find(wanted) if wanted else {}
        for words in settings(network, inside, key, str(self._keys.place), found, told):
            well(self._machine, "wg", "set", NAME, *words)
        return [endpoint for endpoint in wanted if endpoint not in found]

    def _ours(self, link: Link, key: str | None) -> SeenInterface:
        """What is in a link of ours. Raises `Trouble` where it is somebody else's.

        It is ours where we raised just that one since the machine was started, or where it has our key.
        """
        raised = self._record().raised
        inside = interface.look_inside(self._machine)
        by_us = raised is not None and raised.boot == self._boot() and raised.index in (None, link.index)
        if inside is None or not (by_us or (key is not None and inside.key == key)):
            raise Trouble(say.not_ours(NAME, link.kind))
        self._remember(raised=Raised(boot=self._boot(), index=link.index))
        return inside

    def _raised(self, key: str) -> tuple[Link, SeenInterface]:
        """Raise the link, which is not there. Raises `Trouble`."""
        # What was set for one that is gone went with it.
        left = tuple(of_the_machine(self._settings()).items())
        self._remember(raised=Raised(boot=self._boot()), settings=left)
        try:
            interface.raise_it(self._machine)
        except Unfinished:
            raise  # one that comes a moment later is ours
        except Trouble:
            self._remember(raised=None)
            raise
        link = interface.look(self._machine)
        if link is None:
            self._remember(raised=None)
            raise Trouble(say.cannot(f"raise {NAME}", "it is gone again"))
        return link, self._ours(link, key)

    def _no_interface(self) -> bool:
        """Take away what is ours; what is somebody else's stays."""
        record = self._record()
        if record.raised is None and not record.named and not record.settings:
            return False
        changed = forward(self._machine, None, self._settings(), self._remember_settings)
        link = interface.look(self._machine)
        if link is not None and self._is_ours(link):
            interface.take_away(self._machine)
            changed = True
        self._remember(raised=None, settings=())
        return changed

    def _is_ours(self, link: Link) -> bool:
        if self._record().raised == Raised(boot=self._boot(), index=link.index):
            return True  # also where nobody can look into it any more
        try:
            key = self._key()
        except Trouble:
            key = None
        try:
            self._ours(link, key)
        except Trouble:
            return False
        return True

    def _names(self, network: DeclaredNetwork | None, hosts_elsewhere: bool) -> hosts.Named:
        """The block in the file of names. Where a module has that file for itself, our block goes first."""
        record = self._record()
        names = network.names if network is not None and not hosts_elsewhere else ()
        if not names and not record.named:
            return hosts.Named()
        made = record.file_made if record.named else not hosts.is_there(self._machine)
        self._remember(named=True, file_made=made)
        named = hosts.write_names(self._machine, names, ours=made)
        if not names and named.failed is None:
            self._remember(named=False, file_made=False)
        return named

    def _settings(self) -> dict[str, str]:
        """What settings were before they were ours; a restart of the machine has set them all anew."""
        record = self._record()
        restarted = record.raised is not None and record.raised.boot != self._boot()
        return {} if restarted else dict(record.settings)

    def _remember_settings(self, settings: Mapping[str, str]) -> None:
        self._remember(settings=tuple(settings.items()))

    def _remember(self, **news: object) -> None:
        """Intent before the act."""
        was = self._record()
        now = evolve(was, **news)  # type: ignore[arg-type]
        if now != was:
            write_record(self._machine.state, now)

    def _record(self) -> Record:
        return read_record(self._machine.state)

    def _boot(self) -> str:
        """Which start of the machine this is."""
        return text(self._machine.root / _BOOT) or ""
