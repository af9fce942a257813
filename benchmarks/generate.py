"""Meshes of any size, as plain data (design, part 4), the same for the same seed.

8 assignments of the 300 modules give some 34. Names with two providers are assigned so that they
are answered; services with scope mesh run on few nodes; about one node in a hundred has a flaw and
is refused. Nothing enters here that reads a clock or is timed.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Literal

from benchmarks.catalogue import CHOICES, SERVICES, Data, catalogue
from benchmarks.tuned import Index, closure, index_of

Kind = Literal["roles", "uniform"]

ASSIGNMENTS = 8
ROLES = 50
FLAWED_EVERY = 100
UNREPORTED = 5
"""A node that others take from and that is refused: their takes are unsettled."""
MONITORS = (6, 7)
LEADERS = (8, 9)
"""Two holders of one mesh-scoped claim."""
EXPORTER_EVERY = 50


def generate(*, nodes: int, kind: Kind, seed: int = 1) -> Data:
    """A mesh document with that many nodes (at least 20); equal arguments, equal documents."""
    rng = Random(f"{seed} {kind}")
    modules = catalogue(Random(seed))
    maker = Maker(modules, rng)
    assigned = by_role(maker, nodes) if kind == "roles" else all_different(maker, nodes)
    entries = [maker.node(number, assign) for number, assign in enumerate(assigned)]
    for count, number in enumerate(range(FLAWED_EVERY // 2, nodes, FLAWED_EVERY)):
        FLAWS[count % len(FLAWS)](entries[number])
    rng.shuffle(entries)
    return {"format": 1, "modules": modules, "nodes": entries}


class Maker:
    """Draws assignments and makes nodes of one catalogue."""

    def __init__(self, modules: Sequence[Data], rng: Random) -> None:
        self.rng = rng
        self.index: Index = index_of(modules)
        self.pool = sorted(name for name in self.index.forced if name.startswith("unit-"))
        self.pool += sorted(provider for pair in CHOICES.values() for provider in pair)
        self.asked = {module["name"]: module.get("requires", ()) for module in modules}

    def unanswered(self, assigned: Sequence[str]) -> list[str]:
        """The names of `CHOICES` that the closure asks for and does not have."""
        found = closure(assigned, self.index.forced)
        asked = {name for module in found for name in self.index.choices.get(module, ())}
        return sorted(name for name in asked if found.isdisjoint(CHOICES[name]))

    def draw(self, fixed: Sequence[str], size: int) -> list[str]:
        """That many modules, `fixed` among them, drawn evenly, with each choice answered."""
        while True:
            drawn = self.rng.sample(self.pool, size - len(fixed))
            for place in range(len(drawn)):
                missing = self.unanswered([*fixed, *drawn])
                if not missing:
                    return [*fixed, *drawn]
                drawn[place] = self.rng.choice(CHOICES[missing[0]])

    def extended(self, role: Sequence[str], count: int) -> list[str]:
        """The role and as many more modules, of those that ask for no choice that is not there."""
        assigned = list(role)
        while len(assigned) < len(role) + count:
            extra = self.rng.choice(self.pool)
            if extra not in assigned and not self.unanswered([*assigned, extra]):
                assigned.append(extra)
        return assigned

    def node(self, number: int, assigned: Sequence[str]) -> Data:
        """A node that reported, pinned for every name it requires and two nodes offer."""
        asked = {
            name
            for module in closure(assigned, self.index.forced)
            for name in self.asked[module]
            if isinstance(name, str)
        }
        pins = {
            name: self.pin(name) for name, places in SERVICES.items() if len(places) > 1 and name in asked
        }
        gpu = {"present": self.rng.random() < 0.2, "detail": "looked for a device"}
        entry: Data = {"name": named(number), "assign": list(assigned)}
        if number != UNREPORTED:
            entry["capabilities"] = {"systemd": True, "kvm": self.rng.random() < 0.5, "gpu": gpu}
        return {**entry, "pins": pins} if pins else entry

    def pin(self, name: str) -> str:
        """One of the places of a service, sometimes with its module."""
        number, module = self.rng.choice(list(SERVICES[name].items()))
        return f"{named(number)}/{module}" if self.rng.random() < 0.3 else named(number)


def named(number: int) -> str:
    """The name of a node."""
    return f"node-{number:05d}"


def placed(number: int) -> list[str]:
    """What a node runs for others, whatever else it is."""
    found = [places[number] for places in SERVICES.values() if number in places]
    found += ["monitor"] if number in MONITORS else []
    found += ["leader"] if number in LEADERS else []
    found += ["exporter"] if number % EXPORTER_EVERY == 0 else []
    return found


def by_role(maker: Maker, nodes: int) -> list[list[str]]:
    """50 roles; each node is one of them, with 0 to 2 extras and what is placed on it."""
    roles = [maker.draw([], ASSIGNMENTS) for _ in range(ROLES)]
    return [
        maker.extended(maker.rng.choice(roles), maker.rng.randrange(3)) + placed(number)
        for number in range(nodes)
    ]


def all_different(maker: Maker, nodes: int) -> list[list[str]]:
    """8 assignments for each node, no two nodes alike."""
    seen: set[frozenset[str]] = set()
    found = []
    for number in range(nodes):
        assigned = maker.draw(placed(number), ASSIGNMENTS)
        while frozenset(assigned) in seen:
            assigned = maker.draw(placed(number), ASSIGNMENTS)
        seen.add(frozenset(assigned))
        found.append(assigned)
    return found


# Flaws: each leaves one node refused, in its own way.


def assigned_too(*modules: str) -> Callable[[Data], None]:
    """A flaw that comes with what is assigned."""

    def spoil(entry: Data) -> None:
        entry["assign"] += modules

    return spoil


def without_gpu(entry: Data) -> None:
    """The node says that it lacks what a module needs."""
    entry["assign"].append("cuda")
    entry["capabilities"]["gpu"] = False


def pinned_nowhere(entry: Data) -> None:
    """The pin names a node that is not there."""
    entry["assign"].append("archiver")
    entry["pins"] = {**entry.get("pins", {}), "database": "node-gone"}


def pin_left_out(entry: Data) -> None:
    """Two nodes offer what is taken, and no pin says which."""
    entry["assign"].append("archiver")
    entry.pop("pins", None)


def never_reported(entry: Data) -> None:
    """Nothing is known of the machine."""
    entry["assign"].append("cuda")
    del entry["capabilities"]


FLAWS: tuple[Callable[[Data], None], ...] = (
    without_gpu,
    assigned_too("apache", "caddy"),
    assigned_too("no-such-module"),
    pinned_nowhere,
    pin_left_out,
    never_reported,
    assigned_too("motd-plain", "motd-loud"),
    assigned_too("ring-a", "ring-b"),
    assigned_too("undecided"),
    assigned_too("orphan"),
)
