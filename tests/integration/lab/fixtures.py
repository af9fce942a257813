"""Fixtures for every test that needs machines; a folder's conftest.py imports those that it uses."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.integration.lab.availability import why_not
from tests.integration.lab.machine import LabMachine


@pytest.fixture(scope="session")
def lab() -> None:
    """What uses this, or one of the others here, is skipped where there can be no machine."""
    need_lab()


def need_lab() -> None:
    """Skip where there can be no machine, and say why; in CI nothing is skipped, so fail there."""
    why = why_not()
    if why is None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{why}; CI skips nothing", pytrace=False)
    pytest.skip(why)


@pytest.fixture(scope="module")
def machine(lab: None) -> Iterator[LabMachine]:
    """One running machine for all tests of a file."""
    with LabMachine("lab") as started:
        yield started


@pytest.fixture
def new_machine(lab: None) -> Iterator[Callable[[str], LabMachine]]:
    """Start machines by name; they end with the test."""
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(LabMachine(name))
