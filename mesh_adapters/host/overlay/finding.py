"""Where the hosts of endpoints are now. One that is not found keeps nobody else from being found."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from ipaddress import ip_address
from threading import Thread
from time import monotonic

from mesh_core.model.network import split_endpoint

SECONDS = 5.0
"""For all of them together."""


def find(endpoints: Iterable[str], seconds: float = SECONDS) -> dict[str, str]:
    """By endpoint, the address and port that it has now; names are asked for all at once."""
    found: dict[str, str] = {}
    asking: list[Thread] = []
    for endpoint in dict.fromkeys(endpoints):
        split = split_endpoint(endpoint)
        assert split is not None
        host, port = split
        if _is_address(host):
            found[endpoint] = endpoint
        else:
            asking.append(Thread(target=_ask, args=(endpoint, host, port, found), daemon=True))
            asking[-1].start()
    until = monotonic() + seconds
    for thread in asking:
        thread.join(max(0.0, until - monotonic()))
    return dict(found)


def _ask(endpoint: str, host: str, port: int, found: dict[str, str]) -> None:
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)
    except OSError:
        return
    # The resolver knows which of the two kinds this machine can use, and puts it first.
    address = str(answers[0][4][0])
    found[endpoint] = f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
