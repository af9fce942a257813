"""The names of the others: a block in `/etc/hosts`, and everything around it stays byte for byte. Pure.

systemd-resolved reads that file as well, so one block serves both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from mesh_core.model.network import DOMAIN

BEGIN: Final = "# mesh-host: begin. The names of the mesh, written anew: nothing else stays in here."
END: Final = "# mesh-host: end."


class DamagedBlock(ValueError):
    """One of the two lines that the block begins and ends with is not there, or stands twice."""


def block(names: Iterable[tuple[str, str]]) -> list[str]:
    """The lines of the block: `10.77.0.3 pi.mesh`."""
    return [BEGIN, *(f"{address} {node}.{DOMAIN}" for node, address in names), END]


def with_names(text: str, names: Iterable[tuple[str, str]]) -> str:
    """The text of a hosts file with these names in the block, and without a block where there are none.

    Raises `DamagedBlock`.
    """
    names = tuple(names)
    lines = text.splitlines(keepends=True)
    bare = [line.rstrip("\r\n") for line in lines]
    if bare.count(BEGIN) > 1 or bare.count(END) > 1 or (BEGIN in bare) != (END in bare):
        raise DamagedBlock
    new = [f"{line}\n" for line in block(names)] if names else []
    if BEGIN not in bare:
        if not new:
            return text
        whole = not lines or lines[-1].endswith("\n")
        return text + ("" if whole else "\n") + "".join(new)
    first, last = bare.index(BEGIN), bare.index(END)
    if last < first:
        raise DamagedBlock
    return "".join([*lines[:first], *new, *lines[last + 1 :]])
