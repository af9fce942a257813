"""The broker with everything that it needs of this process: its address, and the file with the password."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mesh_cli.exits import Exit, Stop
from mesh_cli.settings import CREDENTIAL_VARIABLE, Named, broker_credential, broker_named

if TYPE_CHECKING:
    from mesh_adapters.broker import Address, RabbitAddress
    from mesh_adapters.broker.principals import Login
    from mesh_adapters.host.credential import Credential as Credential
    from mesh_core.ports import Accounts, Broker, Store


@contextmanager
def opened_broker(flag: str | None) -> Iterator[Broker]:
    """The control plane's end of the broker that the settings name. Raises `BrokerOutage`s; `main` tells."""
    from mesh_adapters.broker import MemoryAddress

    address = _named(broker_named(flag))
    with _opened(address if isinstance(address, MemoryAddress) else with_login(address, flag)) as opened:
        yield opened


@contextmanager
def _opened(address: Address) -> Iterator[Broker]:
    from mesh_adapters.broker import open_broker

    opened = open_broker(address)
    try:
        yield opened
    finally:
        opened.close()


def rabbit_named(flag: str | None) -> RabbitAddress:
    """The RabbitMQ that the settings name, without a password. Stops where it is none."""
    from mesh_adapters.broker import RabbitAddress

    address = _named(broker_named(flag))
    if not isinstance(address, RabbitAddress):
        line = f"{address} is inside one process, and has no accounts; name a RabbitMQ, amqp:// or amqps://"
        raise Stop(Exit.FAILED, "no-accounts", line)
    return address


def with_login(address: RabbitAddress, flag: str | None) -> RabbitAddress:
    """The same with the account and password of the credential file. Stops where there is none."""
    from attrs import evolve

    login = control_login()
    if login is None:
        lines = [
            f"there is no credential for {address}: {broker_credential()} is missing",
            f"  `mesh broker setup` makes it; {CREDENTIAL_VARIABLE} names another place",
        ]
        raise Stop(Exit.OUT_OF_REACH, "no-credential", lines)
    said = _account_in(broker_named(flag).url)
    if said not in (None, login.account):
        line = f"the broker's address says the account {said!r}, and {broker_credential()} has another"
        raise Stop(Exit.FAILED, "other-account", line)
    return evolve(address, account=login.account, password=login.password)


def control_login() -> Login | None:
    """The control plane's account; None where there is no credential file. Stops at one that is not fit."""
    from mesh_adapters.broker import BadAddress
    from mesh_adapters.broker.principals import read_login

    place = broker_credential()
    if not place.exists():
        return None
    found = read_login(str(place))
    if isinstance(found, BadAddress):
        raise Stop(Exit.FAILED, "bad-credential", found.why)
    return found


def account_named(flag: str | None) -> str:
    """How the control plane's account is to be called: as the broker's address says, else by its own name."""
    from mesh_adapters.broker.principals import CONTROL_ACCOUNT, NODE_ACCOUNTS

    account = _account_in(broker_named(flag).url) or CONTROL_ACCOUNT
    if account.startswith(NODE_ACCOUNTS) or ":" in account:
        line = f"{account!r} cannot be the control plane's account; leave it out of the broker's address"
        raise Stop(Exit.FAILED, "bad-account", line)
    return account


def opened_accounts(address: RabbitAddress, file: str) -> Accounts:
    """The broker's accounts, as the administrator of that file. Stops where the file is not fit."""
    from mesh_adapters.broker import BadAddress
    from mesh_adapters.broker.accounts import open_accounts
    from mesh_adapters.broker.principals import read_administrator

    administrator = read_administrator(file)
    if isinstance(administrator, BadAddress):
        raise Stop(Exit.FAILED, "bad-credential", administrator.why)
    return open_accounts(administrator, address.virtual_host)


def set_up(
    address: RabbitAddress, flag: str | None, accounts: Accounts, nodes: Sequence[str]
) -> dict[str, Any]:
    """Make the broker ready: what is there now, and what of it was not before, as plain data.

    The credential is written first: whatever this is stopped at, the next time goes on with it.
    """
    from mesh_adapters.broker.inviting import make_queues, make_ready

    login = control_login()
    written = login is None
    login = login or _new_login(account_named(flag))
    reached = with_login(address, flag)
    made = make_ready(accounts, login)
    with _opened(reached) as broker:
        make_queues(broker, nodes)
    return {
        "broker": str(address),
        "virtual_host": {"name": address.virtual_host, "made": made.virtual_host},
        "account": {"name": login.account, "made": made.account},
        "credential": {"file": str(broker_credential()), "made": written},
        "nodes": list(nodes),
    }


def invitation(node: str, address: RabbitAddress, reach: str | None) -> Credential:
    """What a machine is given to be this node: where the broker is, and an account with a new password.

    `reach` is the broker's address as the node has to say it, where that is another one than here.
    """
    from mesh_adapters.broker import RabbitAddress
    from mesh_adapters.broker.principals import account_of
    from mesh_adapters.host.credential import Credential

    said = address if reach is None else _named(Named(reach, "--reach", Path()))
    if not isinstance(said, RabbitAddress):
        raise Stop(Exit.USAGE, "bad-address", "--reach: name a RabbitMQ, amqp:// or amqps://")
    return Credential(
        node=node,
        host=said.host,
        port=said.port,
        account=account_of(node),
        password=_new_password(),
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
    from mesh_adapters.broker.principals import write_new
    from mesh_adapters.host.credential import credential_to_bytes

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
    from mesh_adapters.host.credential import credential_to_bytes

    return credential_to_bytes(invited).decode().rstrip("\n")


def invite(invited: Credential, store: Store, broker: Broker, accounts: Accounts) -> bool:
    """Make the invitation good at the broker: whether it ended an older one."""
    from mesh_adapters.broker.inviting import invite as invite_at

    return invite_at(invited.node, invited.password, store, broker, accounts)


def revoke(node: str, accounts: Accounts) -> None:
    """Shut a node out. Stops where it had no account, with those that have one and are called alike."""
    from mesh_adapters.broker.principals import account_of, nodes_among
    from mesh_core.explain.words import near

    if accounts.revoke(account_of(node)):
        return
    meant = near(node, list(nodes_among(accounts.names())))
    hint = f"; near: {', '.join(meant)}" if meant else ""
    line = f"{node} has no account at the broker, and nobody is connected as {node}{hint}"
    raise Stop(Exit.FAILED, "no-such-account", line, {"name": node, "near": meant})


def _certificates(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        text = Path(path).read_text("ascii")
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no PEM text"
        raise Stop(Exit.FAILED, "unreadable-file", f"{path} cannot be read: {why}", {"file": path}) from None
    return text


def _new_password() -> str:
    import secrets

    return secrets.token_urlsafe(32)


def _new_login(account: str) -> Login:
    from mesh_adapters.broker.principals import Login, write_login

    login, place = Login(account=account, password=_new_password()), broker_credential()
    try:
        write_login(str(place), login)
    except OSError as error:
        line = f"{place} cannot be written: {error.strerror or error}; nothing was changed"
        raise Stop(Exit.FAILED, "unwritable-credential", line) from None
    return login


def _named(said: Named) -> Address:
    """The address that was said; a password is kept out of it, and out of what is told."""
    from attrs import evolve

    from mesh_adapters.broker import BadAddress, MemoryAddress, has_password, parse

    flag = said.where.startswith("--")
    usage = Exit.USAGE if flag else Exit.FAILED
    if has_password(said.url):
        lines = [
            f"{said.where} has a password, which others can see there",
            f'  put it in {broker_credential()} (mode 0600), as {{"account": ..., "password": ...}}',
            "  `mesh broker setup` writes that file; the address is then amqp://HOST or amqps://HOST",
        ]
        raise Stop(usage, "password-in-address", lines)
    address = parse(said.url)
    if isinstance(address, BadAddress):
        raise Stop(usage, "bad-address", f"{said.where}: {address.why}")
    if isinstance(address, MemoryAddress):
        return address
    # The password that the parser puts where none was said is nobody's here.
    ca = None if address.ca is None else str(said.folder / address.ca)
    return evolve(address, password="", ca=ca)


def _account_in(url: str) -> str | None:
    from urllib.parse import unquote, urlsplit

    name = urlsplit(url).username
    return unquote(name) if name else None
