"""The connections of an account that was removed, ended until there are none."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from mesh_core.ports import BrokerRefused, Refused

GONE_SECONDS: Final = 4.0
"""For the connections of a removed account to be gone: they are to be within five seconds."""
ENDINGS: Final = 3
"""How often they are ended at least, however long that takes: `rabbitmqctl` alone starts for seconds."""
BETWEEN_LOOKS: Final = 0.3


def until_gone(
    where: str, account: str, is_connected: Callable[[str], bool], end_all: Callable[[str], None]
) -> None:
    """End the connections of a removed account until there are none. Raises `BrokerRefused` when late.

    Removing it ended those that the broker knew of; one that was just being made is found by another look.
    """
    until = time.monotonic() + GONE_SECONDS
    quiet = endings = 0
    while quiet < 2:
        if not is_connected(account):
            quiet += 1
        elif endings >= ENDINGS and time.monotonic() > until:
            raise BrokerRefused(where, Refused.UNFIT, f"{account} is removed, and still connected")
        else:
            quiet = 0
            endings += 1
            end_all(account)
        if quiet < 2:
            time.sleep(BETWEEN_LOOKS)
