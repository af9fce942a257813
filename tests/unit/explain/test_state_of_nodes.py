"""How it stands with nodes, in sentences and as data."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from mesh_core.analysis.clocks import Clock
from mesh_core.analysis.state_of_nodes import NodeState, StateOfNode, Waiting
from mesh_core.explain.state_of_nodes import next_step, state_to_data, state_word, summary, whys
from mesh_core.explain.words import span
from mesh_core.model.material import MaterialFault
from mesh_core.model.node import Verdict
from mesh_core.model.said import Doing
from mesh_core.problems import MissingCapability

GPU = MissingCapability(node="attic", module="ml", capability="gpu", verdict=Verdict.ABSENT)
FAULT = MaterialFault(node="attic", module="web", resource="path:/etc/web", why="no such name")
HELD = "service web: port 8080 is held by pid 812"


def one(state: NodeState, **more: Any) -> StateOfNode:
    seen: dict[str, Any] = (
        {} if state is NodeState.NEVER_SEEN else {"seconds": 8.0, "seen_at": "2026-12-01T22:20:02Z"}
    )
    return StateOfNode(node="attic", state=state, **seen | more)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (-3, "0 s"),
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h"),
        (86399, "23 h"),
        (3 * 86400, "3 d"),
    ],
)
def test_how_long_something_is(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_a_state_as_people_read_it() -> None:
    assert [state_word(state) for state in (NodeState.NEVER_SEEN, NodeState.APPLIED)] == [
        "never seen",
        "applied",
    ]


WHYS: list[tuple[StateOfNode, list[str]]] = [
    (one(NodeState.APPLIED, wants=43, taken=43, has=43, said=Doing.APPLIED), []),
    (one(NodeState.NEVER_SEEN), []),
    (one(NodeState.NEVER_SEEN, wants=43), ["gets 43 when it joins"]),
    (one(NodeState.FAILED, wants=43, taken=43, has=43, said=Doing.FAILED, why=(HELD,)), [HELD]),
    (
        one(NodeState.SILENT, wants=43, taken=41, has=41, said=Doing.APPLIED),
        ["gets 43 when it returns"],
    ),
    (
        one(NodeState.SILENT, wants=43, taken=43, has=43, said=Doing.FAILED, why=(HELD,)),
        ["last said: failed", HELD],
    ),
    (one(NodeState.SILENT, wants=43, taken=43, has=43, said=Doing.APPLIED), []),
    (
        one(NodeState.SILENT, wants=43, taken=42, has=42, said=Doing.REFUSED, turned_down=43, why=("older",)),
        ["it refused 43, and keeps 42", "last said: refused", "older"],
    ),
    (
        one(NodeState.REFUSED, wants=43, said=Doing.REFUSED, turned_down=43, why=("another node's",)),
        ["it refused 43, and keeps what it has", "another node's"],
    ),
    (
        one(NodeState.WAITING, wants=43, pending=True, taken=42, has=42, said=Doing.APPLIED),
        ["43 is not at the broker yet; `mesh push` sends it"],
    ),
    (one(NodeState.WAITING, wants=43, taken=42, has=42, said=Doing.APPLIED), ["has not taken 43 yet"]),
    (
        one(NodeState.WAITING, wants=43, taken=42, has=41, said=Doing.APPLYING),
        ["has not taken 43 yet", "last said: applying"],
    ),
    (
        one(NodeState.WAITING, wants=43, taken=43, has=42, said=Doing.APPLIED),
        ["has taken 43, and has not said how it went"],
    ),
    (one(NodeState.WAITING, wants=43), ["it has started, and has not reported yet"]),
    (
        one(NodeState.APPLIED, taken=43, has=43, said=Doing.APPLIED, unsent=43),
        [
            (
                "it was sent 43, and not by this store: the store is an older copy,"
                " or the node was added again since; the next push goes on from there"
            )
        ],
    ),
    (
        one(NodeState.FAILED, said=Doing.FAILED, why=("a", "b"), left_out=1, strangers=("m2", "m3")),
        [
            "a",
            "b",
            "1 more line did not fit into its report",
            "2 other machines speak under its name, and nothing is sent there: m2, m3",
        ],
    ),
    (one(NodeState.APPLIED, said=Doing.APPLIED, healthy=False), ["not all of its checks pass"]),
    (
        one(NodeState.APPLIED, said=Doing.APPLIED, clock=Clock.AHEAD, said_at="then", heard_at="now"),
        [
            (
                "its clock or the one here is wrong: its report was taken in at now,"
                " and says that it was sent at then"
            )
        ],
    ),
    (one(NodeState.APPLIED, said=Doing.APPLIED, healthy=False, why=("tcp 80",)), ["tcp 80"]),
    (
        one(NodeState.REFUSED, wants=42, taken=42, has=42, said=Doing.FAILED, refusals=(GPU,), why=(HELD,)),
        ["ml on attic needs 'gpu', which attic reported absent (`mesh plan attic`); keeps what it has", HELD],
    ),
    (
        one(NodeState.NEVER_SEEN, refusals=(FAULT, GPU)),
        [
            (
                "refused: web on attic cannot be made: /etc/web: no such name,"
                " and 1 more problem (`mesh plan attic`)"
            )
        ],
    ),
]


@pytest.mark.parametrize(("state", "lines"), WHYS)
def test_why(state: StateOfNode, lines: list[str]) -> None:
    assert list(whys(state)) == lines


def test_how_many_are_in_which_state_the_well_ones_first() -> None:
    states = [
        one(NodeState.SILENT),
        one(NodeState.APPLIED),
        one(NodeState.NEVER_SEEN),
        one(NodeState.APPLIED),
    ]
    assert summary(states) == "2 applied, 1 silent, 1 never seen"
    assert summary([]) == ""


def test_what_to_do_next() -> None:
    well, silent = one(NodeState.APPLIED, wants=43), one(NodeState.SILENT, wants=43)
    pending = one(NodeState.WAITING, wants=43, pending=True)
    assert next_step([], None) == ""
    assert next_step([well], None) == next_step([well], Waiting()) == next_step([silent], Waiting()) == ""
    three = Waiting(nodes=["pi", "nas", "vps"])
    assert next_step([well, pending], three) == (
        "1 node has something that is not at the broker yet: attic.      Next: mesh push"
    )
    told = "wait at the broker: nas, pi, vps.      Next: mesh collect"
    assert next_step([well], three) == f"reports of 3 nodes {told}"
    assert next_step([well], evolve(three, all_asked=False)) == f"reports of at least 3 nodes {told}"
    assert next_step([well, silent], None).endswith("Next: mesh collect")
    assert next_step([silent], Waiting(all_asked=False)) == next_step([silent], None)
    away = Waiting(why_not="amqp://nas is out of reach")
    assert next_step([well], away) == "what waits at the broker is not known: amqp://nas is out of reach"
    never = one(NodeState.NEVER_SEEN)
    assert next_step([never], None) == "Nothing was sent to any of them yet.      Next: mesh push"
    assert next_step([never, well], None) == ""


def test_as_data() -> None:
    silent = one(
        NodeState.SILENT,
        wants=43,
        taken=41,
        has=41,
        seconds=1000.7,
        said=Doing.APPLIED,
        modules=("web",),
        refusals=(FAULT, GPU),
        strangers=("m2",),
        clock=Clock.BEHIND,
    )
    assert state_to_data(silent) == {
        "wants": 43,
        "has": 41,
        "state": "silent",
        "seen_at": "2026-12-01T22:20:02Z",
        "silent_for": 1000,
        "why": list(whys(silent)),
        "left_out": 0,
        "pending": False,
        "modules": ["web"],
        "strangers": ["m2"],
        "healthy": None,
        "problems": ["material", "missing-capability"],
        "turned_down": None,
        "unsent": None,
        "clock": "behind",
    }
    never = state_to_data(one(NodeState.NEVER_SEEN))
    assert (never["state"], never["seen_at"], "silent_for" in never) == ("never-seen", None, False)
