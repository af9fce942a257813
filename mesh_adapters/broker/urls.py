"""Which URL means which broker, and the file that a URL with a password is kept in.

What is not understood comes back as a value with a sentence, in which no password ever is.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from attrs import frozen

from mesh_adapters.broker.address import Address, MemoryAddress, RabbitAddress
from mesh_adapters.broker.private import Unfit, read_private

PORTS: Final = {"amqp": 5672, "amqps": 5671}
LONGEST_FILE: Final = 16 * 1024

LOSES: Final = (
    "it loses what a host had taken and not yet saved when that host is killed (measured); "
    "use RabbitMQ, amqp:// or amqps://"
)
LOSES_SILENTLY: Final = (
    "it loses what a host had taken and not yet saved when that host is killed, and drops what is sent "
    "once its control folder is gone (both measured); use RabbitMQ, amqp:// or amqps://"
)
MAKES_NO_PROMISE: Final = (
    "it keeps neither the newest message alone nor says when a message has no queue; "
    "use RabbitMQ, amqp:// or amqps://"
)
REFUSED_TRANSPORTS: Final = {
    "filesystem": LOSES_SILENTLY,
    "sqla": LOSES,
    "sqlalchemy": LOSES,
}
OTHER_TRANSPORTS: Final = (
    *("azureservicebus", "azurestoragequeues", "confluentkafka", "consul", "etcd", "gcpubsub", "kafka"),
    *("librabbitmq", "mongodb", "pgmq", "py-amqp", "pyamqp", "pyro", "qpid", "redis", "rediss"),
    *("sentinel", "slmq", "sqs", "zookeeper"),
)


@frozen(kw_only=True)
class BadAddress:
    """A URL, or the file with one, is not to be used; `why` is for people and has no password."""

    why: str


def parse(url: str) -> Address | BadAddress:
    """The broker that a URL means: `amqp://`, `amqps://` (`?ca=FILE` says whom to trust) or `memory://`."""
    scheme, mark, _ = url.partition("://")
    scheme = scheme.lower()
    if not mark:
        return BadAddress(why="this is no URL; a broker's begins with amqp://, amqps:// or memory://")
    if scheme not in {*PORTS, "memory"}:
        return BadAddress(why=_refusal(scheme))
    try:
        parts = urlsplit(url)
        port = parts.port
        query = parse_qs(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:  # its text may have the password
        return BadAddress(why=f"this {scheme}:// URL is malformed (a password with / ? # [ ] @ needs %)")
    return _memory(parts) if scheme == "memory" else _rabbit(parts, port, query)


def _refusal(scheme: str) -> str:
    if scheme in REFUSED_TRANSPORTS:
        return f"{scheme}:// is refused: {REFUSED_TRANSPORTS[scheme]}"
    kind = scheme.partition("+")[0]
    if kind in REFUSED_TRANSPORTS:
        return f"{kind}:// is refused: {REFUSED_TRANSPORTS[kind]}"
    if scheme in OTHER_TRANSPORTS or kind in OTHER_TRANSPORTS:
        return f"{kind}:// is refused: {MAKES_NO_PROMISE}"
    return "this URL names no broker that is known here; use amqp://, amqps:// or memory://"


def _memory(parts: SplitResult) -> Address | BadAddress:
    if parts.path.strip("/") or parts.query or parts.fragment or "@" in parts.netloc or ":" in parts.netloc:
        return BadAddress(why="memory:// takes a name and nothing else: memory:// or memory://NAME")
    return MemoryAddress(name=parts.netloc)


def _rabbit(parts: SplitResult, port: int | None, query: dict[str, list[str]]) -> Address | BadAddress:
    tls = parts.scheme.lower() == "amqps"
    if not parts.hostname:
        return BadAddress(why=f"this {parts.scheme}:// URL names no host")
    if parts.fragment or set(query) - {"ca"} or len(query.get("ca", [])) > 1:
        return BadAddress(why="of what may follow a broker's address only ?ca=FILE is understood")
    if "ca" in query and not (tls and query["ca"][0]):
        return BadAddress(why="?ca=FILE goes with amqps:// and names a file")
    path = parts.path.removeprefix("/")
    if "/" in path:
        return BadAddress(why="a virtual host with / in its name is written with %2F")
    return RabbitAddress(
        host=parts.hostname,
        port=port or PORTS[parts.scheme.lower()],
        account=unquote(parts.username or "guest"),
        password=unquote(parts.password or ("" if parts.username else "guest")),
        virtual_host=unquote(path) or "/",
        tls=tls,
        ca=query["ca"][0] if "ca" in query else None,
    )


def read_file(path: str) -> Address | BadAddress:
    """The broker that a credential file means: one line, a URL, readable by its owner alone."""
    found = read_private(path, LONGEST_FILE)
    return BadAddress(why=found.why) if isinstance(found, Unfit) else _only_line(path, found)


def _only_line(path: str, content: bytes) -> Address | BadAddress:
    try:
        lines = content.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        lines = []
    if len(content) > LONGEST_FILE or len([line for line in lines if line.strip()]) != 1:
        return BadAddress(why=f"{path} is to have one line, the broker's URL")
    found = parse("".join(lines).strip())
    return BadAddress(why=f"{path}: {found.why}") if isinstance(found, BadAddress) else found


def has_password(url: str) -> bool:
    """Does a URL have a password, or something that may be one? Such a URL stays out of sight."""
    _, _, rest = url.partition("://")
    account, at, _ = rest.rpartition("@")
    return bool(at) and ":" in account
