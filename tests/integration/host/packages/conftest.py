"""A site for each package manager; each test has a root of its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.host.packages.apt_root import AptRoot
from tests.integration.host.packages.dnf_root import DnfRoot
from tests.integration.host.packages.pacman_root import PacmanRoot
from tests.integration.host.packages.site import Site
from tests.integration.host.packages.tiny import PackageRoot

ROOTS: dict[str, Callable[[Path], PackageRoot]] = {"apt": AptRoot, "dnf": DnfRoot, "pacman": PacmanRoot}


@pytest.fixture(params=list(ROOTS))
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """An empty root of a manager, with a host; where the manager is not here the test is skipped."""
    yield from site_of(request.param, tmp_path)


def site_of(manager: str, folder: Path) -> Iterator[Site]:
    packages = ROOTS[manager](folder)
    yield Site(packages, folder / "state")
    packages.close()


@pytest.fixture
def apt(tmp_path: Path) -> Iterator[Site]:
    yield from site_of("apt", tmp_path)


@pytest.fixture
def dnf(tmp_path: Path) -> Iterator[Site]:
    yield from site_of("dnf", tmp_path)


@pytest.fixture
def pacman(tmp_path: Path) -> Iterator[Site]:
    yield from site_of("pacman", tmp_path)
