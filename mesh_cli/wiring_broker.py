"""The broker with everything that it needs of this process: its address, and the file with the password."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mesh_cli.exits import Exit, Stop
from mesh_cli.settings import CREDENTIAL_VARIABLE, Named, broker_credential, broker_named

if TYPE_CHECKING:
    from mesh_adapters.broker import Address, RabbitAddress
    from mesh_adapters.broker.inviting import Ready
    from mesh_adapters.broker.principals import Login
    from mesh_core.ports import Accounts, Broker


@contextmanager
def opened_broker(flag: str | None, within: float | None = None) -> Iterator[Broker]:
    """The control plane's end of the broker that the settings name. Raises `BrokerOutage`s; `main` tells.

    With `within` it fails whatever is not done in so many seconds.
    """
    from mesh_adapters.broker import MemoryAddress

    address = address_said(broker_named(flag))
    reached = address if isinstance(address, MemoryAddress) else with_login(address, flag)
    with _opened(reached, within) as opened:
        yield opened


@contextmanager
def _opened(address: Address, within: float | None = None) -> Iterator[Broker]:
    from mesh_adapters.broker import open_broker

    opened = open_broker(address, within)
    try:
        yield opened
    finally:
        opened.close()


def check_flag(flag: str | None) -> None:
    """Stop at a broker that was said on the command line and is none, before anything is done."""
    if flag is not None:
        address_said(broker_named(flag))


def rabbit_named(flag: str | None) -> RabbitAddress:
    """The RabbitMQ that the settings name, without a password. Stops where it is none."""
    from mesh_adapters.broker import RabbitAddress

    address = address_said(broker_named(flag))
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
    from mesh_adapters.broker.principals import BUILDER_ACCOUNTS, CONTROL_ACCOUNT, NODE_ACCOUNTS

    account = _account_in(broker_named(flag).url) or CONTROL_ACCOUNT
    if account.startswith((NODE_ACCOUNTS, BUILDER_ACCOUNTS)) or ":" in account:
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
    address: RabbitAddress,
    flag: str | None,
    accounts: Accounts,
    nodes: Sequence[str],
    builders: Sequence[str],
) -> dict[str, Any]:
    """Make the broker ready: what is there now, and what of it was not as it is to be, as plain data.

    The credential is written first: whatever this is stopped at, the next time goes on with it.
    """
    from mesh_adapters.broker.inviting import make_queues, make_ready

    login = control_login()
    written = login is None
    login = login or _new_login(account_named(flag))
    reached = with_login(address, flag)
    ready = make_ready(accounts, login, nodes, builders)
    with _opened(reached) as broker:
        make_queues(broker, nodes, builders)
    return {
        "broker": str(address),
        "virtual_host": {"name": address.virtual_host, "made": ready.virtual_host},
        "account": {"name": login.account, "made": ready.account},
        "credential": {"file": str(broker_credential()), "made": written},
        "nodes": list(nodes),
        "builders": list(builders),
        **_seen(ready),
    }


def _seen(ready: Ready) -> dict[str, Any]:
    from mesh_adapters.broker.topology import HELD_SECONDS, SAID

    held = ready.holding
    return {
        "limit": {"policy": SAID.name, "bytes": SAID.content, "state": ready.limit.value},
        "accounts": [
            {"name": name, "mended": [what.value for what in amiss]}
            for name, amiss in sorted(ready.mended.items())
        ],
        "accounts_without_node": list(ready.others),
        "accounts_without_builder": list(ready.other_builders),
        "consumer_timeout": {
            "seen": held is not None,
            "seconds": None if held is None else held.seconds,
            "needed": HELD_SECONDS,
            "enough": None if held is None else held.seconds is None or held.seconds >= HELD_SECONDS,
        },
    }


def new_password() -> str:
    """A password that nobody had before."""
    import secrets

    return secrets.token_urlsafe(32)


def _new_login(account: str) -> Login:
    from mesh_adapters.broker.principals import Login, write_login

    login, place = Login(account=account, password=new_password()), broker_credential()
    try:
        write_login(str(place), login)
    except OSError as error:
        line = f"{place} cannot be written: {error.strerror or error}; nothing was changed"
        raise Stop(Exit.FAILED, "unwritable-credential", line) from None
    return login


def address_said(said: Named) -> Address:
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
