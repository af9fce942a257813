"""A network for the lab's machines: an internet, and sites whose machines are behind one address of it.

It is in network namespaces of its own: the host's network has no part in it, and only a `Way` leads out
of it. Nobody in it resolves a name.
"""

from contextlib import ExitStack
from types import TracebackType
from typing import NamedTuple, Self

from tests.integration.lab.capture import Capture
from tests.integration.lab.machine import LabError, LabMachine
from tests.integration.lab.segment import Internet, Segment, Site
from tests.integration.lab.way import Way

DEVICE = "eth0"


class Plug(NamedTuple):
    """Where a machine is plugged in."""

    segment: Segment
    port: str
    address: str


class LabNetwork:
    """Made by `with`, and gone at its end; also with the process, however that ends."""

    internet: Internet
    """Its first address, 203.0.113.1, is where the ways out of it are."""

    def __enter__(self) -> Self:
        self._plugs: dict[LabMachine, Plug] = {}
        with ExitStack() as made:
            self.internet = Internet()
            made.callback(self.internet.close)
            self._made = made.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._made:
            for machine in list(self._plugs):
                self.detach(machine)

    def site(self, subnet: str = "192.168.1.0/24", *, outside: str) -> Site:
        """A household with these addresses, which the internet sees as `outside`. More may have the same."""
        site = Site(subnet, self.internet, outside)
        self._made.callback(site.close)
        return site

    def attach(self, machine: LabMachine, *, address: str, to: Segment | None = None) -> None:
        """Give a running machine its eth0, with a way to everywhere; to the internet where nothing is said.

        One that is attached somewhere is taken away from there first, as a laptop is. A machine that was
        started anew has lost it.
        """
        self.detach(machine)
        segment = to or self.internet
        port = segment.plug_in(machine.pid, DEVICE, address)
        self._plugs[machine] = Plug(segment, port, address)

    def detach(self, machine: LabMachine) -> None:
        """Its eth0 is gone; nothing where it has none."""
        plug = self._plugs.pop(machine, None)
        if plug is not None:
            plug.segment.pull_out(plug.port, plug.address)

    def cut(self, machine: LabMachine) -> None:
        """Pull the plug out of its eth0, which keeps its address: no packet in, none out."""
        plug = self._plug(machine)
        plug.segment.turn_off(plug.port)

    def mend(self, machine: LabMachine) -> None:
        """Put it in again: from here on what the machine sends arrives."""
        plug = self._plug(machine)
        plug.segment.turn_on(plug.port)

    def way(self, to: int, *, port: int | None = None) -> Way:
        """Open a way to the port `to` of the host's loopback, at 203.0.113.1 and the same or another port.

        It can be closed and opened again, as a server that is down for a while.
        """
        host = str(self.internet.gateway)
        way = Way(self.internet.namespace.pid, to, host=host, port=to if port is None else port)
        way.open()
        self._made.callback(way.close)
        return way

    def block(self, machine: LabMachine, way: Way) -> None:
        """Drop what this machine sends to it or gets from it: all others still reach it."""
        plug = self._plug(machine)
        plug.segment.block(plug.port, way.host, way.port)

    def unblock(self, machine: LabMachine, way: Way) -> None:
        """Let it through again. A machine that is attached anew is let through too."""
        plug = self._plug(machine)
        plug.segment.unblock(plug.port, way.host, way.port)

    def capture(self, *between: str) -> Capture:
        """What crosses the internet from here to the end of `with`; `segment.capture` is for the others."""
        return self.internet.capture(*between)

    def _plug(self, machine: LabMachine) -> Plug:
        if machine not in self._plugs:
            raise LabError(f"{machine.hostname} is not attached")
        return self._plugs[machine]
