"""The mesh: everything that resolution reads (design, part 3, *Input*)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType

from attrs import field, frozen

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.names import refuse_duplicates
from mesh_core.model.node import Node


def _by_name(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=lambda node: node.name))


@frozen(kw_only=True)
class Mesh:
    """A catalogue and the nodes, sorted by name; each node carries its pins.

    Equal meshes are equal whatever the order they were given in. Raises `InvalidValue` for two nodes of
    one name.
    """

    catalogue: Catalogue = field(factory=Catalogue)
    nodes: tuple[Node, ...] = field(default=(), converter=_by_name)
    _index: Mapping[str, Node] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        refuse_duplicates(tuple(node.name for node in self.nodes), "nodes")
        object.__setattr__(self, "_index", MappingProxyType({node.name: node for node in self.nodes}))

    def __reduce__(self) -> tuple[Callable[[], Mesh], tuple[()]]:
        """Copied and pickled by what it was made of: what it is looked up in cannot be."""
        return partial(Mesh, catalogue=self.catalogue, nodes=self.nodes), ()

    def node(self, name: str) -> Node | None:
        """The node of that name, or None."""
        return self._index.get(name)
