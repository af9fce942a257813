"""Joining and leaving, with what they need of this process: the program's own place, and the machine."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mesh_cli.exits import Exit, Stop
from mesh_cli.host.wiring import journal_looked_at, journal_of

if TYPE_CHECKING:
    from mesh_adapters.host.credential import Credential as Credential
    from mesh_adapters.host.machine import Machine
    from mesh_cli.host.wiring import Journal

PROGRAM = "mesh-host"


def invitation(file: str) -> Credential:
    """The invitation in a file. Stops where it is none, or others may read it."""
    from mesh_adapters.host.credential import CredentialError, read_credential

    try:
        return read_credential(file)
    except CredentialError as error:
        raise Stop(Exit.FAILED, "bad-invitation", str(error), {"file": file}) from None


def other_node(root: Path, node: str) -> str | None:
    """Which other node this machine is; None where it is none, or that one. Raises `JournalError`."""
    from mesh_adapters.host.credential import CredentialError
    from mesh_adapters.host.joining import joined_as

    try:
        credential = joined_as(root)
    except CredentialError:
        credential = None  # it is of no use, and a new one takes its place
    with journal_looked_at(root) as journal:
        taken = journal.taken()
    names = [found.node for found in (credential, taken) if found is not None]
    return next((name for name in names if name != node), None)


def see_the_broker(credential: Credential) -> None:
    """See that the broker lets this node in. Raises `BrokerOutage`s, and stops with what they mean here."""
    from mesh_adapters.host.joining import see_the_broker as see
    from mesh_cli.outages import broker_told
    from mesh_core.ports import BrokerOutage, BrokerRefused, Refused

    try:
        see(credential)
    except BrokerOutage as outage:
        stop = broker_told(outage)
        lines = [*stop.lines]
        if isinstance(outage, BrokerRefused) and outage.what is Refused.CREDENTIALS:
            lines.append("  this invitation was ended by a newer one, or its node was shut out")
        lines.append("nothing was changed here; the invitation can be used again")
        raise Stop(stop.exit_code, stop.code, lines, stop.facts) from None


def keep_credential(root: Path, credential: Credential) -> str:
    """Put the credential in its place; where that is."""
    from mesh_adapters.host.joining import keep_credential as keep

    try:
        return str(keep(root, credential))
    except OSError as error:
        line = f"the credential cannot be kept: {_words(error)}; nothing was changed here"
        raise Stop(Exit.FAILED, "unwritable-credential", line) from None


def starts_units(root: Path) -> bool:
    """Whether there is a systemd that would run the host here."""
    from mesh_adapters.host.joining import has_systemd

    return root == Path("/") and has_systemd()


def put_unit(*, start: bool) -> None:
    """Write the unit and start it. Stops where systemd does not: the machine has joined all the same."""
    from mesh_adapters.host.joining import put_unit as put
    from mesh_adapters.host.unit import NAME

    try:
        failed = put(_own_place(), _this_machine(), start=start)
        why = None if failed is None else failed.why
    except OSError as error:
        why = _words(error)
    if why is not None:
        lines = [f"{NAME} does not run: {why}", "  the machine has joined; `systemctl start` tries again"]
        raise Stop(Exit.SOME_REFUSED, "not-started", lines)


def take_unit_off() -> bool:
    """Stop the unit and take it away: whether there was one."""
    from mesh_adapters.host.joining import has_unit
    from mesh_adapters.host.joining import take_unit_off as take_off
    from mesh_adapters.host.unit import NAME

    if not has_unit():
        return False
    try:
        failed = take_off(_this_machine())
        why = None if failed is None else failed.why
    except OSError as error:
        why = _words(error)
    if why is not None:
        raise Stop(Exit.FAILED, "not-stopped", f"{NAME} cannot be taken off: {why}; nothing was given back")
    return True


def drop_file(file: str) -> bool:
    """Take the used invitation away: whether it is gone."""
    try:
        Path(file).unlink(missing_ok=True)
    except OSError:
        return False
    return True


def is_credential_of(root: Path, file: str) -> bool:
    """Whether that file is the machine's own credential, in its place."""
    from mesh_adapters.host.credential import PLACE

    place = root / PLACE
    return place.exists() and Path(file).exists() and place.samefile(file)


def has_credential(root: Path) -> bool:
    """Whether this machine has joined."""
    from mesh_adapters.host.joining import has_credential as has

    return has(root)


def nothing_at_all(journal: Journal) -> bytes | None:
    """The declaration that gives everything back; None where nothing was ever taken."""
    from mesh_adapters.host.joining import nothing_at_all as declared

    taken = journal.taken()
    return None if taken is None else declared(taken)


def drop_credential(root: Path) -> None:
    """Take the credential off, and what the host kept for itself."""
    from mesh_adapters.host.joining import drop_credential as drop

    try:
        drop(root, journal_of(root))
    except OSError as error:
        line = f"the credential cannot be removed: {_words(error)}"
        raise Stop(Exit.FAILED, "unwritable-credential", line) from None


def _this_machine() -> Machine:
    from mesh_adapters.host.machine import machine_at

    return machine_at(Path("/"))


def _own_place() -> str:
    """The file that starts this program, for systemd to start it."""
    for place in (Path(sys.argv[0]), Path(sys.executable).with_name(PROGRAM)):
        if place.name == PROGRAM and place.is_file():
            return str(place.absolute())
    found = shutil.which(PROGRAM)
    if found is None:
        line = f"the program {PROGRAM} is not found, so no unit can start it; --no-start joins without one"
        raise Stop(Exit.FAILED, "no-program", line)
    return found


def _words(error: OSError) -> str:
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)
