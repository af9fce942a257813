"""A daemon whose machine has a network that is played, and whose broker is reached over it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.broker import open_host
from mesh_adapters.host.agent.loop import Agent
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay import trial
from mesh_adapters.host.overlay.record import read_record
from mesh_core.canonical import canonical_json
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.model.network import DeclaredNetwork
from mesh_core.model.said import Doing, Report
from mesh_core.ports import BrokerUnreachable, Delivery, HostBroker, Outcome, Unreachable
from mesh_core.wire.declaration import declaration_to_data
from tests.integration.host.agent.rig import Rig, until
from tests.integration.host.world import file
from tests.unit.host.fake_wireguard import FakeWireGuard

GOOD = DeclaredNetwork(address="10.77.0.1", range="10.77.0.0/24")
BETTER = DeclaredNetwork(address="10.77.0.2", range="10.77.0.0/24")
CUTS = DeclaredNetwork(address="10.77.0.66", range="10.77.0.0/24")
"""With this address the machine reaches no broker."""
UNDONE = "the network of generation 2 was undone: the broker was not reached within 60 s of it; "
UNDONE += "what was there before holds"


class Over:
    """A host's end of a broker that is reached unless the network is one that cuts it off."""

    def __init__(self, rig: Rig, reached: Callable[[], bool]) -> None:
        self._end = open_host(rig.address, rig.node)
        self._reached = reached

    def _there(self) -> HostBroker:
        if not self._reached():
            raise BrokerUnreachable("memory://", Unreachable.NO_ANSWER, "no route")
        return self._end

    def take(self, wait: float) -> Delivery | None:
        return self._there().take(min(wait, 0.02))

    def report(self, body: bytes) -> Outcome:
        return self._there().report(body)

    def hello(self, body: bytes) -> Outcome:
        return self._there().hello(body)

    def close(self) -> None:
        self._end.close()


class World:
    """A rig whose machine has a network, and whose broker is reached over it."""

    def __init__(self, rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rig, self.fake = rig, FakeWireGuard(rig.root)
        self.mended = False
        """Whether somebody saw to it that nothing cuts it off."""
        self.minute = 0.3
        """The minute of a trial, once it is cut off: until then, one that no slow machine needs."""
        self._patch = monkeypatch
        self._reached(True)

        def machine_at(root: Path, **more: Any) -> Machine:
            assert root == rig.root
            return evolve(self.fake.machine, kept=more["kept"], alive=more["alive"])

        monkeypatch.setattr("mesh_adapters.host.agent.place.machine_at", machine_at)

    @property
    def address(self) -> str | None:
        """The address of the machine in the overlay."""
        return self.fake.link.addresses[0] if self.fake.link and self.fake.link.addresses else None

    def reached(self) -> bool:
        return self._reached(self.mended or self.address != "10.77.0.66/24")

    def _reached(self, so: bool) -> bool:
        self._patch.setattr(trial, "MINUTE", 60.0 if so else self.minute)
        return so

    def agent(self, **more: Any) -> Agent:
        return self.rig.agent(**{"connect": lambda: Over(self.rig, self.reached), **more})

    def send(self, generation: int, network: DeclaredNetwork | None) -> None:
        self.rig.send(declared(generation, network))

    def once(self, generation: int, network: DeclaredNetwork | None) -> Report:
        self.send(generation, network)
        return self.agent().once()

    def words(self) -> str:
        return (self.rig.root / "etc/words").read_text()

    @property
    def trying(self) -> int | None:
        return read_record(self.fake.machine.state).trying


def declared(generation: int, network: DeclaredNetwork | None) -> bytes:
    """A declaration with a file beside its network, which says of which generation it is."""
    module = DeclaredModule(name="words", version="1", resources=[file("/etc/words", str(generation))])
    told = Declaration(node="pi", generation=generation, network=network, modules=[module])
    return canonical_json(declaration_to_data(told)).encode()


def done(rig: Rig, generation: int) -> Callable[[], bool]:
    """Whether it was reported that a generation was brought to its end."""
    return lambda: any(r.applied == generation and r.doing is not Doing.APPLYING for r in rig.reports)


def ended(rig: Rig, generation: int) -> Report:
    """The first report of how a generation ended."""
    until(done(rig, generation), f"{generation} is brought to its end")
    return next(r for r in rig.reports if r.applied == generation and r.doing is not Doing.APPLYING)
