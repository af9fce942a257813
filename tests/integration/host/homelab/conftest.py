"""A machine of the lab for the homelab's laptop."""

from tests.integration.lab.fixtures import lab, machine

__all__ = ["lab", "machine"]
