"""Fixtures for every test that needs machines; a folder's conftest.py imports those that it uses."""

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.integration.lab.availability import why_no_databases, why_no_network, why_no_tunnels, why_not
from tests.integration.lab.machine import LabMachine
from tests.integration.lab.network import LabNetwork


@pytest.fixture(scope="session")
def lab() -> None:
    """What uses this, or one of the others here, is skipped where there can be no machine."""
    need_lab()


def need_lab() -> None:
    """Skip where there can be no machine, and say why; in CI nothing is skipped, so fail there."""
    need(why_not())


def need(why: str | None) -> None:
    """The same for any reason why something cannot be here."""
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


@pytest.fixture(scope="module")
def network() -> Iterator[LabNetwork]:
    """One network for all tests of a file, and nobody in it."""
    need(why_no_network())
    with LabNetwork() as made:
        yield made


@pytest.fixture(scope="session")
def tunnels() -> None:
    """What uses this is skipped where machines cannot be joined by WireGuard."""
    need(why_no_tunnels())


@pytest.fixture(scope="session")
def databases() -> None:
    """What uses this is skipped where machines cannot run PostgreSQL."""
    need(why_no_databases())
