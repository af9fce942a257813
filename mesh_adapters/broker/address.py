"""Where a broker is and who one is there: an address that never shows its password."""

from __future__ import annotations

from attrs import field, frozen


@frozen(kw_only=True)
class RabbitAddress:
    """A RabbitMQ, and an account there."""

    host: str
    port: int
    account: str
    password: str = field(repr=False)
    virtual_host: str = "/"
    tls: bool = False
    ca: str | None = None
    """A file with the certificates to trust; None for those that the system trusts."""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'amqps' if self.tls else 'amqp'}://{host}:{self.port}"


@frozen(kw_only=True)
class MemoryAddress:
    """A broker inside this process; every one of a name is the same."""

    name: str = ""

    def __str__(self) -> str:
        return f"memory://{self.name}"


Address = RabbitAddress | MemoryAddress
