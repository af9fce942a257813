"""Making a mesh smaller: what is left is wrong in the same way, and nothing more can go."""

from collections.abc import Callable
from typing import Any

import pytest

from mesh_core import Mesh, mesh_from_data, mesh_to_data
from mesh_core.testing.laws import smaller
from mesh_core.testing.laws.smaller import smallest

MESH = mesh_from_data(
    {
        "format": 1,
        "modules": [
            {
                "name": "a",
                "version": "1",
                "requires": ["p", "x"],
                "provides": [{"name": "q", "scope": "mesh", "exports": {"k": "v"}}, "r"],
                "claims": ["c"],
                "capabilities": ["g"],
                "resources": [{"kind": "k", "name": "n"}],
            },
            {"name": "b", "version": "1", "provides": ["p"]},
        ],
        "nodes": [
            {
                "name": "m",
                "assign": ["a", "b"],
                "pins": {"q": "n/a", "z": "m"},
                "capabilities": {"g": True, "h": False},
            },
            {"name": "n", "assign": ["a"], "capabilities": {}},
        ],
    }
)
EMPTY = {"format": 1, "modules": [], "nodes": []}


def module(name: str, **others: Any) -> dict[str, Any]:
    return {"name": name, "version": "1", **others}


def node(name: str, *assign: str, pins: dict[str, str] | None = None, **others: Any) -> dict[str, Any]:
    return {"name": name, "assign": list(assign), "pins": pins or {}, **others}


def only(**lists: Any) -> dict[str, Any]:
    return EMPTY | lists


def pinned(mesh: Mesh) -> bool:
    return any(pin.provision == "q" and mesh.node(pin.node) for node in mesh.nodes for pin in node.pins)


def modules(mesh: Mesh, what: str) -> bool:
    return any(getattr(module, what) for module in mesh.catalogue)


@pytest.mark.parametrize(
    ("is_wrong", "left"),
    [
        (lambda _: True, EMPTY),
        (lambda mesh: mesh.node("n") is not None, only(nodes=[node("n")])),
        (lambda mesh: "b" in mesh.catalogue, only(modules=[module("b")])),
        (
            lambda mesh: any("b" in n.assigned for n in mesh.nodes),
            only(modules=[module("b")], nodes=[node("m", "b")]),
        ),
        (pinned, only(nodes=[node("m", pins={"q": "n"}), node("n")])),
        (
            lambda mesh: any(n.lacks("h") and n.capabilities for n in mesh.nodes),
            only(nodes=[node("m", capabilities={"h": False})]),
        ),
        (
            lambda mesh: any(n.capabilities is not None for n in mesh.nodes),
            only(nodes=[node("n", capabilities={})]),
        ),
        (lambda mesh: modules(mesh, "requires"), only(modules=[module("a", requires=["x"])])),
        (lambda mesh: modules(mesh, "claims"), only(modules=[module("a", claims=["c"])])),
        (lambda mesh: modules(mesh, "capabilities"), only(modules=[module("a", capabilities=["g"])])),
        (
            lambda mesh: modules(mesh, "resources"),
            only(modules=[module("a", resources=[{"kind": "k", "name": "n"}])]),
        ),
        (
            lambda mesh: any(p.name == "q" for m in mesh.catalogue for p in m.provides),
            only(modules=[module("a", provides=[{"name": "q", "scope": "mesh"}])]),
        ),
        (lambda mesh: mesh == MESH, mesh_to_data(MESH)),
    ],
)
def test_what_is_left(is_wrong: Callable[[Mesh], bool], left: dict[str, Any]) -> None:
    assert mesh_to_data(smallest(MESH, is_wrong)) == left


def test_it_gives_up_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(smaller, "MOST_TRIED", 30)
    tried: list[Mesh] = []
    wide = mesh_from_data({"format": 1, "nodes": [{"name": f"n{count}"} for count in range(35)]})

    def never(mesh: Mesh) -> bool:
        tried.append(mesh)
        return False

    assert smallest(wide, never) is wide
    assert len(tried) == 30
