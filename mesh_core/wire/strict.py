"""Plain data -> entries: what is strict about it, whatever the entries are (design, part 4).

No value is coerced and no text normalised; an unknown key, a missing key and a wrong type are faults, and
all of them are found at once. A hook raises `Misfit` with paths that are relative to the piece it was
given; whoever called for the piece puts its own step in front. `shape` says which hook reads what.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any, TypeVar, Union, cast, get_args, get_origin

import attrs
import cattrs
from cattrs import AttributeValidationNote, ClassValidationError, ForbiddenExtraKeysError
from cattrs.gen import make_dict_structure_fn, override

from mesh_core.faults import NameKind
from mesh_core.model.names import name_fault
from mesh_core.model.text import has_surrogate
from mesh_core.wire.faults import Again, Fault, Misfit, listed, misfit, near, shown, step, under

_Entry = TypeVar("_Entry")

CONVERTER = cattrs.Converter(detailed_validation=True, forbid_extra_keys=True)


def structure(data: Any, entry: type[_Entry]) -> _Entry:
    """The entry that plain data describes. Raises `Misfit` with every fault."""
    return CONVERTER.structure(data, entry)


def text(value: Any, _type: object = None) -> str:
    """A hook for text."""
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


def truth(value: Any, _type: object = None) -> bool:
    """A hook for true and false."""
    if type(value) is not bool:
        raise misfit(f"found {shown(value)}", "wanted true or false")
    return value


def one_of(words: tuple[str, ...]) -> Callable[[Any, object], str]:
    """A hook for one of some words."""

    def structure_word(value: Any, _type: object = None) -> str:
        word = text(value)
        if word not in words:
            meant = near(word, words)
            wanted = f"wanted {listed(shown(w) for w in words)}"
            raise misfit(f"found {shown(word)}", wanted, shown(meant) if meant else None)
        return word

    return structure_word


def named(kind: NameKind) -> Callable[[Any, object], str]:
    """A hook for a name of a kind, told with a spelling that would do."""

    def structure_name(value: Any, _type: object = None) -> str:
        name = text(value)
        fault = name_fault(kind, name)
        if fault is not None:
            meant = shown(fault.suggestion) if fault.suggestion else None
            what = "version" if kind is NameKind.VERSION else f"{kind} name"
            raise misfit(f"found {shown(name)}", f"a {what} is {fault.rule}", meant)
        return name

    return structure_name


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
    return str(getattr(item, "identity", None) or getattr(item, "name", item))


def _twice(names: dict[int, str]) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for place, name in names.items():
        if first.setdefault(name, place) != place:
            at = step(first[name])
            yield Again(path=step(place), found=shown(name), wanted="it may stand once", first=at)


def object_of(value: Any, of: str = "an object") -> dict[Any, Any]:
    """The value, where it is an object."""
    if not isinstance(value, dict):
        raise misfit(f"found {shown(value)}", f"wanted {of}")
    return value


def is_key(key: Any) -> bool:
    """Whether a key is text."""
    return type(key) is str and not has_surrogate(key)


def odd_keys(raw: dict[Any, Any]) -> list[Fault]:
    """The faults of keys that are none."""
    return [
        Fault(path="", found=f"the key {key!r}", wanted="a key is text") for key in raw if not is_key(key)
    ]


def strict_class(cls: type[Any], converter: cattrs.Converter) -> Callable[[Any, object], Any]:
    """A hook for an entry class: an object with the keys of the class, all faults at once.

    What reads it is made when the first one is read: a program needs few of the classes that there are.
    """

    @cache
    def generated() -> Callable[[Any, Any], Any]:
        renamed: dict[str, Any] = {f.name: override(rename=_key(f.name)) for f in attrs.fields(cls)}
        return make_dict_structure_fn(cls, converter, **renamed)

    keys = tuple(_key(field.name) for field in attrs.fields(cls))

    def structure_class(value: Any, _type: object = None) -> Any:
        odd = odd_keys(object_of(value))
        try:
            made = generated()({key: item for key, item in value.items() if is_key(key)}, cls)
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


def entry_or(cls: type[Any], short: Callable[[Any], Any], of: str) -> Callable[[Any, object], Any]:
    """A hook for a thing with a short form: `short` reads what is no object."""
    long = strict_class(cls, CONVERTER)

    def structure_either(value: Any, _type: object = None) -> Any:
        if isinstance(value, dict):
            return long(value, cls)
        if type(value) in (list, int, float, type(None)):
            raise misfit(f"found {shown(value)}", f"wanted {of}")
        return short(value)

    return structure_either


def tried(read: Callable[[], Any]) -> tuple[Any, tuple[Fault, ...]]:
    """What is read, or None with its faults."""
    try:
        return read(), ()
    except Misfit as error:
        return None, error.faults


def table(
    read_key: Callable[[Any], str], read_value: Callable[[str, Any], Any]
) -> Callable[[Any, object], dict[str, Any]]:
    """A hook for an object whose keys are names: each pair is read, with all faults at once."""

    def structure_table(value: Any, _type: object = None) -> dict[str, Any]:
        faults = odd_keys(object_of(value))
        table: dict[str, Any] = {}
        for key, item in value.items():
            if is_key(key):
                name, bad_key = tried(partial(read_key, key))
                table[name], bad_item = tried(partial(read_value, key, item))
                faults += under(step(key), (*bad_key, *bad_item))
        if faults:
            raise Misfit(*faults)
        return table

    return structure_table


def count(value: Any, _type: object = None) -> int:
    """A hook for a whole number from 0 on."""
    if type(value) is not int or value < 0:
        raise misfit(f"found {shown(value)}", "wanted a whole number, not below 0")
    return value


def _is_optional(type_: Any) -> bool:
    return get_origin(type_) in (types.UnionType, Union) and type(None) in get_args(type_)


def _is_list(type_: Any) -> bool:
    return get_origin(type_) is tuple


def _optional(value: Any, type_: Any) -> Any:
    """A key that may be missing; where it stands, null does not do."""
    inner = tuple(arg for arg in get_args(type_) if arg is not type(None))
    return CONVERTER.structure(value, inner[0] if len(inner) == 1 else cast("Any", Union[inner]))  # noqa: UP007


CONVERTER.register_structure_hook_func(_is_optional, _optional)
CONVERTER.register_structure_hook_func(_is_list, _list)
CONVERTER.register_structure_hook(str, text)
CONVERTER.register_structure_hook(bool, truth)
