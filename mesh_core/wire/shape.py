"""Plain data -> entries: the one door to cattrs, made strict (design, part 4).

No value is coerced and no text normalised; an unknown key, a missing key and a wrong type are faults, and
all of them are found at once. A hook raises `Misfit` with paths that are relative to the piece it was
given; whoever called for the piece puts its own step in front.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar, Union, get_args, get_origin

import attrs
import cattrs
from cattrs import AttributeValidationNote, ClassValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from mesh_core.faults import NameKind
from mesh_core.model.attributes import DEEPEST, plain_fault
from mesh_core.model.check import Check
from mesh_core.model.module import Scope
from mesh_core.model.names import name_fault
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
from mesh_core.model.text import has_surrogate
from mesh_core.wire import entries
from mesh_core.wire.faults import Again, Fault, Misfit, listed, misfit, near, shown, step, under

_Entry = TypeVar("_Entry")


def structure(data: Any, entry: type[_Entry]) -> _Entry:
    """The entry that plain data describes. Raises `Misfit` with every fault."""
    return _CONVERTER.structure(data, entry)


def _text(value: Any, _type: object = None) -> str:
    if type(value) is not str:
        hint = json_text_hint(value)
        raise misfit(f"found {shown(value)}", f"wanted text{hint}")
    if has_surrogate(value):
        raise misfit(f"found {shown(value)}", "a lone surrogate is no text")
    return value


def json_text_hint(value: Any) -> str:
    """How a number that was meant as text is written."""
    plain = type(value) is float or (type(value) is int and value.bit_length() < 100)
    return f' (in quotes: "{value}")' if plain else ""


def _truth(value: Any, _type: object = None) -> bool:
    if type(value) is not bool:
        raise misfit(f"found {shown(value)}", "wanted true or false")
    return value


def _named(kind: NameKind) -> Callable[[Any, object], str]:
    def structure_name(value: Any, _type: object = None) -> str:
        name = _text(value)
        fault = name_fault(kind, name)
        if fault is not None:
            meant = shown(fault.suggestion) if fault.suggestion else None
            what = "version" if kind is NameKind.VERSION else f"{kind} name"
            raise misfit(f"found {shown(name)}", f"a {what} is {fault.rule}", meant)
        return name

    return structure_name


def _one_of(words: tuple[str, ...]) -> Callable[[Any, object], str]:
    def structure_word(value: Any, _type: object = None) -> str:
        word = _text(value)
        if word not in words:
            meant = near(word, words)
            wanted = f"wanted {listed(shown(w) for w in words)}"
            raise misfit(f"found {shown(word)}", wanted, shown(meant) if meant else None)
        return word

    return structure_word


def _list(value: Any, type_: Any) -> tuple[Any, ...]:
    """A list whose elements fit, and of which no two have one name."""
    if type(value) is not list:
        raise misfit(f"found {shown(value)}", "wanted a list")
    element = get_args(type_)[0]
    faults: list[Fault] = []
    structured: dict[int, Any] = {}
    for place, item in enumerate(value):
        try:
            structured[place] = structure(item, element)
        except Misfit as error:
            faults += under(step(place), error.faults)
    faults += _twice({place: _identity(item) for place, item in structured.items()})
    if faults:
        raise Misfit(*faults)
    return tuple(structured.values())


def _identity(item: Any) -> str:
    if isinstance(item, Resource):
        return item.identity
    if isinstance(item, Check):
        return f"{item.kind} {item.attributes_json}"
    if isinstance(item, entries.GivenEntry):
        return f"{item.node}/{item.module}"
    return str(getattr(item, "name", item))


def _twice(names: dict[int, str]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for place, name in names.items():
        if first.setdefault(name, place) != place:
            at = step(first[name])
            yield Again(path=step(place), found=shown(name), wanted="it may stand once", first=at)


def _object(value: Any, of: str = "an object") -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise misfit(f"found {shown(value)}", f"wanted {of}")
    return value


def _is_key(key: Any) -> bool:
    return type(key) is str and not has_surrogate(key)


def _odd_keys(raw: dict[Any, Any]) -> list[Fault]:
    return [
        Fault(path="", found=f"the key {key!r}", wanted="a key is text") for key in raw if not _is_key(key)
    ]


def _strict_class(cls: type[Any], converter: cattrs.Converter) -> Callable[[Any, object], Any]:
    """A hook for an entry class: an object with the keys of the class, all faults at once."""
    renamed: dict[str, Any] = {f.name: override(rename=_key(f.name)) for f in attrs.fields(cls)}
    generated = make_dict_structure_fn(cls, converter, **renamed)
    keys = tuple(_key(field.name) for field in attrs.fields(cls))

    def structure_class(value: Any, _type: object = None) -> Any:
        odd = _odd_keys(_object(value))
        try:
            made = generated({key: item for key, item in value.items() if _is_key(key)}, cls)
        except ClassValidationError as error:
            raise Misfit(*odd, *_class_faults(error, keys)) from None
        if odd:
            raise Misfit(*odd)
        return made

    return structure_class


def _key(field_name: str) -> str:
    return field_name.rstrip("_")


def _class_faults(error: ClassValidationError, keys: tuple[str, ...]) -> Iterator[Fault]:
    for cause in error.exceptions:
        if isinstance(cause, ForbiddenExtraKeysError):
            for key in sorted(cause.extra_fields):
                yield unknown_key(key, keys)
            continue
        key = _noted_key(cause)
        if isinstance(cause, Misfit):
            yield from under(step(key), cause.faults)
        elif isinstance(cause, KeyError):
            yield Fault(path=step(key), found="missing", wanted="this key is needed")
        else:
            raise cause


def _noted_key(cause: BaseException) -> str:
    notes = getattr(cause, "__notes__", ())
    return next(_key(note.name) for note in notes if isinstance(note, AttributeValidationNote))


def unknown_key(key: str, known: tuple[str, ...]) -> Fault:
    """The fault of a key that the object does not have."""
    meant = near(key, known)
    wanted = f"the keys here are {', '.join(known)}"
    return Fault(path=step(key), found="unknown key", wanted=wanted, suggestion=meant)


def _entry_or(cls: type[Any], short: Callable[[Any], Any], of: str) -> Callable[[Any, object], Any]:
    """A hook for a thing with a short form: `short` reads what is no object."""
    long = _strict_class(cls, _CONVERTER)

    def structure_either(value: Any, _type: object = None) -> Any:
        if isinstance(value, dict):
            return long(value, cls)
        if type(value) in (list, int, float, type(None)):
            raise misfit(f"found {shown(value)}", f"wanted {of}")
        return short(value)

    return structure_either


def _resource(value: Any, _type: object = None) -> Resource:
    raw = _object(value)
    texts, faults = _texts(raw, ("kind", "path", "name"))
    faults += _place_faults(raw, texts)
    attributes = _attributes(raw, RESERVED_KEYS, faults)
    return Resource(**texts, attributes_json=attributes)


def _check(value: Any, _type: object = None) -> Check:
    raw = _object(value)
    texts, faults = _texts(raw, ("kind",))
    return Check(**texts, attributes_json=_attributes(raw, frozenset({"kind"}), faults))


def _texts(raw: dict[Any, Any], keys: tuple[str, ...]) -> tuple[dict[str, str], list[Fault]]:
    """Those keys of an object with a kind that hold text, and what is wrong with them."""
    faults = _odd_keys(raw)
    texts: dict[str, str] = {}
    if "kind" not in raw:
        faults.append(Fault(path=step("kind"), found="missing", wanted="this key is needed"))
    for key in keys:
        if key in raw:
            text, bad = _tried(partial(_text, raw[key]))
            faults += under(step(key), bad)
            texts |= {} if bad else {key: text}
    why = kind_fault(texts["kind"]) if "kind" in texts else None
    if why:
        faults.append(Fault(path=step("kind"), found=f"found {shown(texts['kind'])}", wanted=why))
    return texts, faults


def _attributes(raw: dict[Any, Any], reserved: frozenset[str], faults: list[Fault]) -> dict[str, Any]:
    """Everything else in the object. Raises `Misfit` for this, and for the faults found before."""
    attributes = {key: value for key, value in raw.items() if _is_key(key) and key not in reserved}
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
            if _is_key(key):
                yield from under(step(key), _plain_faults(item, depth + 1))
        yield from _odd_keys(value)


def _tried(read: Callable[[], Any]) -> tuple[Any, tuple[Fault, ...]]:
    try:
        return read(), ()
    except Misfit as error:
        return None, error.faults


def _table(
    read_key: Callable[[Any], str], read_value: Callable[[str, Any], Any]
) -> Callable[[Any, object], dict[str, Any]]:
    """A hook for an object whose keys are names: each pair is read, with all faults at once."""

    def structure_table(value: Any, _type: object = None) -> dict[str, Any]:
        faults = _odd_keys(_object(value))
        table: dict[str, Any] = {}
        for key, item in value.items():
            if _is_key(key):
                name, bad_key = _tried(partial(read_key, key))
                table[name], bad_item = _tried(partial(read_value, key, item))
                faults += under(step(key), (*bad_key, *bad_item))
        if faults:
            raise Misfit(*faults)
        return table

    return structure_table


_provision_name = _named(NameKind.PROVISION)
_capability_name = _named(NameKind.CAPABILITY)
_node_name = _named(NameKind.NODE)
_module_name = _named(NameKind.MODULE)


def _target(_provision: str, value: Any) -> tuple[str, str | None]:
    """`node` or `node/module`."""
    node, slash, module = _text(value).partition("/")
    _, faults = _tried(lambda: _node_name(node, None))
    if slash:
        faults += _tried(lambda: _module_name(module, None))[1]
    if faults:
        raise Misfit(*faults)
    return node, module if slash else None


def _pins(value: Any, _type: object = None) -> tuple[Pin, ...]:
    targets = _PIN_TABLE(value, None)
    return tuple(Pin(provision=name, node=node, module=module) for name, (node, module) in targets.items())


def _report(value: Any, _type: object = None) -> tuple[Capability, ...]:
    verdicts = _VERDICT_TABLE(value, None)
    return tuple(Capability(name=name, present=v.present, detail=v.detail) for name, v in verdicts.items())


_PIN_TABLE = _table(lambda key: _provision_name(key, None), _target)
_VERDICT_TABLE = _table(
    lambda key: _capability_name(key, None), lambda _, value: structure(value, entries.VerdictEntry)
)


def _count(value: Any, _type: object = None) -> int:
    if type(value) is not int or value < 0:
        raise misfit(f"found {shown(value)}", "wanted a whole number, not below 0")
    return value


def _format(value: Any, _type: object = None) -> int:
    if type(value) is not int or value != 1:
        raise misfit(f"found {shown(value)}", "this program reads format 1")
    return value


def _no_network(value: Any, _type: object = None) -> None:
    if value is not None:
        raise misfit(f"found {shown(value)}", "wanted null")


def _given(_provision: str, value: Any) -> Any:
    """What answers a requirement: one, or a list for a requirement from every."""
    if isinstance(value, list):
        return structure(value, tuple[entries.GivenEntry, ...])
    return structure(value, entries.GivenEntry)


def _is_optional(type_: Any) -> bool:
    return get_origin(type_) in (types.UnionType, Union) and type(None) in get_args(type_)


def _is_list(type_: Any) -> bool:
    return get_origin(type_) is tuple


def _optional(value: Any, type_: Any) -> Any:
    """A key that may be missing; where it stands, null does not do."""
    inner = next(arg for arg in get_args(type_) if arg is not type(None))
    return structure(value, inner)


_CONVERTER = cattrs.Converter(detailed_validation=True, forbid_extra_keys=True)


def _register() -> None:
    hook = _CONVERTER.register_structure_hook
    _CONVERTER.register_structure_hook_func(_is_optional, _optional)
    _CONVERTER.register_structure_hook_func(_is_list, _list)
    hook(str, _text)
    hook(bool, _truth)
    hook(Scope, lambda value, _: Scope(_one_of(("node", "mesh"))(value, None)))
    hook(Doing, lambda value, _: Doing(_one_of(tuple(Doing))(value, None)))
    hook(entries.From, _one_of(("one", "every")))
    hook(entries.NodeName, _node_name)
    hook(entries.ModuleName, _module_name)
    hook(entries.ProvisionName, _provision_name)
    hook(entries.ClaimName, _named(NameKind.CLAIM))
    hook(entries.CapabilityName, _capability_name)
    hook(entries.Version, _named(NameKind.VERSION))
    hook(entries.Exports, _table(_text, lambda _, value: _text(value)))
    hook(entries.Pins, _pins)
    hook(entries.Report, _report)
    hook(entries.Format, _format)
    hook(entries.Count, _count)
    hook(entries.NoNetwork, _no_network)
    hook(entries.DeclaredAnswers, _table(lambda key: _provision_name(key, None), _given))
    hook(Resource, _resource)
    hook(Check, _check)
    for cls, name_type in (
        (entries.ProvisionEntry, entries.ProvisionName),
        (entries.RequirementEntry, entries.ProvisionName),
        (entries.ClaimEntry, entries.ClaimName),
    ):
        hook(cls, _entry_or(cls, _named_entry(cls, name_type), "a name or an object"))
    verdict = _entry_or(
        entries.VerdictEntry,
        lambda value: entries.VerdictEntry(present=_truth(value)),
        "true, false or an object",
    )
    hook(entries.VerdictEntry, verdict)
    for whole in (
        entries.ModuleEntry,
        entries.NodeEntry,
        entries.GivenEntry,
        entries.DeclaredModuleEntry,
        entries.DeclarationEntry,
        entries.HelloEntry,
        entries.ReportEntry,
    ):
        hook(whole, _strict_class(whole, _CONVERTER))


def _named_entry(cls: type[Any], name_type: Any) -> Callable[[Any], Any]:
    return lambda value: cls(name=_CONVERTER.structure(value, name_type))


_register()
