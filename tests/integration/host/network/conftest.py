"""Machines of the lab with a network between them, for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.host.network.site import Host
from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import network as network
from tests.integration.lab.fixtures import tunnels as tunnels
from tests.integration.lab.machine import LabMachine
from tests.integration.lab.many import running
from tests.integration.lab.network import LabNetwork


@pytest.fixture(scope="module")
def two(lab: None, tunnels: None, network: LabNetwork) -> Iterator[tuple[Host, Host]]:
    """`nas` at 203.0.113.10 and `pi` at 203.0.113.20."""
    nas, pi = LabMachine("nas"), LabMachine("pi")
    with running(nas, pi):
        network.attach(nas, address="203.0.113.10")
        network.attach(pi, address="203.0.113.20")
        yield Host(nas, "10.77.0.1"), Host(pi, "10.77.0.2")


@pytest.fixture
def nas(two: tuple[Host, Host]) -> Iterator[Host]:
    """One of the two, with nothing of a network on it before and after."""
    yield two[0]
    two[0].does("leave")


@pytest.fixture
def pi(two: tuple[Host, Host]) -> Iterator[Host]:
    """The other."""
    yield two[1]
    two[1].does("leave")
