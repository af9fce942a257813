"""What a command does at the broker beside its own work, which is done whatever comes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from mesh_cli.exits import Stop
from mesh_cli.settings import broker_said
from mesh_cli.wiring_broker import opened_broker

if TYPE_CHECKING:
    from mesh_core.ports import Broker

BESIDE_SECONDS = 5.0
"""For all that is done there together, finding it included."""


class Beside(NamedTuple):
    """What became of something that a command does at the broker beside its own work."""

    done: bool
    """Was there anything to do, and was it done?"""
    failed: Stop | None = None
    """How a command would have ended whose work this is."""

    def facts(self, word: str) -> dict[str, Any]:
        """As plain data."""
        if self.failed is None:
            return {word: self.done, "error": None}
        told = {"code": self.failed.code, "message": "\n".join(self.failed.lines)}
        return {word: False, "error": told}


def beside(flag: str | None, do: Callable[[Broker], bool | None]) -> Beside | None:
    """Do something at the broker, in a few seconds, whatever comes of it; None where no broker is named."""
    from mesh_cli.outages import broker_told
    from mesh_core.ports import BrokerOutage

    try:
        if broker_said(flag) is None:
            return None
        with opened_broker(flag, BESIDE_SECONDS) as broker:
            return Beside(do(broker) is not False)
    except Stop as stop:
        return Beside(False, stop)
    except BrokerOutage as outage:
        return Beside(False, broker_told(outage))
