"""RabbitMQ keeps the contract."""

from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from mesh_adapters.broker import topology_of_builds
from mesh_adapters.broker.rabbit import RabbitHost
from mesh_core.ports import Broker, HostBroker, Kind
from tests.integration.broker.conftest import BUILDERS, NODES
from tests.integration.broker.contract import BrokerContract, taken
from tests.integration.broker.contract_of_builds import ContractOfBuilds
from tests.integration.broker.harness import Harness, RabbitHarness, raw
from tests.integration.broker.server import RabbitServer


class TestContract(BrokerContract):
    @pytest.fixture
    def harness(self, server: RabbitServer) -> Iterator[Harness]:
        with ExitStack() as stack:
            harness = RabbitHarness(server, stack)
            yield harness
            broker = harness.broker()
            for node in NODES:
                broker.remove_node(node)

    @pytest.fixture
    def broker(self, harness: Harness) -> Broker:
        broker = harness.broker()
        broker.add_nodes(NODES)
        return broker

    def any_host(self, harness: Harness, node: str) -> HostBroker:
        assert isinstance(harness, RabbitHarness)
        return harness._stack.enter_context(closing(RabbitHost(harness._server.address(), node)))

    def bcc_reaches_us(self, harness: Harness, broker: Broker) -> None:
        """It does not: RabbitMQ takes the header away, so what comes is as any other message."""
        harness.inject("nas", Kind.REPORT, b"1", {"BCC": ["elsewhere"]})
        broker.listen(["nas"])
        assert taken(broker).content == b"1"


class TestContractOfBuilds(ContractOfBuilds):
    @pytest.fixture
    def harness(self, server: RabbitServer) -> Iterator[Harness]:
        with ExitStack() as stack:
            yield RabbitHarness(server, stack)
        with raw(server.address()) as channel:
            for queue in (topology_of_builds.REQUESTS, topology_of_builds.GIVEN_UP):
                channel.queue_delete(queue)
            for builder in BUILDERS:
                channel.queue_delete(topology_of_builds.answers_of(builder))
