"""Check sources: look at repositories, then write down what was seen (design, parts 10 and 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeAlias

from mesh_core.model.mesh import Mesh
from mesh_core.model.source import Looked, Source
from mesh_core.ports import Store

Look: TypeAlias = Callable[[Sequence[Source]], Sequence[Looked]]
"""What a look at each of some sources came to, in their order."""


def check(store: Store, modules: Iterable[str], look: Look, at: str) -> Mapping[str, Looked]:
    """Look at the sources of these modules, and write down what was seen, by module.

    A module without a source is left out. Nothing of the store is held while repositories are looked at; a
    source that was changed meanwhile keeps what is known of it.
    """
    sources = _sources_of(store.mesh(), modules)
    found = dict(zip(sources, look([*sources.values()]), strict=True))
    with store.writing() as session:
        for module, looked in found.items():
            session.saw(module, sources[module], looked, at)
    return found


def _sources_of(mesh: Mesh, modules: Iterable[str]) -> dict[str, Source]:
    known = dict(mesh.sources)
    return {module: known[module] for module in modules if module in known}
