"""The names of the accounts, and the files of those who administer a broker or speak as the control plane.

A node's or a builder's name has no dot, so no account of theirs is ever called as the control plane's; and a
node and a builder of one name have two accounts. What is not understood comes back as a value with a
sentence, in which no password ever is.
"""

from __future__ import annotations

import json
import os
from typing import Any, Final
from urllib.parse import urlsplit

from attrs import field, frozen

from mesh_adapters.broker.private import Unfit, read_private
from mesh_adapters.broker.urls import BadAddress

CONTROL_ACCOUNT: Final = "mesh.control"
NODE_ACCOUNTS: Final = "mesh.node."
BUILDER_ACCOUNTS: Final = "mesh.builder."
LONGEST_FILE: Final = 16 * 1024

CONTROL_FORM: Final = '{"account": ..., "password": ...}'
ADMIN_FORM: Final = (
    '{"management": "http://HOST:15672", "account": ..., "password": ...} or {"rabbitmqctl": true}'
)


@frozen(kw_only=True)
class Login:
    """An account with its password."""

    account: str
    password: str = field(repr=False)


@frozen(kw_only=True)
class Management:
    """RabbitMQ's management interface at `url`, as one of its administrators; `ca` is whom to trust."""

    url: str
    login: Login
    ca: str | None = None


@frozen(kw_only=True)
class OnTheMachine:
    """`rabbitmqctl`, which asks no password of whoever is root on the broker's machine."""


def account_of(node: str) -> str:
    """The account of a node."""
    return f"{NODE_ACCOUNTS}{node}"


def account_of_builder(builder: str) -> str:
    """The account of a builder."""
    return f"{BUILDER_ACCOUNTS}{builder}"


def nodes_among(accounts: tuple[str, ...]) -> tuple[str, ...]:
    """The nodes that have an account among these."""
    return _among(accounts, NODE_ACCOUNTS)


def builders_among(accounts: tuple[str, ...]) -> tuple[str, ...]:
    """The builders that have an account among these."""
    return _among(accounts, BUILDER_ACCOUNTS)


def _among(accounts: tuple[str, ...], prefix: str) -> tuple[str, ...]:
    return tuple(name.removeprefix(prefix) for name in accounts if name.startswith(prefix))


def read_login(path: str) -> Login | BadAddress:
    """The control plane's account, from its credential file."""
    found = _private_object(path, CONTROL_FORM)
    if isinstance(found, BadAddress):
        return found
    return _login(found, {"account", "password"}) or _malformed(path, CONTROL_FORM)


def read_administrator(path: str) -> Management | OnTheMachine | BadAddress:
    """How a broker is administered, from its administrator's file."""
    found = _private_object(path, ADMIN_FORM)
    if isinstance(found, BadAddress):
        return found
    if found == {"rabbitmqctl": True}:
        return OnTheMachine()
    url, ca = found.get("management"), found.get("ca")
    login = _login(found, {"management", "account", "password", "ca"})
    if login is None or not isinstance(url, str) or not (ca is None or (isinstance(ca, str) and ca)):
        return _malformed(path, ADMIN_FORM)
    if not _is_plain(url):
        return BadAddress(
            why=f'{path}: "management" is a URL like http://HOST:15672, without account and query'
        )
    return Management(url=url.rstrip("/"), login=login, ca=ca)


def write_login(path: str, login: Login) -> None:
    """Write the control plane's credential file, as `write_new` does."""
    os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
    data = {"account": login.account, "password": login.password}
    write_new(path, f"{json.dumps(data)}\n".encode())


def write_new(path: str, content: bytes) -> None:
    """Write a file for its owner alone, and never over another. Raises `OSError`."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, 0o600)
        file.write(content)
        file.flush()
        os.fsync(descriptor)


def _login(data: dict[str, Any], allowed: set[str]) -> Login | None:
    account, password = data.get("account"), data.get("password")
    if set(data) - allowed or not isinstance(account, str) or not isinstance(password, str):
        return None
    # A colon ends the account where the two are sent to a management interface.
    if not account or not password or ":" in account:
        return None
    return Login(account=account, password=password)


def _is_plain(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    rest = parts.query or parts.fragment or "@" in parts.netloc
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not rest and url.isprintable()


def _private_object(path: str, form: str) -> dict[str, Any] | BadAddress:
    """The JSON object in a file that its owner alone may use."""
    content = read_private(path, LONGEST_FILE)
    if isinstance(content, Unfit):
        return BadAddress(why=content.why)
    try:
        found = json.loads(content) if len(content) <= LONGEST_FILE else None
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else _malformed(path, form)


def _malformed(path: str, form: str) -> BadAddress:
    return BadAddress(why=f"{path} is to have one JSON object, {form}, and has something else")
