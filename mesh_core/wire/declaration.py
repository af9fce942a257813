"""The declaration document: `Declaration` <-> plain data, with what tells that one was cut (design, part 8).

    {"format": 1, "node": "pi", "generation": 43, "network": null, "modules": [...], "items": 12,
     "digest": "..."}

A module is `{"name", "version", "resources", "answers", "checks"}`; `answers` is an object from the
provision to `{"node", "module", "exports"}`, or to a list of those for a requirement from every.
`network` is null where the node has none; see `wire.network`. `items` counts modules, resources and checks;
`digest` is the SHA-256 of the canonical JSON of all the rest.
`allow_removals` and `empty` stand where they are true.
"""

from __future__ import annotations

from typing import Any

from mesh_core.faults import InvalidValue
from mesh_core.model.declaration import Declaration, DeclaredAnswer, DeclaredModule, Given
from mesh_core.model.module import Module
from mesh_core.model.network import DeclaredNetwork
from mesh_core.wire.data import check_to_data, module_to_data, resource_to_data
from mesh_core.wire.entries import DeclarationEntry, DeclaredModuleEntry, GivenEntry
from mesh_core.wire.faults import Fault, WireError
from mesh_core.wire.fingerprint import fingerprint
from mesh_core.wire.message import data_of, entry_of
from mesh_core.wire.network import declared_to_data
from mesh_core.wire.text import DECLARATION_LIMIT

FORMAT = 1


def declaration_to_data(declaration: Declaration) -> dict[str, Any]:
    """The declaration document as plain data."""
    words = {name: True for name in ("allow_removals", "empty") if getattr(declaration, name)}
    data = {
        "format": FORMAT,
        "node": declaration.node,
        "generation": declaration.generation,
        "network": None if declaration.network is None else declared_to_data(declaration.network),
        "modules": [_module_to_data(module) for module in declaration.modules],
        "items": declaration.items,
        **words,
    }
    return {**data, "digest": fingerprint(data)}


def digest_of(declaration: Declaration) -> str:
    """The digest that the declaration document gives of itself."""
    digest: str = declaration_to_data(declaration)["digest"]
    return digest


def on_machine(module: Module) -> str:
    """The digest of what of a manifest reaches a machine: who runs two of one digest runs the same."""
    data = module_to_data(module)
    return fingerprint({key: data[key] for key in ("name", "version", "resources", "checks") if key in data})


def content_fingerprint(declaration: Declaration) -> str:
    """The fingerprint of what a node is to be, whatever the generation and the words that go with it."""
    data = declaration_to_data(declaration)
    return fingerprint({key: data[key] for key in ("node", "network", "modules")})


def _module_to_data(module: DeclaredModule) -> dict[str, Any]:
    given = {
        "resources": [resource_to_data(resource) for resource in module.resources],
        "answers": {answer.provision: _answer_to_data(answer) for answer in module.answers},
        "checks": [check_to_data(check) for check in module.checks],
    }
    return {
        "name": module.name,
        "version": module.version,
        **{key: value for key, value in given.items() if value},
    }


def _answer_to_data(answer: DeclaredAnswer) -> dict[str, Any] | list[dict[str, Any]]:
    given = [_given_to_data(one) for one in answer.given]
    return given if answer.every else given[0]


def _given_to_data(given: Given) -> dict[str, Any]:
    data = {"node": given.node, "module": given.module, "exports": dict(given.exports)}
    return data if given.address is None else data | {"address": given.address}


def read_declaration(content: bytes) -> Declaration:
    """The declaration in a file's bytes (at most 8 MiB).

    Raises `WireError`: for what is no declaration, and for one that was cut or changed on its way - whose
    items or digest are not those that it gives.
    """
    return received(content)[0]


def received(content: bytes) -> tuple[Declaration, str]:
    """As `read_declaration`, with the digest that the document gives of itself, and has."""
    data = data_of(content, DECLARATION_LIMIT)
    return declaration_from_data(data), data["digest"]


def declaration_from_data(data: Any) -> Declaration:
    """As `read_declaration`, of what `json.load` gives. Raises `WireError`."""
    entry = entry_of(data, DeclarationEntry)
    whole = fingerprint({key: value for key, value in data.items() if key != "digest"})
    if entry.digest != whole:
        raise WireError([_not_whole(".digest", f"found {entry.digest}", f"the content has {whole}")])
    try:
        declaration = _declaration(entry)
    except (InvalidValue, ValueError) as error:
        raise WireError([Fault(path="$", found=str(error), wanted="a declaration")]) from None
    if declaration.items != entry.items:
        found, wanted = f"found {entry.items}", f"there are {declaration.items}"
        raise WireError([_not_whole(".items", found, wanted)])
    return declaration


def _not_whole(path: str, found: str, wanted: str) -> Fault:
    return Fault(path=f"${path}", found=found, wanted=f"{wanted}: it was cut or changed on its way")


def _declaration(entry: DeclarationEntry) -> Declaration:
    network: object = entry.network
    assert network is None or isinstance(network, DeclaredNetwork)
    return Declaration(
        node=entry.node,
        generation=entry.generation,
        network=network,
        modules=[_module(module) for module in entry.modules],
        allow_removals=entry.allow_removals,
        empty=entry.empty,
    )


def _module(entry: DeclaredModuleEntry) -> DeclaredModule:
    return DeclaredModule(
        name=entry.name,
        version=entry.version,
        resources=entry.resources,
        answers=[_answer(name, given) for name, given in entry.answers.items()],
        checks=entry.checks,
    )


def _answer(provision: str, given: GivenEntry | tuple[GivenEntry, ...]) -> DeclaredAnswer:
    every = isinstance(given, tuple)
    entries = given if isinstance(given, tuple) else (given,)
    givens = [Given(node=g.node, module=g.module, exports=g.exports, address=g.address) for g in entries]
    return DeclaredAnswer(provision=provision, every=every, given=givens)
