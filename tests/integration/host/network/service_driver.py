"""Runs in a machine as its service `mesh-host`: the daemon, whose broker is in this process and there or not.

`python -m tests.integration.host.network.service_driver FOLDER` takes what is declared in
FOLDER/declaration.json, whenever another one is there, and adds each report that the broker has got to
FOLDER/reports, one a line. There is a broker as long as FOLDER/broker is there.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from threading import Event, Thread

from mesh_adapters.broker import MemoryAddress, open_broker, open_host
from mesh_adapters.host.agent.loop import Agent
from mesh_adapters.host.notify import Notifier
from mesh_core.ports import BrokerUnreachable, Delivery, HostBroker, Outcome, Outgoing, Unreachable
from mesh_core.wire.said import read_said, report_to_data

ADDRESS = MemoryAddress(name="service")
NODE = "nas"


class There:
    """A host's end of a broker that is there as long as a file is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._end = open_host(ADDRESS, NODE)

    def _there(self) -> HostBroker:
        if not (self._folder / "broker").exists():
            raise BrokerUnreachable("memory://", Unreachable.NO_ANSWER, "nobody answers")
        return self._end

    def take(self, wait: float) -> Delivery | None:
        return self._there().take(min(wait, 0.05))

    def report(self, body: bytes) -> Outcome:
        outcome = self._there().report(body)
        said = read_said(body)
        with (self._folder / "reports").open("a") as file:
            file.write(f"{json.dumps(report_to_data(said))}\n")
        return outcome

    def hello(self, body: bytes) -> Outcome:
        return self._there().hello(body)

    def close(self) -> None:
        self._end.close()


def main() -> None:
    folder, stop = Path(sys.argv[1]), Event()
    broker = open_broker(ADDRESS)
    broker.add_nodes([NODE])
    signal.signal(signal.SIGTERM, lambda *_: stop.set())

    def told() -> None:
        last = b""
        while not stop.wait(0.05):
            place = folder / "declaration.json"
            content = place.read_bytes() if place.exists() else b""
            if content != last:
                broker.publish([Outgoing(node=NODE, body=content)])
                last = content

    Thread(target=told, daemon=True).start()
    Agent(
        node=NODE,
        root=Path("/"),
        connect=lambda: There(folder),
        say=lambda line: print(line, file=sys.stderr, flush=True),
        notifier=Notifier(),
        probe=lambda _machine: (),
    ).run(stop)


if __name__ == "__main__":
    main()
