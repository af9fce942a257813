"""Joining a mesh and leaving it, as a node or a builder, with what that needs of this process and machine."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from mesh_cli.exits import Exit, Stop

if TYPE_CHECKING:
    from mesh_adapters.broker.address import RabbitAddress
    from mesh_adapters.broker.credential import Credential as Credential
    from mesh_adapters.broker.credential import Role as Role
    from mesh_adapters.host.machine import Machine
    from mesh_adapters.own_unit import OwnUnit

_WHO_INVITES = {"node": "mesh node invite NODE", "builder": "mesh builder invite NAME"}
_NOT_JOINED = {"node": "this machine has not joined a mesh", "builder": "no builder has joined a mesh here"}


def role_called(name: str) -> Role:
    """The role of that name: `node` or `builder`."""
    from mesh_adapters.broker.credential import Role

    return Role(name)


def invitation(file: str, role: Role) -> Credential:
    """The invitation in a file. Stops where it is none, or for another program, or others may read it."""
    from mesh_adapters.broker.credential import CredentialError, read_credential

    try:
        return read_credential(file, role)
    except CredentialError as error:
        raise Stop(Exit.FAILED, "bad-invitation", str(error), {"file": file}) from None


def joined_as(place: Path, role: Role) -> str | None:
    """As whom somebody joined here; None where nobody did, or with something that is of no use."""
    from mesh_adapters.broker.credential import CredentialError
    from mesh_adapters.broker.joined import joined_as as joined

    try:
        credential = joined(place, role)
    except CredentialError:
        return None
    return None if credential is None else credential.name


def see_the_broker(credential: Credential) -> None:
    """See that the broker lets this one in. Raises `BrokerOutage`s, and stops with what they mean here."""
    from mesh_adapters.broker.joined import see_the_broker as see
    from mesh_cli.outages import broker_told
    from mesh_core.ports import BrokerOutage, BrokerRefused, Refused

    try:
        see(credential)
    except BrokerOutage as outage:
        stop = broker_told(outage)
        lines = [*stop.lines]
        if isinstance(outage, BrokerRefused) and outage.what is Refused.CREDENTIALS:
            lines.append(f"  this invitation was ended by a newer one, or its {credential.role} was shut out")
        lines.append("nothing was changed here; the invitation can be used again")
        raise Stop(stop.exit_code, stop.code, lines, stop.facts) from None


def keep_credential(place: Path, credential: Credential) -> str:
    """Put the credential in its place; where that is."""
    from mesh_adapters.broker.joined import keep_credential as keep

    try:
        keep(place, credential)
    except OSError as error:
        line = f"the credential cannot be kept: {words_of(error)}; nothing was changed here"
        raise Stop(Exit.FAILED, "unwritable-credential", line) from None
    return str(place)


def drop(places: Iterable[Path]) -> None:
    """Take the credential off, and what was kept with it."""
    from mesh_adapters.broker.joined import drop as take_off

    try:
        take_off(places)
    except OSError as error:
        line = f"the credential cannot be removed: {words_of(error)}"
        raise Stop(Exit.FAILED, "unwritable-credential", line) from None


def reached(place: Path, role: Role, state: Path) -> tuple[str, RabbitAddress]:
    """As whom this program speaks, and how it reaches its broker. Stops where it did not join."""
    from mesh_adapters.broker.credential import (
        CredentialError,
        CredentialMissing,
        read_credential,
        to_address,
    )

    try:
        found = read_credential(place, role)
        return found.name, to_address(found, state)
    except CredentialMissing as error:
        lines = [
            f"{_NOT_JOINED[role]}: {error}",
            f"  `{_WHO_INVITES[role]}` on the control plane, then `{role.program} join FILE` here",
        ]
        raise Stop(Exit.OUT_OF_REACH, "no-credential", lines) from None
    except CredentialError as error:
        raise Stop(Exit.FAILED, "bad-credential", str(error)) from None
    except OSError as error:
        line = f"{state} cannot be written: {error.strerror}"
        raise Stop(Exit.OUT_OF_REACH, "unwritable-state", line) from None


def starts_units(root: Path) -> bool:
    """Whether there is a systemd that would run the program here."""
    from mesh_adapters.own_unit import has_systemd

    return root == Path("/") and has_systemd()


def put_unit(role: Role, *, start: bool) -> None:
    """Write the unit and start it. Stops where systemd does not: the machine has joined all the same."""
    unit = _unit_of(role)
    try:
        failed = unit.put(_own_place(role.program), _this_machine(), start=start)
        why = None if failed is None else failed.why
    except OSError as error:
        why = words_of(error)
    if why is not None:
        lines = [
            f"{unit.name} does not run: {why}",
            "  the machine has joined; `systemctl start` tries again",
        ]
        raise Stop(Exit.SOME_REFUSED, "not-started", lines)


def take_unit_off(role: Role, still: str) -> bool:
    """Stop the unit and take it away: whether there was one. `still` is what was not done where it stays."""
    unit = _unit_of(role)
    if not unit.is_there():
        return False
    try:
        failed = unit.take_off(_this_machine())
        why = None if failed is None else failed.why
    except OSError as error:
        why = words_of(error)
    if why is not None:
        raise Stop(Exit.FAILED, "not-stopped", f"{unit.name} cannot be taken off: {why}; {still}")
    return True


def drop_file(file: str) -> bool:
    """Take the used invitation away: whether it is gone."""
    try:
        Path(file).unlink(missing_ok=True)
    except OSError:
        return False
    return True


def is_the_credential(place: Path, file: str) -> bool:
    """Whether that file is the credential itself, in its place."""
    return place.exists() and Path(file).exists() and place.samefile(file)


def words_of(error: OSError) -> str:
    """What the system says, with the file where it names one."""
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error)


def _unit_of(role: Role) -> OwnUnit:
    if role == "builder":
        from mesh_adapters.build.unit import UNIT as OF_BUILDER

        return OF_BUILDER
    from mesh_adapters.host.unit import UNIT as OF_HOST

    return OF_HOST


def _this_machine() -> Machine:
    from mesh_adapters.host.machine import machine_at

    return machine_at(Path("/"))


def _own_place(program: str) -> str:
    """The file that starts this program, for systemd to start it."""
    for place in (Path(sys.argv[0]), Path(sys.executable).with_name(program)):
        if place.name == program and place.is_file():
            return str(place.absolute())
    found = shutil.which(program)
    if found is None:
        line = f"the program {program} is not found, so no unit can start it; --no-start joins without one"
        raise Stop(Exit.FAILED, "no-program", line)
    return found
