"""The mesh: everything that resolution reads (design, part 3, *Input*)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

from attrs import field, frozen

from mesh_core.faults import BadNetwork, InvalidValue, NameKind
from mesh_core.model.catalogue import Catalogue
from mesh_core.model.names import names_validator, refuse_duplicates
from mesh_core.model.network import Network, tidied
from mesh_core.model.network_text import is_machines
from mesh_core.model.node import Node
from mesh_core.model.source import Source


def _by_name(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(nodes, key=lambda node: node.name))


def address_faults(network: Network | None, nodes: Sequence[Node]) -> list[tuple[int, str]]:
    """What is wrong with the addresses that nodes have, each with the place of the node at fault.

    Without a network they are only text: a node's entry may be looked at by itself.
    """
    if network is None:
        return []
    faults: list[tuple[int, str]] = []
    first: dict[str, str] = {}
    for place, node in enumerate(nodes):
        address = node.network.address
        if address is None:
            continue
        if not is_machines(network.range, address):
            faults.append((place, f"{address} is no address of a machine in {network.range}"))
        elif first.setdefault(address, node.name) != node.name:
            faults.append((place, f"{address} is the address of {first[address]}"))
    return faults


Sources = Mapping[str, Source] | Iterable[tuple[str, Source]]


def _by_module(sources: Sources) -> tuple[tuple[str, Source], ...]:
    pairs = sources.items() if isinstance(sources, Mapping) else sources
    return tuple(sorted(pairs, key=lambda pair: pair[0]))


def _named_once(instance: object, attribute: Any, sources: tuple[tuple[str, Source], ...]) -> None:
    names_validator(NameKind.MODULE)(instance, attribute, tuple(name for name, _ in sources))


@frozen(kw_only=True)
class Mesh:
    """A catalogue and the nodes, sorted by name; each node carries its pins.

    `sources` has where the code of modules lives, by the module's name, as sorted pairs; it may be given as a
    mapping. Resolution does not read it, and a module that it names need not be in the catalogue yet. Equal
    meshes are equal whatever the order they were given in. `network` is the overlay, if there is one;
    resolution does not read it. Of its retired addresses those are left that are a machine's in its range,
    and no node's. Raises `InvalidValue` for two nodes of one name, or of one address, and for an address
    outside of the overlay's range.
    """

    catalogue: Catalogue = field(factory=Catalogue)
    nodes: tuple[Node, ...] = field(default=(), converter=_by_name)
    sources: tuple[tuple[str, Source], ...] = field(default=(), converter=_by_module, validator=_named_once)
    network: Network | None = None
    _index: Mapping[str, Node] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        refuse_duplicates(tuple(node.name for node in self.nodes), "nodes")
        faults = address_faults(self.network, self.nodes)
        if faults:
            raise InvalidValue(*(BadNetwork(why=why) for _, why in faults))
        object.__setattr__(self, "_index", MappingProxyType({node.name: node for node in self.nodes}))
        if self.network is not None:
            held = (node.network.address for node in self.nodes)
            object.__setattr__(self, "network", tidied(self.network, held))

    def __reduce__(self) -> tuple[Callable[[], Mesh], tuple[()]]:
        """Copied and pickled by what it was made of: what it is looked up in cannot be."""
        made = partial(Mesh, catalogue=self.catalogue, nodes=self.nodes)
        return partial(made, sources=self.sources, network=self.network), ()

    def node(self, name: str) -> Node | None:
        """The node of that name, or None."""
        return self._index.get(name)

    def source(self, module: str) -> Source | None:
        """Where the code of a module lives, if that is known."""
        return dict(self.sources).get(module)
