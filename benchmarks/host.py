"""Times a host on a declaration of many files, against plain Python that does the least that it could.

Applied anew: against writing the files and syncing each. Applied again, unchanged: against reading the files
and hashing them. A ratio is the median of the ratios of each turn, as in `measure`; time is wall time, since
what a disk does is in nobody's processor time.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from attrs import frozen

from mesh_adapters.host.applying import Decided, Host, apply, decide, unchanged
from mesh_adapters.host.files import Files
from mesh_adapters.host.journal import Journal
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.memory import collect_less
from mesh_adapters.host.registry import known_kinds
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.model.resource import Resource
from mesh_core.wire.declaration import declaration_to_data

FILES = 1_000
BYTES = 4_000


@frozen(kw_only=True)
class Applied:
    """Medians in seconds of both, each with its floor, and of the ratios."""

    first: float
    first_floor: float
    against_writing: float
    again: float
    again_floor: float
    against_reading: float


def measure(*, repetitions: int) -> Applied:
    """That many turns, each in a new directory; the collector comes by as in `mesh-host`."""
    collect_less()
    with TemporaryDirectory(prefix="mesh-bench-") as place:
        turns = [_turn(Path(place) / str(number)) for number in range(repetitions)]
    return Applied(
        first=median(turn["first"] for turn in turns),
        first_floor=median(turn["write"] for turn in turns),
        against_writing=median(turn["first"] / turn["write"] for turn in turns),
        again=median(turn["again"] for turn in turns),
        again_floor=median(turn["read"] for turn in turns),
        against_reading=median(turn["again"] / turn["read"] for turn in turns),
    )


def _turn(place: Path) -> dict[str, float]:
    contents = {f"/etc/many/file-{n:04}": f"{n:04} ".encode() * (BYTES // 5) for n in range(FILES)}
    declaration = _declaration(contents)
    plain, root = place / "plain", place / "root"
    (plain / "etc/many").mkdir(parents=True)
    (root / "etc/many").mkdir(parents=True)
    journal = Journal.open(place / "journal")
    machine = Machine(root=root, files=Files(root), privileged=os.geteuid() == 0, kept=journal.kept)
    host = Host(machine=machine, journal=journal, kinds=known_kinds())
    times = {
        "write": _timed(lambda: _write(plain, contents)),
        "first": _timed(lambda: _apply(declaration, host)),
        "read": _timed(lambda: _read(plain, contents)),
        "again": _timed(lambda: _again(declaration, host)),
    }
    journal.close()
    return times


def _declaration(contents: dict[str, bytes]) -> bytes:
    resources = [
        Resource(kind="file", path=path, attributes_json={"content": content.decode()})
        for path, content in contents.items()
    ]
    module = DeclaredModule(name="many", version="1", resources=resources)
    declaration = Declaration(node="machine", generation=1, modules=[module])
    return json.dumps(declaration_to_data(declaration)).encode()


def _write(root: Path, contents: dict[str, bytes]) -> None:
    for path, content in contents.items():
        with open(f"{root}{path}", "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())


def _read(root: Path, contents: dict[str, bytes]) -> None:
    for path in contents:
        with open(f"{root}{path}", "rb") as file:
            hashlib.sha256(file.read()).hexdigest()


def _apply(declaration: bytes, host: Host) -> None:
    decided = decide(declaration, host)
    if not isinstance(decided, Decided) or not apply(decided, host).well:
        raise AssertionError("the declaration was not applied")


def _again(declaration: bytes, host: Host) -> None:
    if unchanged(declaration, host) is None:
        raise AssertionError("the second apply found something to do")


def _timed(work: Callable[[], None]) -> float:
    os.sync()  # nobody pays for what was written before
    begun = perf_counter()
    work()
    return perf_counter() - begun
