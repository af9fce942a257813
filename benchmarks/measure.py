"""Times `resolve`, both floors and a tuned solver on one mesh, and checks that they agree.

Every clock of the resolver's benchmark is read here. The four take turns in one process, and the
garbage collector runs as it always does; only what the last turn left is collected before the next
begins. What is counted is the process's own processor time, so that other work on the machine
weighs less.
"""

import gc
import json
from collections.abc import Callable
from statistics import median
from time import process_time
from typing import Any, TypeVar

from attrs import asdict, frozen

from benchmarks import graph_each, plain, tuned
from benchmarks.generate import Kind, generate
from mesh_core import Mesh, Refusal, Resolution, mesh_from_data, resolve

FLOORS = ("plain", "tuned", "graph")

Given = TypeVar("Given")
Made = TypeVar("Made")


@frozen(kw_only=True)
class Counts:
    """What a resolution holds; counting it is part of the timed work, so nothing is left undone."""

    plans: int = 0
    refusals: int = 0
    modules: int = 0
    by: int = 0
    answers: int = 0
    takes: int = 0
    unsettled: int = 0
    problems: int = 0


@frozen(kw_only=True)
class Measured:
    """One mesh: medians in seconds, what came out, and on which planned nodes a floor differs.

    A ratio is the median of the ratios of each turn: a machine that gets slower or faster meanwhile does
    so for both sides of a turn.
    """

    kind: Kind
    nodes: int
    repetitions: int
    resolve: float
    plain: float
    tuned: float
    graph: float
    read: float
    against_plain: float
    """Times of the first floor."""
    against_tuned: float
    """Times of the tuned solver, which has no target."""
    against_graph: float
    """Times of the second floor."""
    counts: Counts
    differing: tuple[str, ...]

    def as_data(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def measure(*, kind: Kind, nodes: int, repetitions: int) -> Measured:
    """Times of that many turns on a generated mesh."""
    text = json.dumps(generate(nodes=nodes, kind=kind))
    turns = [turn(text) for _ in range(repetitions)]
    return Measured(
        kind=kind,
        nodes=nodes,
        repetitions=repetitions,
        **{what: median(times[what] for times, _ in turns) for what in turns[0][0]},
        **{f"against_{floor}": median(t["resolve"] / t[floor] for t, _ in turns) for floor in FLOORS},
        counts=turns[0][1],
        differing=differing(text),
    )


def turn(text: str) -> tuple[dict[str, float], Counts]:
    """Each of the four once: seconds, and what `resolve` made.

    Everything is read anew. A mesh that remembers what was worked out for it would make all turns
    but the first look cheap; and while `resolve` runs the document is gone, as it is in use, so
    that the collector does not go through it.
    """
    times = {}
    document = json.loads(text)
    times["plain"] = timed(plain.solve, document)[0]
    times["tuned"] = timed(tuned.solve, document)[0]
    times["graph"] = timed(graph_each.solve, document)[0]
    times["read"], mesh = timed(mesh_from_data, document)
    del document
    times["resolve"], (_resolution, counts) = timed(counted, mesh)
    return times, counts


def timed(work: Callable[[Given], Made], given: Given) -> tuple[float, Made]:
    """Seconds that the work took, and what it made: letting go of that is in nobody's time."""
    gc.collect()
    begun = process_time()
    made = work(given)
    return process_time() - begun, made


def counted(mesh: Mesh) -> tuple[Resolution, Counts]:
    """Resolve, and go through everything that came out."""
    resolution = resolve(mesh)
    return resolution, count(resolution)


def count(resolution: Resolution) -> Counts:
    """Look at every module, its `by`, every answer, take and problem."""
    refusals = modules = by = answers = takes = unsettled = problems = 0
    for outcome in resolution.nodes.values():
        modules += len(outcome.modules)
        by += sum([len(module.by) for module in outcome.modules])
        answers += len(outcome.answers)
        if isinstance(outcome, Refusal):
            refusals += 1
            problems += len(outcome.problems)
        else:
            takes += len(outcome.takes)
            unsettled += len(outcome.unsettled)
    return Counts(
        plans=len(resolution.nodes) - refusals,
        refusals=refusals,
        modules=modules,
        by=by,
        answers=answers,
        takes=takes,
        unsettled=unsettled,
        problems=problems,
    )


def differing(text: str) -> tuple[str, ...]:
    """The planned nodes on which closure or order of a floor is not the resolver's."""
    document = json.loads(text)
    solvers = (plain.solve(document), tuned.solve(document), graph_each.solve(document))
    found = []
    for name, outcome in resolve(mesh_from_data(document)).nodes.items():
        if not isinstance(outcome, Refusal):
            ordered = [module.name for module in outcome.modules]
            if any(solved[name] != (set(ordered), ordered) for solved in solvers):
                found.append(name)
    return tuple(found)
