"""Small pieces of sentences."""

import pytest

from mesh_core import Assign, Pin, SetPin, Unassign, Unpin
from mesh_core.analysis.what_if import Step
from mesh_core.explain.words import both, command, counted, near, offer, some, verb
from mesh_core.problems import Offer
from tests.unit.analysis.builders import step_of


def test_lists_of_names() -> None:
    assert [both("abcdefgh"[:count]) for count in range(1, 9)] == [
        "a",
        "a and b",
        "a, b and c",
        "a, b, c and d",
        "a, b, c, d and e",
        "a, b, c, d, e and f",
        "a, b, c, d, e and 2 more",
        "a, b, c, d, e and 3 more",
    ]
    assert [some("abcdefgh"[:count]) for count in range(9)] == [
        "",
        "a",
        "a, b",
        "a, b, c",
        "a, b, c, d",
        "a, b, c, d, e",
        "a, b, c, d, e, f",
        "a, b, c, d, e and 2 more",
        "a, b, c, d, e and 3 more",
    ]


def test_one_and_several() -> None:
    assert [verb(names, "needs", "need") for names in (["a"], ["a", "b"])] == ["needs", "need"]
    assert [counted(count, "node") for count in range(3)] == ["0 nodes", "1 node", "2 nodes"]
    assert counted(2, "capability", "capabilities") == "2 capabilities"
    assert offer(Offer(node="nas", module="postgres")) == "nas (postgres)"


def test_near_names() -> None:
    assert near("zhs", ["bash", "zsh", "postgres"]) == ["zsh"]
    assert near("n", ["vps", "pi"]) == []
    assert near("node1", ["node2", "node3", "node4", "node5"])[:1] != []
    assert len(near("node1", ["node2", "node3", "node4", "node5"])) == 3


STEPS: list[tuple[Step, str]] = [
    (Assign(node="nas", module="a.b_c"), "mesh assign nas a.b_c"),
    (Unassign(node="nas", module="postgres"), "mesh unassign nas postgres"),
    (SetPin(node="pi", pin=Pin(provision="port:443/x", node="nas")), "mesh pin pi port:443/x nas"),
    (
        SetPin(node="pi", pin=Pin(provision="database", node="nas", module="postgres")),
        "mesh pin pi database nas/postgres",
    ),
    (Unpin(node="pi", provision="database"), "mesh unpin pi database"),
]


@pytest.mark.parametrize(("step", "line"), STEPS)
def test_a_step_and_its_command_line(step: Step, line: str) -> None:
    assert command(step) == line
    assert step_of(line) == step
