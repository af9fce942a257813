"""The laws of design, part 3, for the resolver. What each says stands in `mesh_core.testing.laws`."""

import pytest
from hypothesis import settings

from mesh_core import resolve
from mesh_core.testing import LAWS
from mesh_core.testing.laws.law import Check

EXAMPLES = settings(max_examples=3 * settings().max_examples, deadline=None)


@pytest.mark.parametrize("check", LAWS, ids=lambda check: check.__name__)
def test_the_resolver_keeps_the_law(check: Check) -> None:
    check(resolve, EXAMPLES)
