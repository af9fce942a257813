"""What lint finds, in sentences and as plain data."""

from typing import Any

import pytest

from mesh_core import Pin
from mesh_core.analysis.lint import IdlePin, IdleReason, Lint, NobodyOffers, UnusedModule
from mesh_core.explain.lint import lint_to_data, sentence


def idle(why: IdleReason) -> IdlePin:
    return IdlePin(node="pi", pin=Pin(provision="database", node="nas", module="postgres"), why=why)


def idle_data(why: str) -> dict[str, Any]:
    return {"code": "idle-pin", "node": "pi", "provision": "database", "pin": "nas/postgres", "why": why}


PINNED = "pi is pinned to take 'database' from nas/postgres, and"
END = "the pin does nothing; fix: mesh unpin pi database"
UNOFFERED = "'metrics' from every, and no node offers it: there is nothing to take"
FOUND: list[tuple[Lint, str, dict[str, Any]]] = [
    (
        idle(IdleReason.NOT_MESH_SCOPED),
        f"{PINNED} no module provides that with scope mesh: {END}",
        idle_data("not-mesh-scoped"),
    ),
    (
        idle(IdleReason.NOT_REQUIRED),
        f"{PINNED} nothing on it requires that: {END}",
        idle_data("not-required"),
    ),
    (
        idle(IdleReason.ONLY_FROM_EVERY),
        f"{PINNED} it is only required from every, which no pin touches: {END}",
        idle_data("only-from-every"),
    ),
    (
        NobodyOffers(node="pi", provision="metrics", required_by=("grafana", "prometheus")),
        f"grafana and prometheus on pi require {UNOFFERED}",
        {
            "code": "nobody-offers",
            "node": "pi",
            "provision": "metrics",
            "required_by": ["grafana", "prometheus"],
        },
    ),
    (
        UnusedModule(module="zsh"),
        "no node is given zsh, and nothing pulls it in",
        {"code": "unused-module", "module": "zsh"},
    ),
]


@pytest.mark.parametrize(("found", "says", "data"), FOUND)
def test_a_finding(found: Lint, says: str, data: dict[str, Any]) -> None:
    assert sentence(found) == says
    assert lint_to_data(found) == data


def test_every_reason_has_a_sentence() -> None:
    assert len({sentence(idle(why)) for why in IdleReason}) == len(IdleReason)
    one = sentence(NobodyOffers(node="pi", provision="metrics", required_by=("grafana",)))
    assert one == f"grafana on pi requires {UNOFFERED}"
