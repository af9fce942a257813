"""The order against the rule as it is written, on many small catalogues with many choices.

The resolver has a quicker way to the order than to walk the rule (`mesh_core.resolve.order`). So the rule
is walked here for a few hundred catalogues, the same in every run.
"""

from random import Random
from typing import Any

import pytest

from tests.unit.resolve.build import bound, module, node, outcomes, stuck

NAMES = ["a", "b", "c", "d", "e", "f", "g", "h"]
PROVISIONS = ["p", "q", "r", "s", "t"]


def catalogue(dice: Random) -> list[dict[str, Any]]:
    """Of few names that all provide and require, most are choices; of many, most are forced."""
    modules = []
    names = PROVISIONS[: dice.randint(4, len(PROVISIONS))]
    for name in dice.sample(NAMES, dice.randint(3, len(NAMES))):
        provides = dice.sample(names, dice.choice((0, 1, 1, 2)))
        others = [provision for provision in names if provision not in provides]
        modules.append(module(name, dice.sample(others, dice.choice((0, 1, 1, 2))), provides))
    return modules


def walked(modules: list[dict[str, Any]], members: frozenset[str]) -> tuple[list[str], list[str]]:
    """The order of S(n) and its bindings, word by word."""
    manifests = {m["name"]: m for m in modules}
    providers = {
        (name, r): {other for other in members if r in manifests[other]["provides"]}
        for name in members
        for r in manifests[name]["requires"]
    }
    answered = {asked: found for asked, found in providers.items() if found}
    order: list[str] = []
    while True:
        ready = [
            name
            for name in sorted(members.difference(order))
            if all(found & {*order} for (asker, _), found in answered.items() if asker == name)
        ]
        if not ready:
            break
        order.append(ready[0])
    standing = {asked: [name for name in order if name in found] for asked, found in answered.items()}
    bindings = [f"{m} {r} -> {first[0]}" for (m, r), first in sorted(standing.items()) if first]
    return order, bindings


@pytest.mark.parametrize("seed", range(10))
def test_the_order_is_that_of_the_rule(seed: int) -> None:
    dice = Random(seed)
    for _ in range(40):
        modules = catalogue(dice)
        names = [m["name"] for m in modules]
        nodes = [node(f"n{count}", *dice.sample(names, dice.randint(1, len(names)))) for count in range(3)]
        for found in outcomes(modules, *nodes).values():
            order, bindings = walked(modules, found.members)
            assert [*found.order] == order
            assert bound(found) == bindings
            assert stuck(found) == sorted(found.members.difference(order))
