"""What the lab's own tests share."""

from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import machine as machine
from tests.integration.lab.fixtures import new_machine as new_machine
