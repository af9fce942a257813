"""Fixtures of the broker: one RabbitMQ for all tests of a worker, started when the first one asks."""

import os
from collections.abc import Iterator

import pytest

pytest.register_assert_rewrite(
    "tests.integration.broker.contract", "tests.integration.broker.contract_of_builds"
)

from mesh_adapters.broker.topology import permissions_of  # noqa: E402
from mesh_adapters.broker.topology_of_builds import permissions_of as of_builder  # noqa: E402
from tests.integration.broker.server import RabbitServer, why_not  # noqa: E402

NODES = ("pi", "nas")
"""Nodes with accounts of their own, called as they are."""
BUILDERS = ("smith", "mason")
"""Builders in the same way."""


@pytest.fixture(scope="session")
def session_server() -> Iterator[RabbitServer]:
    """Skipped where there can be none, with the reason; CI skips nothing, so it fails there."""
    why = why_not()
    if why is not None and os.environ.get("CI") == "true":
        pytest.fail(f"{why}; CI skips nothing", pytrace=False)
    if why is not None:
        pytest.skip(why)
    with RabbitServer() as server:
        for node in NODES:
            server.add_account(node, permissions_of(node))
        for builder in BUILDERS:
            server.add_account(builder, of_builder(builder))
        yield server


@pytest.fixture
def server(session_server: RabbitServer) -> RabbitServer:
    """The running RabbitMQ; a test that leaves it dead or frozen ends the tests after it."""
    return session_server
