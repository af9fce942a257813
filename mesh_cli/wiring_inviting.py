"""Invitations with everything that they need of this process: the file they are written to, and the clock."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mesh_cli.exits import Exit, Stop
from mesh_cli.settings import Named
from mesh_cli.wiring import now, who
from mesh_cli.wiring_broker import address_said, new_password

if TYPE_CHECKING:
    from mesh_adapters.broker import RabbitAddress
    from mesh_adapters.broker.credential import Credential as Credential
    from mesh_core.ports import Accounts, Broker, Store


def invitation(role: str, name: str, address: RabbitAddress, reach: str | None) -> Credential:
    """What a machine is given to be this node or builder: where the broker is, and an account with a new
    password.

    `reach` is the broker's address as that machine has to say it, where that is another one than here.
    """
    from mesh_adapters.broker import RabbitAddress
    from mesh_adapters.broker.credential import Credential, Role

    said = address if reach is None else address_said(Named(reach, "--reach", Path()))
    if not isinstance(said, RabbitAddress):
        raise Stop(Exit.USAGE, "bad-address", "--reach: name a RabbitMQ, amqp:// or amqps://")
    return Credential(
        role=Role(role),
        name=name,
        host=said.host,
        port=said.port,
        account=_account_of(role, name),
        password=new_password(),
        virtual_host=address.virtual_host,
        tls=said.tls,
        ca=_certificates(said.ca or address.ca) if said.tls else None,
    )


@contextmanager
def written(invited: Credential, place: str) -> Iterator[None]:
    """The invitation in a file of its own, unless it is to be printed; gone again where this does not end
    well, since it serves nobody then.
    """
    if place == "-":
        yield
        return
    from mesh_adapters.broker.credential import credential_to_bytes
    from mesh_adapters.broker.principals import write_new

    try:
        write_new(place, credential_to_bytes(invited))
    except FileExistsError:
        line = f"{place} is there already, and was left as it is; --out names another"
        raise Stop(Exit.FAILED, "exists", line, {"file": place}) from None
    except OSError as error:
        line = f"{place} cannot be written: {error.strerror or error}; nobody was invited"
        raise Stop(Exit.FAILED, "unwritable-file", line, {"file": place}) from None
    try:
        yield
    except BaseException:
        Path(place).unlink(missing_ok=True)
        raise


def invitation_text(invited: Credential) -> str:
    """The invitation as it stands in its file."""
    from mesh_adapters.broker.credential import credential_to_bytes

    return credential_to_bytes(invited).decode().rstrip("\n")


def invite(invited: Credential, store: Store, broker: Broker, accounts: Accounts) -> bool:
    """Make the invitation good at the broker: whether it ended an older one."""
    from mesh_adapters.broker import inviting
    from mesh_adapters.broker.credential import Role

    if invited.role is Role.NODE:
        return inviting.invite(invited.name, invited.password, store, broker, accounts)
    return inviting.invite_builder(invited.name, invited.password, now(), store, broker, accounts)


def shut_out(role: str, name: str, accounts: Accounts) -> bool:
    """Shut a node or a builder out: whether it had an account."""
    return accounts.revoke(_account_of(role, name))


def forget_key(store: Store, node: str) -> bool:
    """Forget a node's key in the overlay, so that nobody is told of it any more: whether it had one."""
    from attrs import evolve

    from mesh_core.change import Attach
    from mesh_core.event import Event

    with store.writing() as session:
        known = session.mesh().node(node)
        if known is None or known.network.key is None:
            return False
        change = Attach(node=node, network=evolve(known.network, key=None))
        session.record(Event(at=now(), who=who(), command=f"mesh node revoke {node}", changes=[change]))
    return True


def no_account(role: str, name: str, accounts: Accounts) -> Stop:
    """There is no such account: said with those that there are and that are called alike."""
    from mesh_adapters.broker.principals import builders_among, nodes_among
    from mesh_core.explain.words import near

    among = nodes_among if role == "node" else builders_among
    meant = near(name, list(among(accounts.names())))
    hint = f"; near: {', '.join(meant)}" if meant else ""
    line = f"{name} has no account at the broker, and nobody is connected as {name}{hint}"
    return Stop(Exit.FAILED, "no-such-account", line, {"name": name, "near": meant})


def _account_of(role: str, name: str) -> str:
    from mesh_adapters.broker.principals import account_of, account_of_builder

    return account_of(name) if role == "node" else account_of_builder(name)


def _certificates(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        text = Path(path).read_text("ascii")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no PEM text"
        raise Stop(Exit.FAILED, "unreadable-file", f"{path} cannot be read: {why}", {"file": path}) from None
    return text
