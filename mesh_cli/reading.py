"""Files that a person names: read within a limit, as JSON or TOML by their ending; `-` is stdin."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mesh_cli.exits import Exit, Stop
from mesh_cli.wiring import files_beside, known_kinds

if TYPE_CHECKING:
    from mesh_core.model.module import Module
    from mesh_core.model.node import Capability
    from mesh_core.wire.document import MeshDocument
    from mesh_core.wire.faults import Fault
    from mesh_core.wire.text import Syntax

_FAULTS_SHOWN = 20


def mesh_document(name: str) -> MeshDocument:
    """The mesh document in a file. Stops with every fault of it."""
    from mesh_core.wire.document import read_mesh
    from mesh_core.wire.faults import WireError
    from mesh_core.wire.text import MESH_LIMIT

    content = bytes_of(name, MESH_LIMIT)
    try:
        syntax = _syntax(name, content)
        return read_mesh(content, syntax, beside=files_beside(name), kinds=known_kinds())
    except WireError as error:
        raise malformed(name, error.faults) from None


def manifest(name: str) -> Module:
    """The module manifest in a file. Stops with every fault of it."""
    from mesh_core.wire.document import read_module
    from mesh_core.wire.faults import WireError
    from mesh_core.wire.text import MANIFEST_LIMIT

    content = bytes_of(name, MANIFEST_LIMIT)
    try:
        syntax = _syntax(name, content)
        return read_module(content, syntax, beside=files_beside(name), kinds=known_kinds())
    except WireError as error:
        raise malformed(name, error.faults) from None


def manifests(names: Sequence[str]) -> list[Module]:
    """The module manifests in several files, each of another module."""
    if names.count("-") > 1:
        raise Stop(Exit.USAGE, "stdin-twice", "- is standard input, which can be read once; give it once")
    found = [manifest(name) for name in names]
    called = [module.name for module in found]
    for name in called:
        if called.count(name) > 1:
            raise Stop(Exit.USAGE, "named-twice", f"two of the files are manifests of {name!r}; give one")
    return found


def report(name: str) -> tuple[Capability, ...]:
    """What a machine said of itself, in a file. Stops with every fault of it."""
    from mesh_core.wire.document import read_report
    from mesh_core.wire.faults import WireError
    from mesh_core.wire.text import REPORT_LIMIT

    content = bytes_of(name, REPORT_LIMIT)
    try:
        return read_report(content, _syntax(name, content))
    except WireError as error:
        raise malformed(name, error.faults) from None


def bytes_of(name: str, limit: int) -> bytes:
    """A file's bytes; one more than the limit at most, which is enough to see that it is too large."""
    if not name:
        raise Stop(Exit.USAGE, "no-file", "the name of the file is empty; - is standard input")
    try:
        if name == "-":
            return sys.stdin.buffer.read(limit + 1)
        with Path(name).open("rb") as file:
            return file.read(limit + 1)
    except OSError as error:
        why = error.strerror or str(error)
        raise Stop(Exit.FAILED, "unreadable-file", f"{name} cannot be read: {why}", {"file": name}) from None


def _syntax(name: str, content: bytes) -> Syntax:
    """By the ending; what comes from stdin is JSON if it begins like it."""
    from mesh_core.wire.text import Syntax

    ending = Path(name).suffix.lower()
    if ending == ".json":
        return Syntax.JSON
    if ending == ".toml":
        return Syntax.TOML
    if name == "-":
        return Syntax.JSON if content.lstrip()[:1] in (b"{", b"[", b"") else Syntax.TOML
    wanted = "its name ends with neither .json nor .toml"
    raise Stop(
        Exit.USAGE, "unknown-syntax", f"{name}: {wanted}; give it as - to have it guessed", {"file": name}
    )


def malformed(name: str, faults: Sequence[Fault]) -> Stop:
    """That a document is refused, with its faults."""
    shown = "standard input" if name == "-" else name
    count = f"{len(faults)} faults" if len(faults) > 1 else "1 fault"
    lines = [f"{shown} is refused, with {count}:", *(f"  {fault}" for fault in faults[:_FAULTS_SHOWN])]
    if len(faults) > _FAULTS_SHOWN:
        lines.append(f"  and {len(faults) - _FAULTS_SHOWN} more (--json has all)")
    facts = [
        {"path": f.path, "found": f.found, "wanted": f.wanted, "suggestion": f.suggestion} for f in faults
    ]
    return Stop(Exit.FAILED, "malformed", lines, {"file": name, "faults": facts})
