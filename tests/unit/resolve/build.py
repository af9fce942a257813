"""Small meshes in few words, for the tests of this folder.

    outcome([module("web", "shell", ["a"]), module("zsh", provides=["shell"])], node("n", "web"))

A requirement from every is written `"every metrics"`, a name of scope mesh `"mesh database"`.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from mesh_core import Mesh, Plan, Refusal, mesh_from_data, resolve
from mesh_core.model.resolution import Outcome
from mesh_core.problems import facts


def scoped(names: Iterable[str]) -> list[Any]:
    return [
        {"name": name.removeprefix("mesh "), "scope": "mesh"} if name.startswith("mesh ") else name
        for name in names
    ]


def required(names: Iterable[str]) -> list[Any]:
    return [
        {"name": name.removeprefix("every "), "from": "every"} if name.startswith("every ") else name
        for name in names
    ]


def module(
    name: str,
    requires: Iterable[str] = (),
    provides: Iterable[str] = (),
    *,
    claims: Iterable[str] = (),
    **others: Any,
) -> dict[str, Any]:
    return {
        "name": name,
        "version": "1",
        "requires": required(requires),
        "provides": scoped(provides),
        "claims": scoped(claims),
        **others,
    }


def node(name: str, *assign: str, **others: Any) -> dict[str, Any]:
    return {"name": name, "assign": list(assign), **others}


def mesh(modules: Iterable[Mapping[str, Any]], *nodes: Mapping[str, Any]) -> Mesh:
    return mesh_from_data({"format": 1, "modules": list(modules), "nodes": list(nodes)})


def outcomes(modules: Iterable[Mapping[str, Any]], *nodes: Mapping[str, Any]) -> dict[str, Plan | Refusal]:
    return dict(resolve(mesh(modules, *nodes)).nodes)


def outcome(modules: Iterable[Mapping[str, Any]], *nodes: Mapping[str, Any]) -> Plan | Refusal:
    """What the first of the nodes gets."""
    return outcomes(modules, *nodes)[nodes[0]["name"]]


def on(modules: Iterable[Mapping[str, Any]], *assign: str) -> Plan | Refusal:
    """What a node that is alone in its mesh gets."""
    return outcome(modules, node("n", *assign))


def problems(found: Outcome) -> list[dict[str, Any]]:
    """The problems of a refusal as facts; none of a plan."""
    return [facts(problem) for problem in found.problems] if isinstance(found, Refusal) else []


def stuck(found: Outcome) -> list[str]:
    return [module.name for module in found.stuck] if isinstance(found, Refusal) else []


def bound(found: Outcome) -> list[str]:
    """Every binding, as `module requires -> provider`."""
    return [f"{b.module} {b.requires} -> {b.provider}" for b in found.bindings]


def taken(found: Outcome) -> list[str]:
    """Every answer, as `provision node/module for ...`, and whether it is from every."""
    return [
        f"{'every ' * a.every}{a.provision} {a.node}/{a.module} for {' '.join(a.required_by)}"
        for a in found.answers
    ]
