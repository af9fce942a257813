"""Makes one connection to a RabbitMQ within five seconds, or says why there is none.

This and `link.py` are the doors to kombu's AMQP transport. Its `Connection` is used as it is: kombu's
own layers would retry for ever, and decode what strangers sent.
"""

from __future__ import annotations

import logging
import socket
import ssl
import struct
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from time import monotonic, sleep
from typing import Any, Final

import amqp  # type: ignore[import-untyped]
from kombu.transport.pyamqp import Connection

from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.watchdog import Watchdog
from mesh_core.ports import BrokerOutage, BrokerRefused, BrokerUnreachable, Refused, Unreachable

CONNECT_SECONDS: Final = 5.0
"""All tries together."""
PAUSES: Final = (0.1, 0.3, 0.8)
"""Before the second try and the ones after it; one that took its time to fail is the last."""
HEARTBEAT_SECONDS: Final = 20
"""A broker that says nothing for twice this is taken for dead, and takes us for dead."""

FAULTS: Final = (
    amqp.AMQPError,
    OSError,
    # What the library stumbles over when a connection ends under it, or something else answers.
    AttributeError,
    LookupError,
    TypeError,
    struct.error,
    UnicodeDecodeError,
)

# It tells of what is handled here; without a handler it would be written to a person's terminal.
logging.getLogger("amqp").addHandler(logging.NullHandler())

Blocked = Callable[[bool], None]


def connect(address: RabbitAddress, blocked: Blocked, seconds: float = CONNECT_SECONDS) -> Any:
    """A connection that is ready. Raises `BrokerUnreachable` after a few tries, and `BrokerRefused`."""
    until = monotonic() + seconds
    for pause in (*PAUSES, None):
        try:
            return _try(address, blocked, until)
        except BrokerUnreachable as outage:
            if outage.reason is not Unreachable.NO_ANSWER or pause is None:
                raise
            if until - monotonic() < 2 * pause:
                raise
            sleep(pause)
    raise AssertionError("the last try returns or raises")


def _try(address: RabbitAddress, blocked: Blocked, until: float) -> Any:
    last: BrokerOutage | None = None
    for host in _resolve(address, until):
        try:
            return _open(address, host, blocked, until)
        except BrokerUnreachable as outage:
            last = outage
    raise last or BrokerUnreachable(str(address), Unreachable.NO_ADDRESS, "no address")


def _resolve(address: RabbitAddress, until: float) -> list[str]:
    """The host's addresses. The system's own look-up knows no limit, so it is left behind when late."""
    found: list[str] = []
    why = ["its name was not looked up in time"]

    def look() -> None:
        try:
            entries = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            why[0] = getattr(error, "strerror", None) or str(error)
        else:
            found.extend(dict.fromkeys(str(entry[4][0]) for entry in entries))

    looking = Thread(target=look, name="broker-address", daemon=True)
    looking.start()
    looking.join(max(0.0, until - monotonic()))
    if not found:
        raise BrokerUnreachable(str(address), Unreachable.NO_ADDRESS, why[0])
    return list(found)


def _open(address: RabbitAddress, host: str, blocked: Blocked, until: float) -> Any:
    seconds = max(0.1, until - monotonic())
    connection = Connection(
        host=f"[{host}]:{address.port}" if ":" in host else f"{host}:{address.port}",
        userid=address.account,
        password=address.password,
        login_method="PLAIN",
        virtual_host=address.virtual_host,
        ssl=_tls(address),
        connect_timeout=seconds,
        heartbeat=HEARTBEAT_SECONDS,
        on_blocked=lambda reason: blocked(True),
        on_unblocked=lambda: blocked(False),
        client_properties={"product": "meshwright"},
    )
    with Watchdog(seconds, lambda: socket_of(connection)) as watchdog:
        try:
            connection.connect()
        except FAULTS as error:
            outage = outage_of(error, address, connected=False, late=watchdog.bit)
            drop(connection)
            raise outage from error
        except BaseException:
            drop(connection)
            raise
    return connection


def _tls(address: RabbitAddress) -> dict[str, object] | bool:
    if not address.tls:
        return False
    # Without the name the library checks no name, without cert_reqs no certificate.
    return {"server_hostname": address.host, "cert_reqs": ssl.CERT_REQUIRED, "ca_certs": address.ca}


def socket_of(connection: Any) -> socket.socket | None:
    """The socket of a connection, where it has one."""
    transport = connection._transport
    found = None if transport is None else getattr(transport, "sock", None)
    return found if isinstance(found, socket.socket) else None


def drop(connection: Any) -> None:
    """Close a connection's socket, without a word to the broker. Never raises."""
    with suppress(*FAULTS):
        connection.collect()


def outage_of(error: BaseException, address: RabbitAddress, *, connected: bool, late: bool) -> BrokerOutage:
    """What a fault of the library means."""
    where = str(address)
    if isinstance(error, amqp.AMQPError) and error.reply_code in {403, 404, 405, 406, 530}:
        return BrokerRefused(where, _refused(error, connected), _words(error))
    if late or isinstance(error, TimeoutError):
        return BrokerUnreachable(where, Unreachable.TIMED_OUT, "it does not answer in time")
    if isinstance(error, ssl.SSLError):
        return BrokerUnreachable(where, Unreachable.NOT_TRUSTED, _words(error))
    if connected:
        return BrokerUnreachable(where, Unreachable.LOST, _words(error))
    if isinstance(error, OSError):
        # The library's own, without a number, when the other side closes before a word was said.
        reason = Unreachable.NO_ANSWER if error.errno or "closed" in str(error) else Unreachable.NO_BROKER
        return BrokerUnreachable(where, reason, _words(error))
    if isinstance(error, amqp.AMQPError):
        return BrokerUnreachable(where, Unreachable.NO_ANSWER, _words(error))
    return BrokerUnreachable(where, Unreachable.NO_BROKER, "what answers there is no AMQP broker")


def _refused(error: Any, connected: bool) -> Refused:
    if error.reply_code == 403:
        return Refused.PERMISSION if connected else Refused.CREDENTIALS
    # The number is that of a virtual host that is not there as well; only its words tell them apart.
    if error.reply_code == 530 and " limit " in _words(error):
        return Refused.LIMIT
    return Refused.UNFIT


def _words(error: BaseException) -> str:
    """What the broker or the system says, in one line."""
    said = getattr(error, "reply_text", None) or getattr(error, "strerror", None) or str(error)
    return " ".join(str(said).split()) or type(error).__name__
