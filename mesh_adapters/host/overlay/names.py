"""The names of the others: a block in `/etc/hosts`, and everything around it stays byte for byte. Pure.

systemd-resolved reads that file as well, so one block serves both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mesh_core.model.network import DOMAIN

BEGIN: Final = b"# mesh-host: begin. The names of the mesh, written anew: nothing else stays in here."
END: Final = b"# mesh-host: end."


class DamagedBlock(ValueError):
    """One of the two lines that the block begins and ends with is not there, or stands twice."""


def block(names: Iterable[tuple[str, str]]) -> bytes:
    """The lines of the block, `10.77.0.3 pi.mesh` between two that say whose it is."""
    lines = [BEGIN, *(f"{address} {node}.{DOMAIN}".encode() for node, address in names), END]
    return b"".join(line + b"\n" for line in lines)


def with_names(content: bytes, names: Iterable[tuple[str, str]]) -> bytes:
    """A hosts file with these names in the block, and without a block where there are none.

    A block stays where it is. A new one comes at the end; but at the beginning where the last line is not
    ended, since to end it would be to change it. Raises `DamagedBlock`.
    """
    names = tuple(names)
    new = block(names) if names else b""
    found = _found(content)
    if found is not None:
        before, after = found
        return before + new + after
    ended = content.endswith(b"\n") or not content
    return content + new if ended else new + content


def without_block(content: bytes) -> bytes:
    """What is not ours of a hosts file. Raises `DamagedBlock`."""
    found = _found(content)
    return content if found is None else b"".join(found)


def _found(content: bytes) -> tuple[bytes, bytes] | None:
    """What stands before the block and after it; None where there is none."""
    lines = content.splitlines(keepends=True)
    bare = [line.rstrip() for line in lines]
    if BEGIN not in bare and END not in bare:
        return None
    if bare.count(BEGIN) != 1 or bare.count(END) != 1:
        raise DamagedBlock
    first, last = bare.index(BEGIN), bare.index(END)
    if last < first:
        raise DamagedBlock
    return b"".join(lines[:first]), b"".join(lines[last + 1 :])
