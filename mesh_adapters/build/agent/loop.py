"""The builder's loop (design, part 9): one thread owns the connection, and keeps it alive while a build runs.

> the request is acknowledged only after its answer is out and confirmed; a failure is an answer

An answer is kept before it is sent. When the broker is lost in between, the request comes again, here or
elsewhere, and is answered with what was kept.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from mesh_adapters.build.agent.kept import Kept
from mesh_adapters.pause import Pause
from mesh_core.explain import building
from mesh_core.model.build import Failed, Request, Said, Step, Taken
from mesh_core.ports import (
    BrokerOutage,
    BuilderBroker,
    Confirmed,
    Delivery,
    SetAside,
)
from mesh_core.wire.builds import read_request, said_to_bytes
from mesh_core.wire.faults import WireError

TAKE_SECONDS = 1.0
"""Seconds that one look for a request takes."""
ONCE_SECONDS = 3.0
"""Seconds that are waited for a request by whoever waits for one alone."""
GLANCE_SECONDS = 0.2
"""Seconds after which the connection, or the build, has its turn, while a build runs."""

Say: TypeAlias = Callable[[str], None]
Stopping: TypeAlias = Callable[[], bool]


class Work(Protocol):
    """A build at work."""

    def answer(self, wait: float) -> Said | None:
        """Its answer, once there is one."""

    def stop(self) -> None:
        """End it."""


def unheard(_said: Said) -> None:
    """An answer that only the broker gets."""


class Builder:
    """A builder, used by one thread. `connect` gives an end of the broker, `begin` puts a request to work.

    `begin` raises `OSError` where the machine does not let it. `heard` is given each answer that is new.
    """

    def __init__(
        self,
        *,
        name: str,
        connect: Callable[[], BuilderBroker],
        begin: Callable[[Request], Work],
        kept: Kept,
        say: Say,
        heard: Callable[[Said], None] = unheard,
    ) -> None:
        self._name = name
        self._connect = connect
        self._begin = begin
        self._kept = kept
        self._say = say
        self._heard = heard
        self._broker: BuilderBroker | None = None
        self._outage = Pause()
        self._told: str | None = None
        self._next: Delivery | None = None
        """What came while another was at work."""

    def run(self, stopping: Stopping, wait: Callable[[float], None]) -> None:
        """Until `stopping`, which is asked at least every second; `wait` passes seconds."""
        while not stopping():
            if self._outage.over:
                self.round(stopping)
            else:
                wait(TAKE_SECONDS)
        self.close()

    def once(self, stopping: Stopping) -> bool:
        """See one request to its end, if one comes soon, and let go: whether one came.

        Raises `BrokerOutage` where there is no broker.
        """
        try:
            delivery = self._end_of_broker().take(ONCE_SECONDS)
            came = delivery is not None
            while delivery is not None:
                self._see_to(delivery, stopping)
                delivery, self._next = self._next, None
            return came
        finally:
            self.close()

    def round(self, stopping: Stopping) -> None:
        """Look for one request, and see it to its end. An outage is said once, and waited out."""
        try:
            delivery, self._next = self._next or self._end_of_broker().take(TAKE_SECONDS), None
            self._well()
            if delivery is not None:
                self._see_to(delivery, stopping)
        except BrokerOutage as outage:
            self._wrong(outage)

    def close(self) -> None:
        """Let go of the broker: a request that is not acknowledged goes to another builder."""
        if self._broker is not None:
            self._broker.close()
            self._broker = None

    def _end_of_broker(self) -> BuilderBroker:
        if self._broker is None:
            self._broker = self._connect()
        return self._broker

    def _see_to(self, delivery: Delivery, stopping: Stopping) -> None:
        request = _request(delivery)
        if request is None:
            self._say(building.no_request())
            delivery.ack()  # whoever asked keeps its requests, and no answer could name this one
            return
        answer = self._kept.answer(request.id)
        if answer is None:
            answer = self._built(request, stopping)
        if answer is not None and self._sent(answer):
            delivery.ack()

    def _built(self, request: Request, stopping: Stopping) -> bytes | None:
        """The answer, kept; None where the builder is asked to stop before there is one."""
        self._say(building.begun(request))
        self._sent(said_to_bytes(Taken(request=request.id, builder=self._name)))
        said = self._made(request, stopping)
        if said is None:
            return None
        self._say(building.ended(request, said))
        self._heard(said)
        answer = said_to_bytes(said)
        try:
            self._kept.keep(request.id, answer)
        except OSError as error:  # it is sent all the same
            self._say(building.not_kept(error.strerror or str(error)))
        return answer

    def _made(self, request: Request, stopping: Stopping) -> Said | None:
        try:
            work = self._begin(request)
        except OSError as error:
            why = building.not_begun(error.strerror or str(error))
            return Failed(request=request.id, builder=self._name, step=Step.REQUEST, why=why)
        return self._wait_for(work, stopping)

    def _wait_for(self, work: Work, stopping: Stopping) -> Said | None:
        """Look after the connection until there is an answer; a build goes on though the broker is lost."""
        while True:
            said = work.answer(GLANCE_SECONDS)
            if said is not None:
                return said
            if stopping():
                work.stop()
                return None
            self._look_after()

    def _look_after(self) -> None:
        if not self._outage.over:
            return
        try:
            # One comes at a time; so only after an outage does another, or the same again.
            self._next = self._end_of_broker().take(GLANCE_SECONDS) or self._next
            self._well()
        except BrokerOutage as outage:
            self._wrong(outage)

    def _sent(self, body: bytes) -> bool:
        outcome = self._end_of_broker().answer(body)
        if not isinstance(outcome, Confirmed):
            self._say(building.not_sent(outcome))
        return isinstance(outcome, Confirmed)

    def _wrong(self, outage: BrokerOutage) -> None:
        self._outage.grow()
        if self._told != str(outage):
            self._told = str(outage)
            self._say(building.out_of_reach(outage))

    def _well(self) -> None:
        self._outage.end()
        if self._told is not None:
            self._told = None
            self._say(building.in_reach())


def _request(delivery: Delivery) -> Request | None:
    if isinstance(delivery.content, SetAside):
        return None
    try:
        return read_request(delivery.content)
    except WireError:
        return None
