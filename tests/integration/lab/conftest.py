"""What the lab's own tests share."""

from tests.integration.lab.fixtures import databases as databases
from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import machine as machine
from tests.integration.lab.fixtures import network as network
from tests.integration.lab.fixtures import new_machine as new_machine
from tests.integration.lab.fixtures import tunnels as tunnels
