"""The in-process broker keeps the contract, and is one for all ends of a name in a process."""

from threading import Thread

import pytest

from mesh_adapters.broker import open_broker, open_host, parse
from mesh_adapters.broker.address import MemoryAddress
from mesh_core.ports import Confirmed, Outgoing
from tests.integration.broker.contract import BrokerContract
from tests.integration.broker.contract_of_builds import ContractOfBuilds
from tests.integration.broker.harness import Harness, MemoryHarness


class TestContract(BrokerContract):
    @pytest.fixture
    def harness(self) -> Harness:
        return MemoryHarness()


class TestContractOfBuilds(ContractOfBuilds):
    @pytest.fixture
    def harness(self) -> Harness:
        return MemoryHarness()


def test_ends_of_one_name_meet_and_those_of_another_do_not() -> None:
    here, there = MemoryAddress(name="test-here"), MemoryAddress(name="test-there")
    for address in (here, there):
        open_broker(address).add_nodes(["pi"])
    again = parse("memory://test-here")
    assert isinstance(again, MemoryAddress)
    assert open_broker(again).publish([Outgoing(node="pi", body=b"1")]) == (Confirmed(),)
    assert open_host(there, "pi").take(0) is None
    taken = open_host(here, "pi").take(0)
    assert taken is not None
    assert taken.content == b"1"


def test_hosts_in_threads_of_their_own() -> None:
    """Three hosts answer each declaration with a report that repeats it."""
    address = MemoryAddress(name="test-threads")
    nodes = ("a", "b", "c")
    broker = open_broker(address)
    broker.add_nodes(nodes)

    def run(node: str) -> None:
        host = open_host(address, node)
        for _ in range(20):
            taken = host.take(10)
            assert taken is not None
            assert isinstance(taken.content, bytes)
            taken.ack()
            assert host.report(taken.content) == Confirmed()
        host.close()

    threads = [Thread(target=run, args=(node,)) for node in nodes]
    for thread in threads:
        thread.start()
    broker.listen(nodes)
    for number in range(20):
        body = str(number).encode()
        assert broker.publish([Outgoing(node=node, body=body) for node in nodes]) == (Confirmed(),) * 3
        heard: set[str] = set()
        while len(heard) < 3:
            report = broker.take(10)
            assert report is not None
            assert report.content == body
            heard.add(report.node)
            report.ack()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
