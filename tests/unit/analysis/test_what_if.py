"""What one step would do. That full resolution says the same is a property, of the same name."""

from mesh_core import Assign, Pin, SetPin, Unassign, Unpin, resolve
from mesh_core.analysis.what_if import Move, WhatIf, moves_of
from mesh_core.problems import Offer
from tests.unit.analysis.builders import POSTGRES, WEB, mesh, module, node

OF = mesh(
    [POSTGRES, WEB, module("grafana", requires=[{"name": "database", "from": "every"}])],
    [
        node("nas", "postgres"),
        node("vps", "postgres"),
        node("pi", "web"),
        node("x", "web", pins={"database": "nas"}),
        node("y", "grafana"),
    ],
)
AMBIGUOUS = ("pi", "ambiguous-provider", "database")


def test_a_step_that_mends() -> None:
    what_if = WhatIf(OF)
    assert what_if.mends(AMBIGUOUS, SetPin(node="pi", pin=Pin(provision="database", node="vps")))
    assert what_if.mends(AMBIGUOUS, Unassign(node="vps", module="postgres"))
    assert what_if.mends(AMBIGUOUS, Unassign(node="pi", module="web"))


def test_a_step_that_does_not() -> None:
    what_if = WhatIf(OF)
    # It touches nobody, or leaves it as it is, or makes another of it, or adds one elsewhere, or has no node.
    for step in (
        Assign(node="y", module="web"),
        Assign(node="y", module="zzz"),
        Unpin(node="pi", provision="database"),
        SetPin(node="pi", pin=Pin(provision="database", node="y")),
        Unassign(node="nas", module="postgres"),
        Unassign(node="nowhere", module="postgres"),
    ):
        assert not what_if.mends(AMBIGUOUS, step)


def test_it_can_be_asked_again_and_again() -> None:
    what_if = WhatIf(OF)
    step = Unassign(node="vps", module="postgres")
    assert [what_if.mends(AMBIGUOUS, step) for _ in range(3)] == [True] * 3
    assert what_if.mesh == OF
    assert what_if.workings.resolution() == resolve(OF)


def test_moves_are_answers_from_one_provider_that_are_others_after() -> None:
    before = resolve(OF)
    after = resolve(mesh([POSTGRES, WEB], [node("vps", "postgres"), node("x", "web"), node("y")]))
    nas, vps = Offer(node="nas", module="postgres"), Offer(node="vps", module="postgres")
    assert moves_of(before.nodes["x"].answers, after.nodes["x"].answers, "x") == (
        Move(node="x", provision="database", before=nas, after=vps),
    )
    assert moves_of(before.nodes["x"].answers, before.nodes["x"].answers, "x") == ()
    # Beside it the same may be asked from every: that is no answer which could move.
    both = [POSTGRES, module("m", requires=[{"name": "database", "from": "every"}]), WEB]
    rivals = [node("nas", "postgres"), node("vps", "postgres")]
    asking = [
        resolve(mesh(both, [*rivals, node("x", "m", "web", pins={"database": at})])) for at in ("nas", "vps")
    ]
    one, other = (resolution.nodes["x"].answers for resolution in asking)
    assert moves_of(one, other, "x") == (Move(node="x", provision="database", before=nas, after=vps),)
    assert moves_of(one, one, "x") == ()
    # An answer that is new or gone is no move, nor is one from every.
    assert moves_of((), after.nodes["x"].answers, "x") == ()
    assert moves_of(before.nodes["x"].answers, (), "x") == ()
    assert moves_of(before.nodes["y"].answers, after.nodes["y"].answers, "y") == ()
