"""Which declarations a host takes (design, part 8).

> refuses one that is truncated, for another node, of an older generation, or of the same generation with
> another digest
"""

import pytest

from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.reconcile import (
    EmptyWithoutWord,
    ForAnotherNode,
    NotTaken,
    OlderGeneration,
    SameGeneration,
    Taken,
    why_not,
)

LAST = Taken(node="pi", generation=43, digest="d")


def told(node: str = "pi", generation: int = 43, *, full: bool = True, empty: bool = False) -> Declaration:
    modules = [DeclaredModule(name="web", version="1")] if full else []
    return Declaration(node=node, generation=generation, modules=modules, empty=empty)


@pytest.mark.parametrize(
    ("declaration", "digest", "last", "why"),
    [
        (told(), "d", None, None),
        (told(generation=0), "d", None, None),
        (told(), "d", LAST, None),
        (told(generation=44), "other", LAST, None),
        (told(generation=44), "d", LAST, None),
        (told(), "other", LAST, SameGeneration(generation=43)),
        (told(generation=42), "d", LAST, OlderGeneration(generation=42, taken=43)),
        (told(generation=0), "d", LAST, OlderGeneration(generation=0, taken=43)),
        (told("nas", 44), "d", LAST, ForAnotherNode(node="nas", this="pi")),
        (told("nas", 42, full=False), "other", LAST, ForAnotherNode(node="nas", this="pi")),
        (told(full=False), "d", None, EmptyWithoutWord(generation=43)),
        (told(generation=44, full=False), "d", LAST, EmptyWithoutWord(generation=44)),
        (told(full=False, empty=True), "d", None, None),
        (told(generation=44, full=False, empty=True), "other", LAST, None),
        (told(generation=42, full=False, empty=True), "d", LAST, OlderGeneration(generation=42, taken=43)),
        (told(full=False, empty=True), "other", LAST, SameGeneration(generation=43)),
        (told(generation=44, empty=True), "other", LAST, None),
    ],
)
def test_why_not(declaration: Declaration, digest: str, last: Taken | None, why: NotTaken | None) -> None:
    assert why_not(declaration, digest, last) == why
