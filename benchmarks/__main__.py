"""`python -m benchmarks`: run everything, print the tables, exit 1 where a target is missed."""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from typing import get_args

from attrs import asdict, frozen

from benchmarks import broker, builds, host, idle, measure, overlay, startup
from benchmarks.broker import Published
from benchmarks.builds import Worked
from benchmarks.generate import Kind
from benchmarks.host import Applied
from benchmarks.idle import Idle
from benchmarks.measure import Measured
from benchmarks.overlay import Told
from benchmarks.startup import Started

SMALL, LARGE = 1_000, 10_000
REPETITIONS = {SMALL: 9, LARGE: 5}
QUICK = {SMALL: 3, LARGE: 2}
STARTS, QUICK_STARTS = 21, 7
APPLIES, QUICK_APPLIES = 9, 3
PUBLISHES, QUICK_PUBLISHES = 9, 3
RESTS, QUICK_RESTS = 3, 1
WORKS, QUICK_WORKS = 9, 3
TELLINGS, QUICK_TELLINGS = 9, 3

MOST_OF_PLAIN = 1.5
MOST_OF_GRAPH = 0.6
MOST_OF_BARE = 1.3
MOST_OF_WRITING = 2.0
MOST_OF_READING = 2.0
MOST_OF_PIPELINED = 1.5
MOST_OF_EACH = 0.3
MOST_OF_CONNECTED = 1.5
MOST_OF_TARFILE = 1.0
MOST_OF_STANDINGS = 3.0
MOST_OF_PEERS_TAKING = 8.0
MOST_OF_ALL_PEERS = 5.0
MOST_OF_LINEAR = 1.5
"""Time for ten times the nodes, over ten times the time: the collector alone costs some of it."""


@frozen(kw_only=True)
class Target:
    """One number and the most that it may be."""

    what: str
    value: float
    limit: float

    @property
    def missed(self) -> bool:
        """Whether it is over its limit."""
        return self.value > self.limit


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 0 where every target is met and everything agrees, else 1."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions: a first look")
    parser.add_argument("--json", action="store_true", help="print one JSON object, no tables")
    options = parser.parse_args(arguments)
    meshes = [
        measure.measure(kind=kind, nodes=nodes, repetitions=repetitions)
        for kind in get_args(Kind)
        for nodes, repetitions in (QUICK if options.quick else REPETITIONS).items()
    ]
    starts = start_times(QUICK_STARTS if options.quick else STARTS)
    applied = host.measure(repetitions=QUICK_APPLIES if options.quick else APPLIES)
    published = broker.measure(repetitions=QUICK_PUBLISHES if options.quick else PUBLISHES)
    rested = idle.measure(repetitions=QUICK_RESTS if options.quick else RESTS)
    worked = builds.measure(repetitions=QUICK_WORKS if options.quick else WORKS)
    told = overlay.measure(repetitions=QUICK_TELLINGS if options.quick else TELLINGS)
    targets = [*speed_targets(meshes), *start_targets(starts), *host_targets(applied)]
    targets += [
        *broker_targets(published),
        *idle_targets(rested),
        *build_targets(worked),
        *overlay_targets(told),
    ]
    faults = list(faults_of(meshes, starts))
    if options.json:
        data = as_data(meshes, starts, applied, published, rested, worked, told, targets, faults)
        print(json.dumps(data, indent=2))
    else:
        print("\n".join(tables(meshes, starts, applied, published, rested, worked, told, targets, faults)))
    return 1 if faults or any(target.missed for target in targets) else 0


def start_times(repetitions: int) -> list[Started]:
    """Nothing where there is no `mesh` to start; `faults_of` tells."""
    program = startup.program()
    return startup.measure(program, repetitions=repetitions) if program else []


def speed_targets(meshes: Sequence[Measured]) -> Iterator[Target]:
    """Both floors for each mesh, and linearity for each kind."""
    for mesh in meshes:
        what = f"{mesh.kind}, {mesh.nodes} nodes: resolve / "
        yield Target(what=what + "plain", value=mesh.against_plain, limit=MOST_OF_PLAIN)
        yield Target(what=what + "graph each", value=mesh.against_graph, limit=MOST_OF_GRAPH)
    for kind in get_args(Kind):
        small, large = (mesh for mesh in meshes if mesh.kind == kind)
        growth = large.resolve / small.resolve / (large.nodes / small.nodes)
        yield Target(what=f"{kind}: linear in nodes", value=growth, limit=MOST_OF_LINEAR)


def start_targets(starts: Sequence[Started]) -> Iterator[Target]:
    """Each question to `mesh` against the bare program."""
    for start in starts:
        what = f"mesh {start.option} / bare typer program"
        yield Target(what=what, value=start.against_bare, limit=MOST_OF_BARE)


def host_targets(applied: Applied) -> Iterator[Target]:
    """A host that applies many files, against plain Python that writes them, and that reads them."""
    what = f"host, {host.FILES} files: "
    yield Target(what=what + "first apply / writing", value=applied.against_writing, limit=MOST_OF_WRITING)
    yield Target(what=what + "unchanged / reading", value=applied.against_reading, limit=MOST_OF_READING)


def broker_targets(published: Published | str) -> Iterator[Target]:
    """Publishing to many nodes; nothing where there is no broker."""
    if isinstance(published, Published):
        what = f"publish to {broker.NUMBER} nodes: "
        yield Target(what=what + "/ pipelined", value=published.against_pipelined, limit=MOST_OF_PIPELINED)
        yield Target(what=what + "/ confirming each", value=published.against_each, limit=MOST_OF_EACH)


def idle_targets(rested: Idle | str) -> Iterator[Target]:
    """What a host that has nothing to do keeps of its machine; nothing where there is no broker."""
    if isinstance(rested, Idle):
        what = "memory of mesh-host run, idle / Python with its connection"
        yield Target(what=what, value=rested.against_bare, limit=MOST_OF_CONNECTED)


def build_targets(worked: Worked) -> Iterator[Target]:
    """A tree into a layout, against plain Python; the catalogue, against what it cannot do without."""
    what = f"tree of {builds.FILES} files: pack and publish / tarfile, sha256 and a synced copy"
    yield Target(what=what, value=worked.against_tarfile, limit=MOST_OF_TARFILE)
    what = f"{builds.MODULES} modules, {builds.NODES} nodes: states of modules / standings"
    yield Target(what=what, value=worked.against_standings, limit=MOST_OF_STANDINGS)


def overlay_targets(told: Told) -> Iterator[Target]:
    """What every node is told of the network, against making the values of its peers from a list."""
    what = f"overlay of {overlay.TAKING} nodes, each takes from {overlay.EACH} / its peers from a list"
    yield Target(what=what, value=told.against_takes, limit=MOST_OF_PEERS_TAKING)
    what = f"overlay of {overlay.FULL} nodes, all with all / their peers from a list"
    yield Target(what=what, value=told.against_full, limit=MOST_OF_ALL_PEERS)


def faults_of(meshes: Sequence[Measured], starts: Sequence[Started]) -> Iterator[str]:
    """What makes the numbers worthless, or is wrong whatever they are."""
    for mesh in meshes:
        if mesh.differing:
            some = ", ".join(mesh.differing[:3])
            count = len(mesh.differing)
            yield f"{mesh.kind}, {mesh.nodes} nodes: a floor differs on {count} nodes: {some}"
        counts = asdict(mesh.counts)
        if absent := [what for what, number in counts.items() if not number]:
            yield f"{mesh.kind}, {mesh.nodes} nodes: the mesh has no {', '.join(absent)}"
    if not starts:
        yield f"no mesh program beside {sys.executable}: install the project there first"
    for start in starts:
        if start.unwanted:
            yield f"mesh {start.option} imports {', '.join(start.unwanted)}"


def as_data(
    meshes: Sequence[Measured],
    starts: Sequence[Started],
    applied: Applied,
    published: Published | str,
    rested: Idle | str,
    worked: Worked,
    told: Told,
    targets: Sequence[Target],
    faults: Sequence[str],
) -> dict[str, object]:
    """Everything, for `--json`."""
    return {
        "meshes": [mesh.as_data() for mesh in meshes],
        "starts": [start.as_data() for start in starts],
        "host": asdict(applied),
        "broker": published if isinstance(published, str) else asdict(published),
        "idle": rested if isinstance(rested, str) else asdict(rested),
        "builds": asdict(worked),
        "overlay": asdict(told),
        "targets": [{**asdict(target), "missed": target.missed} for target in targets],
        "faults": list(faults),
    }


def tables(
    meshes: Sequence[Measured],
    starts: Sequence[Started],
    applied: Applied,
    published: Published | str,
    rested: Idle | str,
    worked: Worked,
    told: Told,
    targets: Sequence[Target],
    faults: Sequence[str],
) -> Iterator[str]:
    """The tables, line by line: what was timed, what came out, and each target."""
    yield "milliseconds, medians"
    heads = ("plain", "tuned", "resolve", "graph", "read", "/tuned")
    yield f"{'mesh':>8} {'nodes':>6} " + " ".join(f"{head:>8}" for head in heads)
    for mesh in meshes:
        times = (mesh.plain, mesh.tuned, mesh.resolve, mesh.graph, mesh.read)
        columns = " ".join(f"{1000 * seconds:8.1f}" for seconds in times)
        yield f"{mesh.kind:>8} {mesh.nodes:6} {columns} {mesh.against_tuned:8.2f}"
    yield ""
    yield "what resolve made of it"
    names = list(asdict(meshes[0].counts))
    yield f"{'mesh':>8} {'nodes':>6} " + " ".join(f"{name:>9}" for name in names)
    for mesh in meshes:
        columns = " ".join(f"{number:9}" for number in asdict(mesh.counts).values())
        yield f"{mesh.kind:>8} {mesh.nodes:6} {columns}"
    yield ""
    for start in starts:
        both = f"{1000 * start.mesh:.0f} ms, bare {1000 * start.bare:.0f} ms"
        yield f"mesh {start.option}: {both}"
    first, again = 1000 * applied.first, 1000 * applied.again
    yield f"host, first apply: {first:.0f} ms, writing {1000 * applied.first_floor:.0f} ms"
    yield f"host, unchanged: {again:.0f} ms, reading {1000 * applied.again_floor:.0f} ms"
    if isinstance(published, Published):
        floors = f"pipelined {1000 * published.pipelined:.0f} ms, each {1000 * published.each:.0f} ms"
        yield f"publish to {broker.NUMBER} nodes: {1000 * published.ours:.0f} ms, {floors}"
    else:
        yield f"publishing is not measured: {published}"
    if isinstance(rested, Idle):
        yield f"mesh-host run, idle: {rested.ours / 1024:.1f} MB, connected {rested.bare / 1024:.1f} MB"
    else:
        yield f"an idle host is not measured: {rested}"
    yield from build_lines(worked)
    yield from overlay_lines(told)
    yield ""
    yield f"{'ratio':>6} {'most':>5}"
    for target in targets:
        yield f"{target.value:6.2f} {target.limit:5.2f}  {verdict(target)}  {target.what}"
    for fault in faults:
        yield f"FAULT: {fault}"


def build_lines(worked: Worked) -> Iterator[str]:
    """What builds add, in milliseconds."""
    packed, listed = 1000 * worked.packed, 1000 * worked.listed
    yield f"pack and publish: {packed:.0f} ms, tarfile {1000 * worked.packed_floor:.0f} ms"
    yield f"states of modules: {listed:.0f} ms, standings alone {1000 * worked.listed_floor:.0f} ms"


def overlay_lines(told: Told) -> Iterator[str]:
    """What the network adds, in milliseconds."""
    takes, floor = 1000 * told.takes, 1000 * told.takes_floor
    yield f"overlay, takes: {takes:.0f} ms, {told.takes_peers} peers alone {floor:.0f} ms"
    full, floor = 1000 * told.full, 1000 * told.full_floor
    yield f"overlay, full: {full:.0f} ms, {told.full_peers} peers alone {floor:.0f} ms"


def verdict(target: Target) -> str:
    """One word, as wide as the other."""
    return "MISSED" if target.missed else "met   "


if __name__ == "__main__":
    sys.exit(main())
