"""The laws of design, part 8, for `reconcile`. What each says stands in `mesh_core.testing.laws.machine`."""

import pytest
from hypothesis import settings

from mesh_core.reconcile import reconcile
from mesh_core.testing.laws.machine import MACHINE_LAWS, MachineCheck

EXAMPLES = settings(max_examples=5 * settings().max_examples, deadline=None)


@pytest.mark.parametrize("check", MACHINE_LAWS, ids=lambda check: check.__name__)
def test_reconciliation_keeps_the_law(check: MachineCheck) -> None:
    check(reconcile, EXAMPLES)
