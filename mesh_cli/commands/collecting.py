"""`mesh collect` and `mesh serve`: take in what the machines have said, once or for as long as it runs."""

from __future__ import annotations

import signal
import threading
from typing import Any

from mesh_cli import wiring_flows as wiring
from mesh_cli.options import BrokerOption, JsonOption, StoreOption
from mesh_cli.output import say, say_json
from mesh_cli.wiring import opened_broker, opened_store


def collect(*, broker: BrokerOption = None, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Take in what was said, and send what is pending.

    One round of what `mesh serve` does all the time.

    Example: mesh collect
    """
    from mesh_cli.render.collect import (
        collected_lines,
        collected_to_data,
        published_lines,
        published_to_data,
        requested_lines,
        requested_to_data,
    )

    with opened_store(store) as opened, opened_broker(broker) as reached:
        collected = wiring.collect(opened, reached)
        published = wiring.publish(opened, reached)
        requested = wiring.send_requests(opened, reached)
    if as_json:
        say_json(collected_to_data(collected) | published_to_data(published) | requested_to_data(requested))
        return
    lines = [
        *collected_lines(collected),
        *published_lines(published),
        *requested_lines(requested),
    ]
    say(lines or "nothing was waiting")


def serve(*, broker: BrokerOption = None, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Take in reports and send what is pending, until it is stopped.

    Everything works without it; with it, `mesh status` is never more than seconds behind. It
    waits for a broker that is away. With --json it prints one object a line.

    Example: mesh serve
    """
    from mesh_cli.render.collect import Noticing
    from mesh_cli.settings import broker_named

    stop = threading.Event()

    def ask(_signal: int, _frame: Any) -> None:
        stop.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        with opened_store(store) as opened, opened_broker(broker) as reached:
            noticing = Noticing(as_json=as_json)
            noticing.begun(broker_named(broker).url)
            wiring.serve(opened, reached, noticing, stop)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
