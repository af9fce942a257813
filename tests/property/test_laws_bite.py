"""Each law fails for a resolver that breaks it: a law that holds for everything says nothing.

The faults are in `faults`. Here is how they are run, and the ones that no resolver can have by itself:
a mesh keeps its nodes sorted, so the order that one is written in shows only where that is broken.
"""

import json
from collections.abc import Callable
from typing import Any
from unittest import SkipTest

import pytest
from attrs import evolve
from hypothesis import Phase, settings
from hypothesis.database import InMemoryExampleDatabase

from mesh_core import Catalogue, Mesh, Node, Resolution, mesh_from_data, mesh_to_data, resolve
from mesh_core.testing import (
    LAWS,
    check_all,
    check_harmless_pin,
    check_no_silent_choice,
    check_order,
    check_soundness,
)
from mesh_core.testing.laws import every, sameness
from mesh_core.testing.laws.law import Check, Law
from tests.property.faults import (
    FAULTS,
    Made,
    chooses_the_last_offer,
    counts_its_calls,
    marked,
    puts_providers_last,
)

# The same examples each time, and no time for making them small.
QUICK = settings(max_examples=400, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
NAMES = dict(zip(LAWS, Law, strict=True))


@pytest.mark.parametrize(
    ("check", "made", "says"),
    FAULTS,
    ids=[f"{check.__name__}-{made.__name__}" for check, made, _ in FAULTS],
)
def test_a_fault_breaks_its_law(check: Check, made: Made, says: str) -> None:
    with pytest.raises(AssertionError, match=says) as raised:
        check(made(), QUICK)
    assert str(raised.value).startswith(f"{NAMES[check]} is broken: ")


def test_each_law_has_a_fault_of_its_own() -> None:
    of_one = [made for _, made, _ in FAULTS]
    assert {check for check, made, _ in FAULTS if of_one.count(made) == 1} == {*LAWS} - {check_order}


def test_all_the_laws_are_checked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [check.__name__ for check in LAWS] == [f"check_{law.name.lower()}" for law in Law]
    with pytest.raises(AssertionError, match=r"^law 1 \(Order\) is broken"):
        check_all(counts_its_calls(), QUICK)
    checked: list[object] = []
    monkeypatch.setattr(every, "LAWS", [lambda *given: checked.append(given)] * 2)
    check_all(resolve, QUICK)
    assert checked == [(resolve, QUICK)] * 2


@pytest.mark.parametrize("check", LAWS, ids=lambda check: check.__name__)
def test_what_the_resolver_raises_comes_through(check: Check) -> None:
    def failing(mesh: Mesh) -> Resolution:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        check(failing, QUICK)


def test_a_broken_law_shows_a_small_mesh() -> None:
    """Nothing can be taken away from it: two nodes that offer, a module that does, and one that asks."""
    with pytest.raises(AssertionError) as raised:
        check_no_silent_choice(chooses_the_last_offer(), QUICK)
    what, *shown = str(raised.value).split("\n  mesh: ")
    before, after = (mesh_from_data(json.loads(text)) for text in shown)
    assert " moves from " in what
    for mesh in (before, after):
        assert len(mesh.nodes) == len(mesh.catalogue.modules) == 2
        assert sum(len(module.requires) + len(module.provides) for module in mesh.catalogue) <= 4
        assert not any(node.pins or node.capabilities for node in mesh.nodes)
    assert sum(len(node.assigned) for node in before.nodes) <= 2
    assert sum(len(node.assigned) for node in after.nodes) <= 3


def test_what_the_resolver_raises_tells_the_mesh() -> None:
    def failing(mesh: Mesh) -> Resolution:
        if any(node.assigned for node in mesh.nodes):
            raise ZeroDivisionError
        return resolve(mesh)

    with pytest.raises(ZeroDivisionError) as raised:
        check_harmless_pin(failing, QUICK)
    (note,) = raised.value.__notes__
    mesh = mesh_from_data(json.loads(note.removeprefix("mesh: ")))
    assert [len(node.assigned) for node in mesh.nodes] == [1]


def test_a_failure_is_kept_for_its_own_law() -> None:
    """Hypothesis remembers what failed and tries it first: what broke one law is no news of another."""
    database = InMemoryExampleDatabase()
    kept = settings(QUICK, derandomize=False, database=database)
    again = settings(kept, phases=[Phase.reuse])
    with pytest.raises(AssertionError):
        check_soundness(puts_providers_last(), kept)
    with pytest.raises(SkipTest):
        check_harmless_pin(resolve, again)
    with pytest.raises(AssertionError, match=r"^law 4 "):
        check_soundness(puts_providers_last(), again)
    check_soundness(resolve, again)
    with pytest.raises(SkipTest):
        check_soundness(resolve, again)
    assert not any(database.data.values())


# Law 1


def first_node(mesh: Mesh) -> str:
    return mesh.nodes[0].name if mesh.nodes else ""


def first_module(mesh: Mesh) -> str:
    return mesh.catalogue.modules[0].name if mesh.catalogue.modules else ""


def of_each_node(first: Callable[[Node], object]) -> Callable[[Mesh], object]:
    return lambda mesh: sorted((node.name, str(first(node))) for node in mesh.nodes)


UNSORTED = {
    "nodes": (Mesh, "nodes", first_node),
    "modules": (Catalogue, "modules", first_module),
    "assignments": (Node, "assigned", of_each_node(lambda node: node.assigned[:1])),
    "pins": (Node, "pins", of_each_node(lambda node: node.pins[:1])),
    "reports": (Node, "capabilities", of_each_node(lambda node: (node.capabilities or ())[:1])),
}


def kept_as_given(values: Any) -> Any:
    return None if values is None else tuple(values)


def sorted_anew(mesh: Mesh) -> Mesh:
    """What a mesh is where its classes still sort: the real resolver counts on it."""

    def node(one: Node) -> Node:
        report = one.capabilities
        return evolve(
            one,
            assigned=tuple(sorted(one.assigned)),
            pins=tuple(sorted(one.pins, key=lambda pin: pin.provision)),
            capabilities=None if report is None else tuple(sorted(report, key=lambda said: said.name)),
        )

    return evolve(
        mesh,
        catalogue=Catalogue(modules=sorted(mesh.catalogue, key=lambda module: module.name)),
        nodes=sorted(map(node, mesh.nodes), key=lambda one: one.name),
    )


@pytest.mark.parametrize("what", UNSORTED)
def test_the_order_is_permuted(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value class keeps what it is given as it is given, and the resolver looks at the first."""
    owner, field, first = UNSORTED[what]
    made_by: dict[str, Any] = owner.__init__.__globals__  # type: ignore[misc]
    assert f"__attr_converter_{field}" in made_by
    monkeypatch.setitem(made_by, f"__attr_converter_{field}", kept_as_given)
    monkeypatch.setattr(sameness, "any_document", lambda _, mesh: mesh_to_data(mesh))

    def by_the_first(mesh: Mesh) -> Resolution:
        mark = first(mesh)
        return Resolution(outcomes=[marked(o, mark) for o in resolve(sorted_anew(mesh)).outcomes])

    def by_none(mesh: Mesh) -> Resolution:
        return resolve(sorted_anew(mesh))

    check_order(by_none, settings(QUICK, max_examples=50))
    with pytest.raises(AssertionError, match=r"^law 1 \(Order\) is broken: permuting what"):
        check_order(by_the_first, QUICK)


def test_the_document_is_permuted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever reads the document loses the first of its nodes' assignments."""

    def misread(document: dict[str, Any]) -> Mesh:
        mesh = mesh_from_data(document)
        if not document.get("nodes"):
            return mesh
        lost = document["nodes"][0]["name"]
        nodes = [evolve(n, assigned=()) if n.name == lost else n for n in mesh.nodes]
        return evolve(mesh, nodes=nodes)

    monkeypatch.setattr(sameness, "mesh_from_data", misread)
    with pytest.raises(AssertionError, match=r"^law 1 \(Order\) is broken: so does permuting the document"):
        check_order(resolve, QUICK)


# Law 2


def test_a_resolver_that_cannot_be_caught_twice_breaks_the_law_all_the_same() -> None:
    """Where hypothesis cannot see a failure again, the law is broken, and not the test flaky."""
    caught: list[Mesh] = []

    def once(mesh: Mesh) -> Resolution:
        resolution = resolve(mesh)
        if caught or not any(outcome.modules for outcome in resolution.outcomes):
            return resolution
        caught.append(mesh)
        return Resolution(outcomes=[marked(outcome, "once") for outcome in resolution.outcomes])

    with pytest.raises(AssertionError, match=r"^law 2 \(Determinism\) is broken: one mesh is resolved"):
        sameness.check_determinism(once, QUICK)
