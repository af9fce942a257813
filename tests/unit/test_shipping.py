"""What adding modules that ship changes: origins are no part of a mesh, and yet recorded (design, part 10).

> `no-source`: handed over directly, or shipped with the control plane. Never behind
"""

from __future__ import annotations

from attrs import evolve

from mesh_core import Mesh, Module, PutModule, apply
from mesh_core.analysis.proposal import propose
from mesh_core.delivery import Delivery, delivery
from mesh_core.model.origin import HANDED, Origin, Put, Shipped
from mesh_core.model.source import Seen
from mesh_core.shipping import adding, another_ships, came_shipped

SHIPS = Module(name="rabbitmq", version="3.10")
OTHER = evolve(SHIPS, version="4.0")
NOW, BEFORE = Shipped(version="0.4"), Shipped(version="0.3")


def current(manifest: Module, origin: Origin) -> dict[str, Put]:
    put = Put(number=1, manifest=manifest, digest="d", origin=origin, at="2026-12-01T22:20:02Z", current=True)
    return {manifest.name: put}


def put_of(there: dict[str, Put], *, named: bool = False) -> bool:
    """Whether it is put; it is, or it is the same, or it is left."""
    found = adding([SHIPS], there, "0.4", named=named)
    assert len(found.puts) + len(found.same) + len(found.left) == 1
    assert found.puts in ((), (PutModule(module=SHIPS, origin=NOW),))
    return bool(found.puts)


def test_what_is_not_there_or_shipped_before_is_put() -> None:
    assert put_of({})
    assert put_of(current(OTHER, BEFORE))
    assert put_of(current(OTHER, NOW))


def test_what_is_there_as_it_ships_is_the_same() -> None:
    assert adding([SHIPS], current(SHIPS, NOW), "0.4", named=True).same == ("rabbitmq",)


def test_an_equal_one_that_came_otherwise_counts_as_shipped_from_then_on() -> None:
    assert put_of(current(SHIPS, HANDED))
    assert put_of(current(SHIPS, BEFORE))


def test_what_is_somebodys_own_is_left_unless_it_is_named() -> None:
    assert adding([SHIPS], current(OTHER, HANDED), "0.4", named=False).left == ("rabbitmq",)
    assert put_of(current(OTHER, HANDED), named=True)


def test_another_one_is_offered_for_what_shipped_and_for_nothing_else() -> None:
    assert another_ships([SHIPS], current(OTHER, BEFORE)) == ("rabbitmq",)
    assert another_ships([SHIPS], current(SHIPS, BEFORE)) == ()
    assert another_ships([SHIPS], current(OTHER, HANDED)) == ()
    assert another_ships([], current(OTHER, BEFORE)) == (), "it ships no more"
    assert came_shipped(current(OTHER, HANDED).values()) == ()
    assert delivery(None, Seen(), BEFORE) is Delivery.NO_SOURCE


def test_a_proposal_keeps_an_equal_manifest_that_came_from_elsewhere() -> None:
    mesh = apply(Mesh(), PutModule(module=SHIPS))
    shipped = PutModule(module=SHIPS, origin=NOW)
    assert propose(mesh, [shipped]).changes == (shipped,)
    assert propose(mesh, [shipped]).after == mesh
    assert propose(mesh, [PutModule(module=SHIPS)]).changes == (), "handing it over again changes nothing"
