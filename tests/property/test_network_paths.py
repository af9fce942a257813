"""The laws of paths. What each says stands in `mesh_core.testing.laws.paths`."""

import pytest
from hypothesis import settings

from mesh_core.network.paths import Paths, endpoint_for
from mesh_core.testing.laws.paths import PATH_LAWS, Finding, PathCheck

EXAMPLES = settings(max_examples=3 * settings().max_examples, deadline=None)


@pytest.mark.parametrize("check", PATH_LAWS, ids=lambda check: check.__name__)
def test_paths_keep_the_law(check: PathCheck) -> None:
    check(Finding(endpoint_for=endpoint_for, between=lambda nodes: Paths(nodes).between), EXAMPLES)
