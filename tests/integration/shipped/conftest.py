"""One machine for all tests of a file."""

from tests.integration.lab.fixtures import lab, machine

__all__ = ["lab", "machine"]
