"""Artifacts of modules on a host: got by their digest, checked whole, and unpacked where they belong.

Nothing of the network is imported here; `fetching` does it once something has to be got.
"""
