"""Modules that ship with the control plane: what adding them changes, and where it ships another one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from attrs import frozen

from mesh_core.change import PutModule
from mesh_core.model.module import Module
from mesh_core.model.origin import Put, Shipped


@frozen(kw_only=True)
class Adding:
    """What becomes of shipped modules that are to be in the catalogue.

    `same` are those that are there as they ship. `left` are there from elsewhere, and another: nobody named
    them, so nobody loses what is theirs.
    """

    puts: tuple[PutModule, ...]
    same: tuple[str, ...]
    left: tuple[str, ...]


def adding(modules: Iterable[Module], current: Mapping[str, Put], version: str, *, named: bool) -> Adding:
    """What it takes to have these modules in the catalogue as they ship with this version.

    `current` is what the catalogue has; `named` is whether somebody asked for these, rather than for all.
    An equal manifest that came otherwise is put all the same: from then on it counts as shipped.
    """
    puts, same, left = [], [], []
    origin = Shipped(version=version)
    for module in modules:
        there = current.get(module.name)
        if there is not None and there.manifest == module and there.origin == origin:
            same.append(module.name)
        elif there is None or named or there.manifest == module or isinstance(there.origin, Shipped):
            puts.append(PutModule(module=module, origin=origin))
        else:
            left.append(module.name)
    return Adding(puts=tuple(puts), same=tuple(same), left=tuple(left))


def came_shipped(current: Iterable[Put]) -> tuple[str, ...]:
    """The modules of the catalogue that came with a control plane, by name."""
    return tuple(sorted(put.manifest.name for put in current if isinstance(put.origin, Shipped)))


def another_ships(modules: Iterable[Module], current: Mapping[str, Put]) -> tuple[str, ...]:
    """The modules of which the catalogue has one that shipped, and another one ships now."""
    ships = {module.name: module for module in modules}
    came = came_shipped(current.values())
    return tuple(name for name in came if name in ships and ships[name] != current[name].manifest)
