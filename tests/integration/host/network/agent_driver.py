"""Runs in a machine: the daemon of a host, with a broker in this process that is reached over the network.

`python -m tests.integration.host.network.agent_driver MINUTE HOST PORT` takes a declaration from each line of
stdin, and says each report as a line. Nothing is done by the broker unless somebody answers at HOST and PORT,
which is asked anew each time. It ends with its stdin.
"""

from __future__ import annotations

import json
import socket
import sys
from pathlib import Path
from threading import Event, Thread

from mesh_adapters.broker import MemoryAddress, open_broker, open_host
from mesh_adapters.host.agent.loop import Agent
from mesh_adapters.host.overlay import trial
from mesh_core.model.said import Report
from mesh_core.ports import BrokerUnreachable, Delivery, HostBroker, Outcome, Outgoing, Unreachable
from mesh_core.wire.said import report_to_data

ADDRESS = MemoryAddress(name="trial")
NODE = "pi"


class Reached:
    """A host's end of a broker that is where somebody answers."""

    def __init__(self, host: str, port: int) -> None:
        self._there = (host, port)
        self._end = open_host(ADDRESS, NODE)

    def _asked(self) -> HostBroker:
        try:
            socket.create_connection(self._there, timeout=0.5).close()
        except OSError as error:
            raise BrokerUnreachable("memory://", Unreachable.NO_ANSWER, str(error)) from None
        return self._end

    def take(self, wait: float) -> Delivery | None:
        return self._asked().take(min(wait, 0.05))

    def report(self, body: bytes) -> Outcome:
        return self._asked().report(body)

    def hello(self, body: bytes) -> Outcome:
        return self._asked().hello(body)

    def close(self) -> None:
        self._end.close()


def main() -> None:
    minute, host, port = float(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    trial.MINUTE = minute  # type: ignore[misc]
    broker, stop = open_broker(ADDRESS), Event()
    broker.add_nodes([NODE])

    def told() -> None:
        for line in sys.stdin:
            broker.publish([Outgoing(node=NODE, body=line.strip().encode())])
        stop.set()

    def heard(report: Report) -> None:
        print(json.dumps(report_to_data(report)), flush=True)

    Thread(target=told, daemon=True).start()
    Agent(
        node=NODE,
        root=Path("/"),
        connect=lambda: Reached(host, port),
        say=lambda line: print(line, file=sys.stderr, flush=True),
        heard=heard,
        probe=lambda _machine: (),
    ).run(stop)


if __name__ == "__main__":
    main()
