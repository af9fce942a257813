"""`mesh` that kills or stops itself at a step: `python -m tests.integration.push.dying STEP KILL push`.

A program has no such steps when somebody uses it; this wraps what it calls, in its own process. The steps of
publishing have the names that `mesh_adapters.flows.push` gives them.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from mesh_adapters.broker.receiving import RabbitDelivery
from mesh_adapters.flows import collect, push

DECIDED = "decided"
"""A push has decided, and its transaction is not committed."""
WRITTEN_DOWN = "written down"
PUBLISHING = ("before publishing", "published", "looked again", "marked")
PUSHING = (DECIDED, WRITTEN_DOWN, *PUBLISHING)

TAKEN = "taken"
"""A message was taken, and nothing of it is written down."""
HEARD = "heard"
"""It is written down, and its transaction is not committed."""
COMMITTED = "committed"
"""It is committed, and not acknowledged."""
ACKNOWLEDGED = "acknowledged"
TAKING_IN = (TAKEN, HEARD, COMMITTED, ACKNOWLEDGED)


def wrap(owner: Any, name: str, before: Callable[[], None], after: Callable[[], None]) -> None:
    """Have something happen before and after a call."""
    real = getattr(owner, name)

    def wrapped(*given: Any, **named: Any) -> Any:
        before()
        done = real(*given, **named)
        after()
        return done

    setattr(owner, name, wrapped)


def main() -> None:
    """Run `mesh` with the arguments after the first two."""
    at, act = sys.argv[1:3]
    del sys.argv[1:3]

    left = [at]

    def here(name: str) -> None:
        if name in left:
            left.remove(name)  # what is continued goes on to its end
            os.kill(os.getpid(), signal.Signals[f"SIG{act}"])

    def nothing() -> None:
        pass

    wrap(push, "write_down", nothing, lambda: here(DECIDED))
    wrap(push, "publish", lambda: here(WRITTEN_DOWN), nothing)
    wrap(collect.Round, "_write_down", lambda: here(TAKEN), lambda: here(HEARD))
    wrap(RabbitDelivery, "ack", lambda: here(COMMITTED), lambda: here(ACKNOWLEDGED))
    publish: Callable[..., push.Publishing] = push._publish
    push._publish = lambda store, broker, rows, step: publish(store, broker, rows, here)
    from mesh_cli.program import main as mesh

    mesh()


if __name__ == "__main__":
    main()
