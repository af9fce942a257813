"""Did my change go out? How far a module has come on each node."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from mesh_core import Mesh, Module
from mesh_core.analysis.ladder import OnNode, Rung, Whose, ladder, modules_of
from mesh_core.analysis.state_of_modules import Records, states_of_modules
from mesh_core.model.catalogue import Catalogue
from mesh_core.model.origin import HANDED, Put
from mesh_core.model.said import Report
from mesh_core.model.sent import Sent, Standing
from mesh_core.wire.declaration import on_machine

OLD, NEW = Module(name="web", version="1"), Module(name="web", version="2")
PUTS = [
    Put(number=number, manifest=module, digest=str(number), origin=HANDED, at="", current=module is NEW)
    for number, module in enumerate([OLD, NEW])
]
MESH = Mesh(catalogue=Catalogue(modules=[NEW]))


def sent(generation: int, module: Module | None, *, published: bool = True) -> Sent:
    manifests = [] if module is None else [("web", on_machine(module))]
    return Sent(node="pi", generation=generation, fingerprint="", manifests=manifests, published=published)


def standing(*was_sent: Sent, **said: Any) -> Standing:
    report = Report(node="pi", machine="m", **said) if said else None
    return Standing(node="pi", sent=was_sent, report=report)


def meant(planned: tuple[str, ...], *, refused: bool = False) -> Whose:
    """Web is to be on these nodes; pi is refused, or nobody is."""
    modules = {node: frozenset(["web"]) for node in planned}
    return Whose(meant=modules, refused=frozenset(["pi"] if refused else []))


def rung(found: Standing, planned: tuple[str, ...] = ("pi",), *, refused: bool = False) -> OnNode | None:
    """How far web has come on pi; the same whether one asks for the module or for the node."""
    records = Records(current={"web": PUTS[1]}, heads={}, held={})
    states = states_of_modules(MESH, records, [found])
    whose = meant(planned, refused=refused)
    of_module = next(iter(ladder(states["web"], whose, {"pi": found}, PUTS)), None)
    of_node = next((one for _, one in modules_of(states, whose, found, lambda _: PUTS)), None)
    assert of_module == of_node
    return of_module


def rung_of(found: Standing, planned: tuple[str, ...] = ("pi",)) -> Rung:
    on = rung(found, planned)
    assert on is not None
    return on.rung


def test_the_way_of_a_change_rung_by_rung() -> None:
    one, two = sent(1, OLD), sent(2, NEW, published=False)
    assert rung_of(Standing(node="pi")) is Rung.PLANNED
    assert rung_of(standing(one)) is Rung.PLANNED, "it was sent another one"
    assert rung_of(standing(one, two)) is Rung.PENDING
    out = evolve(two, published=True)
    assert rung_of(standing(one, out)) is Rung.SENT
    half_way = rung(standing(one, out, generation=2, applied=1, modules=["web"]))
    assert half_way == OnNode(node="pi", rung=Rung.SENT, wanted=2, has=1, runs=PUTS[0])
    done = rung(standing(one, out, generation=2, applied=2, modules=["web"]))
    assert done == OnNode(node="pi", rung=Rung.APPLIED, wanted=2, has=2, runs=PUTS[1])


def test_what_was_applied_and_is_not_there_does_not_run() -> None:
    """> by what they last reported, not by what was sent"""
    assert rung_of(standing(sent(2, NEW), generation=2, applied=2, modules=[])) is Rung.SENT


def test_another_generation_with_the_same_module_needs_no_new_report() -> None:
    found = standing(sent(2, NEW), sent(3, NEW), generation=2, applied=2, modules=["web"])
    assert rung_of(found) is Rung.APPLIED


def test_what_is_to_go_is_told_until_it_has() -> None:
    assert rung_of(standing(sent(1, NEW), generation=1, applied=1, modules=["web"]), ()) is Rung.LEAVING
    assert rung_of(standing(sent(2, None), generation=1, applied=1, modules=["web"]), ()) is Rung.LEAVING
    assert rung(standing(sent(2, None), generation=2, applied=2, modules=[]), ()) is None


def test_what_it_runs_is_not_known_where_that_was_not_sent_from_here() -> None:
    on = rung(standing(sent(2, NEW), generation=9, applied=9, modules=["web"]))
    assert on is not None
    assert (on.rung, on.runs) == (Rung.SENT, None)


def test_of_a_refused_node_nothing_is_said_to_go() -> None:
    """> A node with a problem is refused and keeps whatever it was declared before."""
    there = standing(sent(1, OLD), generation=1, applied=1, modules=["web"])
    for planned in (("pi",), ()):
        kept = rung(there, planned, refused=True)
        assert kept == OnNode(node="pi", rung=Rung.KEPT, wanted=1, has=1, runs=PUTS[0])
    never = rung(Standing(node="pi"), refused=True)
    assert never is not None
    assert (never.rung, never.runs) == (Rung.KEPT, None)


def test_a_machine_has_what_is_in_the_catalogue_no_more_until_it_has_let_go() -> None:
    states = states_of_modules(Mesh(), Records(current={}, heads={}, held={}), [])
    there = standing(sent(1, OLD), sent(2, None), generation=1, applied=1, modules=["web"])
    ((state, one),) = modules_of(states, meant(()), there, lambda _: PUTS)
    assert (state.name, state.put) == ("web", None)
    assert (one.rung, one.runs) == (Rung.LEAVING, PUTS[0])
