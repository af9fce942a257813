"""A way from inside a machine of the lab, which has a loopback of its own, to a port of this one."""

from tests.integration.lab.way import way_out

__all__ = ["way_out"]
