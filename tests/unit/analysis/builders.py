"""Meshes that are quick to write, and back from a command line to the step that it says.

What the tests of analysis and of sentences share, and the properties of both.
"""

import shlex
from collections.abc import Iterable
from typing import Any

from mesh_core import Mesh, Pin, Resolution, mesh_from_data
from mesh_core.analysis.what_if import Key, Step
from mesh_core.change import Assign, SetPin, Unassign, Unpin
from mesh_core.problems import key

DATABASE = {"name": "database", "scope": "mesh"}


def module(name: str, *provides: str | dict[str, Any], **parts: Any) -> dict[str, Any]:
    given = {"provides": [*provides]} if provides else {}
    return {"name": name, "version": "1", **given, **parts}


def node(name: str, *assign: str, **parts: Any) -> dict[str, Any]:
    return {"name": name, "assign": [*assign], **parts}


def mesh(modules: Iterable[dict[str, Any]], nodes: Iterable[dict[str, Any]]) -> Mesh:
    return mesh_from_data({"format": 1, "modules": [*modules], "nodes": [*nodes]})


POSTGRES = module("postgres", DATABASE)
MARIADB = module("mariadb", DATABASE)
WEB = module("web", requires=["database"])


def keys(resolution: Resolution) -> set[Key]:
    """The keys of all problems of all nodes."""
    return {key(problem) for refusal in resolution.refusals for problem in refusal.problems}


def step_of(line: str) -> Step:
    """What a command line says: read as `mesh` reads its arguments. It has no options."""
    program, command, *said = shlex.split(line)
    assert program == "mesh"
    assert not any(argument.startswith("-") for argument in said)
    match command, said:
        case "assign", [name, given]:
            return Assign(node=name, module=given)
        case "unassign", [name, given]:
            return Unassign(node=name, module=given)
        case "unpin", [name, provision]:
            return Unpin(node=name, provision=provision)
        case "pin", [name, provision, source]:
            at, slash, given = source.partition("/")
            assert bool(given) is bool(slash)
            return SetPin(node=name, pin=Pin(provision=provision, node=at, module=given or None))
        case _:
            raise AssertionError(f"no such command line: {line}")
