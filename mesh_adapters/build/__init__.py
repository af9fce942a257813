"""Builds: from a source at a commit to an artifact in a registry (design, parts 9 and 11)."""
