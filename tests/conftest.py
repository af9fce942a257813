"""What holds for every test: how hard hypothesis looks, how many workers there are, what begins.

Fixtures live beside their tests.
"""

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# No deadline anywhere: a busy machine is no fault of the code, and no test measures time.
settings.register_profile("default", max_examples=60, deadline=None)
# The same examples in every run, so that a red run means the change and not the dice.
settings.register_profile(
    "ci", max_examples=100, deadline=None, derandomize=True, print_blob=True, database=None
)
settings.register_profile(
    "thorough",
    max_examples=5_000,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "default"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that take long come first: no worker is alone with one of them when all others are done."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.hookimpl(wrapper=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> Generator[None, int, int]:
    """Three workers for two processors: a third of the time tests wait, for machines and brokers."""
    found = yield
    return found if "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ else found + found // 2
