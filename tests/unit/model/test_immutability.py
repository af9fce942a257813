"""Values do not change.

> mesh_core/ no I/O, clock, randomness, environment. attrs frozen values all through (design, part 7)

Frozen, slotted, keyword-only, holding tuples.
"""

import importlib
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args, get_origin, get_type_hints

import attrs
import pytest

import mesh_core
from mesh_core import (
    Assign,
    Capability,
    Catalogue,
    Claim,
    Event,
    Mesh,
    Module,
    Node,
    Pin,
    Provision,
    PutModule,
    Report,
    Requirement,
    Resource,
    resolve,
)


def every_class() -> Iterator[type[Any]]:
    """Every attrs class that some file of the core defines."""
    for found in pkgutil.walk_packages(mesh_core.__path__, "mesh_core."):
        module = importlib.import_module(found.name)
        for value in vars(module).values():
            if isinstance(value, type) and attrs.has(value) and value.__module__ == module.__name__:
                yield value


CLASSES = sorted(set(every_class()), key=lambda cls: (cls.__module__, cls.__name__))
PUBLIC = [cls for cls in CLASSES if cls.__name__ in mesh_core.__all__]


def test_they_are_found() -> None:
    assert len(CLASSES) >= 70
    assert {Mesh, Node, Module, Assign, Event, mesh_core.Plan, mesh_core.Refusal} <= {*PUBLIC}


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_frozen_slotted_and_keyword_only(cls: type[Any]) -> None:
    about = attrs.inspect(cls)
    assert about.is_frozen
    assert about.is_slotted
    assert not any("__dict__" in vars(base) for base in cls.__mro__[:-1]), "a base has a __dict__"
    positional = [field.name for field in attrs.fields(cls) if field.init and not field.kw_only]
    assert not positional


@pytest.mark.parametrize("cls", PUBLIC, ids=lambda cls: cls.__name__)
def test_what_they_hold_does_not_change_either(cls: type[Any]) -> None:
    mutable = (list, dict, set, bytearray)
    hints = get_type_hints(cls)
    for field in attrs.fields(cls):
        held = [hints[field.name]]
        for hint in held:
            held += get_args(hint)
            assert hint not in mutable
            assert get_origin(hint) not in mutable


VALUES = [
    Capability(name="g"),
    Claim(name="l"),
    Requirement(name="p"),
    Pin(provision="p", node="n"),
    Provision(name="p", exports={"a": "1"}),
    Resource(kind="package", name="zsh", attributes_json={"a": [1]}),
    Module(name="a", version="1", requires=[Requirement(name="p")], capabilities=["g"]),
    Node(name="n", assigned=["a"], capabilities=[Capability(name="g")], pins=[Pin(provision="p", node="n")]),
    Catalogue(modules=[Module(name="a", version="1")]),
    Mesh(nodes=[Node(name="n")]),
    Assign(node="n", module="a"),
    PutModule(module=Module(name="a", version="1")),
    Report(node="n", capabilities=[Capability(name="g")]),
    resolve(Mesh(nodes=[Node(name="n", assigned=["a"])])),
    resolve(Mesh(nodes=[Node(name="n")])),
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_a_value_cannot_be_changed(value: Any) -> None:
    """Nor can anything be added to it; and it is hashable, so that it can stand in a set."""
    for field in attrs.fields(type(value)):
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            setattr(value, field.name, getattr(value, field.name))
        with pytest.raises(attrs.exceptions.FrozenInstanceError):
            delattr(value, field.name)
        assert not isinstance(getattr(value, field.name), list | dict | set)
    with pytest.raises((attrs.exceptions.FrozenInstanceError, AttributeError)):
        value.another = 1
    with pytest.raises(TypeError):
        type(value)(*(getattr(value, field.name) for field in attrs.fields(type(value)) if field.init))
    assert hash(value) == hash(value)


def test_what_they_are_looked_up_in_cannot_be_changed() -> None:
    mesh = VALUES[9]
    assert isinstance(mesh, Mesh)
    for index in (mesh._index, mesh.catalogue._index, resolve(mesh).nodes):
        with pytest.raises(TypeError):
            index["other"] = None  # type: ignore[index]
