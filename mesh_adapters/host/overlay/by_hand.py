"""The network of a declaration that somebody applies by hand: there is no broker that would be missed."""

from __future__ import annotations

from attrs import evolve

from mesh_adapters.host.applying import Decided, Host
from mesh_adapters.host.overlay import hosts
from mesh_adapters.host.overlay.interface import NAME
from mesh_adapters.host.overlay.keeping import Keeping, Kept
from mesh_adapters.host.overlay.record import RecordError, read_record
from mesh_core.explain import overlay as say


def make(decided: Decided, host: Host) -> Kept:
    """Make it what is declared, before anything else is."""
    declaration = decided.declaration
    kept = Keeping(host.machine).declared(
        declaration.network,
        declaration.generation,
        hosts_elsewhere=hosts.declared(declaration) or host.journal.owns(hosts.IDENTITY),
        reached_before=None,
        reached_again=None,
    )
    return evolve(kept, notes=(say.by_hand(), *kept.notes)) if kept.untried else kept


def keep_up(host: Host) -> Kept:
    """Put right what somebody changed, where the same is declared as before."""
    return Keeping(host.machine).look(hosts_elsewhere=host.journal.owns(hosts.IDENTITY))


def would(decided: Decided, host: Host) -> tuple[str, ...]:
    """What would become of it, in lines; nothing is changed."""
    declaration = decided.declaration
    if not host.machine.running:
        return (say.elsewhere(),) if declaration.network is not None else ()
    try:
        record = read_record(host.machine.state)
    except RecordError as error:
        return (say.record_unusable(str(error)),)
    if record.network == declaration.network or record.undone == declaration.generation:
        return ()
    network = declaration.network
    return (say.would_change(NAME, None if network is None else network.address),)
