"""Plain data -> entries: which hook reads what of a document (design, part 4); see also `shape_of_builds`.

Whoever wants something read asks here: importing this is what tells the converter how.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from mesh_core.faults import NameKind
from mesh_core.model.attributes import DEEPEST, plain_fault
from mesh_core.model.check import Check
from mesh_core.model.module import Scope
from mesh_core.model.node import Capability, Pin
from mesh_core.model.resource import (
    RESERVED_KEYS,
    Resource,
    kind_fault,
    normal_path,
    path_fault,
    place_fault,
)
from mesh_core.model.said import Doing
from mesh_core.wire import entries, shape_of_builds, shape_of_network
from mesh_core.wire.faults import Fault, Misfit, misfit, shown, step, under
from mesh_core.wire.strict import (
    CONVERTER,
    count,
    entry_or,
    is_key,
    named,
    object_of,
    odd_keys,
    one_of,
    strict_class,
    table,
    text,
    tried,
    truth,
)
from mesh_core.wire.strict import structure as structure
from mesh_core.wire.strict import unknown_key as unknown_key


def _resource(value: Any, _type: object = None) -> Resource:
    raw = object_of(value)
    texts, faults = _texts(raw, ("kind", "path", "name"))
    faults += _place_faults(raw, texts)
    attributes = _attributes(raw, RESERVED_KEYS, faults)
    return Resource(**texts, attributes_json=attributes)


def _check(value: Any, _type: object = None) -> Check:
    raw = object_of(value)
    texts, faults = _texts(raw, ("kind",))
    return Check(**texts, attributes_json=_attributes(raw, frozenset({"kind"}), faults))


def _texts(raw: dict[Any, Any], keys: tuple[str, ...]) -> tuple[dict[str, str], list[Fault]]:
    """Those keys of an object with a kind that hold text, and what is wrong with them."""
    faults = odd_keys(raw)
    texts: dict[str, str] = {}
    if "kind" not in raw:
        faults.append(Fault(path=step("kind"), found="missing", wanted="this key is needed"))
    for key in keys:
        if key in raw:
            found, bad = tried(partial(text, raw[key]))
            faults += under(step(key), bad)
            texts |= {} if bad else {key: found}
    why = kind_fault(texts["kind"]) if "kind" in texts else None
    if why:
        faults.append(Fault(path=step("kind"), found=f"found {shown(texts['kind'])}", wanted=why))
    return texts, faults


def _attributes(raw: dict[Any, Any], reserved: frozenset[str], faults: list[Fault]) -> dict[str, Any]:
    """Everything else in the object. Raises `Misfit` for this, and for the faults found before."""
    attributes = {key: value for key, value in raw.items() if is_key(key) and key not in reserved}
    for key, attribute in attributes.items():
        faults += under(step(key), _plain_faults(attribute))
    if faults:
        raise Misfit(*faults)
    return attributes


def _place_faults(raw: dict[Any, Any], texts: dict[str, str]) -> Iterator[Fault]:
    if ("path" in raw) == ("name" in raw):
        found = "both 'path' and 'name'" if "path" in raw else "neither 'path' nor 'name'"
        yield Fault(path="", found=found, wanted="a resource has exactly one of them")
    elif "path" in texts and path_fault(texts["path"]):
        path = texts["path"]
        meant = shown(normal_path(path)) if path.startswith("/") and "\0" not in path else None
        wanted = "a path is absolute and normal"
        yield Fault(path=".path", found=f"found {shown(path)}", wanted=wanted, suggestion=meant)
    elif "name" in texts and place_fault(None, texts["name"]):
        yield Fault(path=".name", found='found ""', wanted="a name is not empty")


def _plain_faults(value: Any, depth: int = 0) -> Iterator[Fault]:
    """What in an attribute is no plain JSON data."""
    if depth > DEEPEST:
        yield Fault(path="", found=f"more than {DEEPEST} levels", wanted="nest it less deeply")
        return
    why = plain_fault(value)
    if why:
        yield Fault(path="", found=f"found {why}", wanted="an attribute is plain JSON data")
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from under(step(place), _plain_faults(item, depth + 1))
    if isinstance(value, dict):
        for key, item in value.items():
            if is_key(key):
                yield from under(step(key), _plain_faults(item, depth + 1))
        yield from odd_keys(value)


_provision_name = named(NameKind.PROVISION)
_capability_name = named(NameKind.CAPABILITY)
_node_name = named(NameKind.NODE)
_module_name = named(NameKind.MODULE)


def _target(_provision: str, value: Any) -> tuple[str, str | None]:
    """`node` or `node/module`."""
    node, slash, module = text(value).partition("/")
    _, faults = tried(lambda: _node_name(node, None))
    if slash:
        faults += tried(lambda: _module_name(module, None))[1]
    if faults:
        raise Misfit(*faults)
    return node, module if slash else None


def _pins(value: Any, _type: object = None) -> tuple[Pin, ...]:
    targets = _PIN_TABLE(value, None)
    return tuple(Pin(provision=name, node=node, module=module) for name, (node, module) in targets.items())


def _report(value: Any, _type: object = None) -> tuple[Capability, ...]:
    verdicts = _VERDICT_TABLE(value, None)
    return tuple(Capability(name=name, present=v.present, detail=v.detail) for name, v in verdicts.items())


_PIN_TABLE = table(lambda key: _provision_name(key, None), _target)
_VERDICT_TABLE = table(
    lambda key: _capability_name(key, None), lambda _, value: structure(value, entries.VerdictEntry)
)


def _format(value: Any, _type: object = None) -> int:
    if type(value) is not int or value != 1:
        raise misfit(f"found {shown(value)}", "this program reads format 1")
    return value


def _given(_provision: str, value: Any) -> Any:
    """What answers a requirement: one, or a list for a requirement from every."""
    if isinstance(value, list):
        return structure(value, tuple[entries.GivenEntry, ...])
    return structure(value, entries.GivenEntry)


def _register() -> None:
    hook = CONVERTER.register_structure_hook
    hook(Scope, lambda value, _: Scope(one_of(("node", "mesh"))(value, None)))
    hook(Doing, lambda value, _: Doing(one_of(tuple(Doing))(value, None)))
    hook(entries.From, one_of(("one", "every")))
    hook(entries.NodeName, _node_name)
    hook(entries.ModuleName, _module_name)
    hook(entries.ProvisionName, _provision_name)
    hook(entries.ClaimName, named(NameKind.CLAIM))
    hook(entries.CapabilityName, _capability_name)
    hook(entries.Version, named(NameKind.VERSION))
    hook(entries.Exports, table(text, lambda _, value: text(value)))
    hook(entries.Pins, _pins)
    hook(entries.Report, _report)
    hook(entries.Format, _format)
    hook(entries.Count, count)
    hook(entries.DeclaredAnswers, table(lambda key: _provision_name(key, None), _given))
    hook(Resource, _resource)
    hook(Check, _check)
    for cls, name_type in (
        (entries.ProvisionEntry, entries.ProvisionName),
        (entries.RequirementEntry, entries.ProvisionName),
        (entries.ClaimEntry, entries.ClaimName),
    ):
        hook(cls, entry_or(cls, _named_entry(cls, name_type), "a name or an object"))
    verdict = entry_or(
        entries.VerdictEntry,
        lambda value: entries.VerdictEntry(present=truth(value)),
        "true, false or an object",
    )
    hook(entries.VerdictEntry, verdict)
    shape_of_network.register()
    for whole in (
        entries.ModuleEntry,
        entries.NodeEntry,
        entries.GivenEntry,
        entries.DeclaredModuleEntry,
        entries.DeclarationEntry,
        entries.HelloEntry,
        entries.ReportEntry,
    ):
        hook(whole, strict_class(whole, CONVERTER))


def _named_entry(cls: type[Any], name_type: Any) -> Callable[[Any], Any]:
    return lambda value: cls(name=CONVERTER.structure(value, name_type))


_register()
shape_of_builds.register()
