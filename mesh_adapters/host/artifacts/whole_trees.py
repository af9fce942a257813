"""What `shutil` does to directories; it is imported when it is used, as few runs of the host use it."""

from __future__ import annotations

from pathlib import Path


def remove_all(place: str | Path) -> None:
    """Remove a directory of our own with everything in it. Raises `OSError`."""
    import shutil

    shutil.rmtree(place)


def copy_rights(one: str, other: str) -> None:
    """Give another directory the mode, the times and the extended attributes of one. Raises `OSError`."""
    import shutil

    shutil.copystat(one, other)
