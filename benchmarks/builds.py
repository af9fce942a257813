"""Times what builds add: packing and publishing a tree, and how it stands with every module.

A tree is packed by ours and put into a layout, against `tarfile`, a SHA-256 over the tar, and one synced copy
of it: what anybody does who wants the same on the disk. The catalogue is what `mesh module list` reads and
works out, against reading the standings of the nodes alone, which it cannot do without. A ratio is the median
of the ratios of each turn; time is wall time.
"""

from __future__ import annotations

import hashlib
import os
import tarfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from attrs import frozen

from mesh_adapters.build.packing import Packed, pack
from mesh_adapters.build.provenance import Made
from mesh_adapters.build.publishing import NotPublished, Tree, publish
from mesh_adapters.build.registry_text import LayoutRegistry
from mesh_adapters.store import SqliteStore
from mesh_cli.looking import states_of_modules
from mesh_core import Assign, PutModule, PutNode
from mesh_core.change import Change, SetSource
from mesh_core.event import Event
from mesh_core.model.build import Request
from mesh_core.model.module import Module
from mesh_core.model.node import Node
from mesh_core.model.said import Report
from mesh_core.model.sent import Sent
from mesh_core.model.source import Commit, Newest, Source
from mesh_core.wire.declaration import on_machine

FILES, BYTES = 1_000, 4_000
MODULES, NODES, EACH = 1_000, 1_000, 34
"""Modules in the catalogue, nodes, and the modules that each node has."""

_AT = "2026-12-01T22:20:02Z"
_COMMIT = Commit(id="4" * 40, at=_AT)
_SOURCE = Source(repository="https://git.example/web")


@frozen(kw_only=True)
class Worked:
    """Medians in seconds of both, each with its floor, and of the ratios."""

    packed: float
    packed_floor: float
    against_tarfile: float
    listed: float
    listed_floor: float
    against_standings: float


def measure(*, repetitions: int) -> Worked:
    """That many turns of each."""
    with TemporaryDirectory(prefix="mesh-bench-") as place:
        packed = _packing(Path(place), repetitions)
        listed = _listing(Path(place), repetitions)
    return Worked(
        packed=median(ours for ours, _ in packed),
        packed_floor=median(floor for _, floor in packed),
        against_tarfile=median(ours / floor for ours, floor in packed),
        listed=median(ours for ours, _ in listed),
        listed_floor=median(floor for _, floor in listed),
        against_standings=median(ours / floor for ours, floor in listed),
    )


def _packing(place: Path, repetitions: int) -> list[tuple[float, float]]:
    tree = place / "tree"
    for number in range(FILES):
        file = tree / f"folder-{number % 20:02}" / f"file-{number:04}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(f"{number:04} ".encode() * (BYTES // 5))
    turns = []
    for number in range(repetitions):
        work = place / str(number)
        work.mkdir()
        turns.append((_timed(partial(_ours, tree, work)), _timed(partial(_plainly, tree, work))))
    return turns


def _ours(tree: Path, work: Path) -> None:
    tar = work / "ours.tar"
    packed = pack(tree, tar, _AT)
    assert isinstance(packed, Packed), packed
    request = Request(
        id="0" * 12, module="web", repository=_SOURCE.repository, commit=_COMMIT.id, ref=_SOURCE.ref
    )
    made = Made(request=request, version="1", commit=_COMMIT, builder="smith", started=_AT, finished=_AT)
    registry = LayoutRegistry(path=str(work / "registry"))
    published = publish(registry, Tree(tar=tar, packed=packed), made, work=work)
    assert not isinstance(published, NotPublished), published


def _plainly(tree: Path, work: Path) -> None:
    tar = work / "plain.tar"
    with tarfile.open(tar, "w") as file:
        file.add(tree, ".")
    content = tar.read_bytes()
    with (work / hashlib.sha256(content).hexdigest()).open("wb") as blob:
        blob.write(content)
        blob.flush()
        os.fsync(blob.fileno())


def _listing(place: Path, repetitions: int) -> list[tuple[float, float]]:
    path = place / "mesh.db"
    _fill(path)
    store = SqliteStore.open(path)

    def ours() -> None:
        states = states_of_modules(store, store.mesh())
        if sum(len(state.on) for state in states.values()) != NODES * EACH:
            raise AssertionError("not everything that runs was found")

    turns = [(_timed(ours), _timed(store.standings)) for _ in range(repetitions)]
    store.close()
    return turns


def _fill(path: Path) -> None:
    dice = Random(7)
    modules = [Module(name=f"module-{n:04}", version="1") for n in range(MODULES)]
    digests = {module.name: on_machine(module) for module in modules}
    of_node = {f"node-{n:04}": sorted(dice.sample([*digests], EACH)) for n in range(NODES)}
    changes: list[Change] = [PutModule(module=module) for module in modules]
    changes += [SetSource(module=name, source=_SOURCE) for name in digests]
    for node, names in of_node.items():
        changes += [PutNode(node=Node(name=node)), *(Assign(node=node, module=name) for name in names)]
    SqliteStore.create(path)
    store = SqliteStore.open(path)
    with store.writing() as session:
        session.record(Event(at=_AT, who="bench", command="bench", changes=changes))
        for name in digests:
            session.saw(name, _SOURCE, Newest(commit=_COMMIT), _AT)
        for node, names in of_node.items():
            manifests = [(name, digests[name]) for name in names]
            sent = Sent(node=node, generation=1, fingerprint="f", modules=names, manifests=manifests, at=_AT)
            session.send(sent, b"{}")
            session.hear(Report(node=node, machine="m", generation=1, applied=1, modules=names), _AT)
    store.close()


def _timed(work: Callable[[], object]) -> float:
    os.sync()  # nobody pays for what was written before
    begun = perf_counter()
    work()
    return perf_counter() - begun
