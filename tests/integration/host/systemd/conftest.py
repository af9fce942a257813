"""One machine for all tests of a file; each test uses units of its own and takes them off."""

from collections.abc import Iterator

import pytest

from tests.integration.host.systemd.node import Node
from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import machine as machine
from tests.integration.lab.machine import LabMachine


@pytest.fixture
def node(machine: LabMachine) -> Iterator[Node]:
    """The host in the machine, with a journal that is new."""
    yield Node(machine)
    machine.run(["rm", "-rf", "/var/lib/mesh-host"])
