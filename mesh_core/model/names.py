"""The grammar of names (design, part 2): what a name may be, and a near spelling when it is not.

Nothing here normalises: a name is right as it stands, or it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from attrs import Attribute, frozen

from mesh_core.faults import BadName, Duplicate, InvalidValue, NameKind


@frozen(kw_only=True)
class _Grammar:
    pattern: re.Pattern[str]
    inside: str
    longest: int
    rule: str


def _grammar(inside: str, longest: int, rule: str) -> _Grammar:
    edge = "[a-z0-9]"
    pattern = re.compile(rf"{edge}(?:[{inside}]{{0,{longest - 2}}}{edge})?")
    return _Grammar(pattern=pattern, inside=inside, longest=longest, rule=rule)


_LABEL = _grammar("a-z0-9-", 63, "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or a digit")
_MODULE = _grammar(
    "a-z0-9._-",
    63,
    "1 to 63 of a-z, 0-9, '-', '.' and '_', beginning and ending with a letter or a digit",
)
_LONG = _grammar(
    "a-z0-9._:/-",
    128,
    "1 to 128 of a-z, 0-9, '-', '.', '_', ':' and '/', beginning and ending with a letter or a digit",
)
_GRAMMARS = {
    NameKind.NODE: _LABEL,
    NameKind.MODULE: _MODULE,
    NameKind.PROVISION: _LONG,
    NameKind.CLAIM: _LONG,
    NameKind.CAPABILITY: _LONG,
}
_VERSION_RULE = "1 to 128 printable characters without white space"
_VERSION_LONGEST = 128


def name_fault(kind: NameKind, name: str) -> BadName | None:
    """What is wrong with `name` as a name of `kind`; None when it is right."""
    if kind is NameKind.VERSION:
        return _version_fault(name)
    grammar = _GRAMMARS[kind]
    if grammar.pattern.fullmatch(name):
        return None
    return BadName(kind=kind, name=name, rule=grammar.rule, suggestion=_near(grammar, name))


def _version_fault(name: str) -> BadName | None:
    printable = name.isprintable() and not any(c.isspace() for c in name)
    if printable and 1 <= len(name) <= _VERSION_LONGEST:
        return None
    return BadName(kind=NameKind.VERSION, name=name, rule=_VERSION_RULE)


def _near(grammar: _Grammar, name: str) -> str | None:
    """A spelling that the grammar takes: lower case, the forbidden as '-', the edges trimmed."""
    spelled = re.sub(rf"[^{grammar.inside}]+", "-", name.lower())[: grammar.longest]
    spelled = spelled.strip("-._:/")
    return spelled if grammar.pattern.fullmatch(spelled) else None


def name_validator(kind: NameKind) -> Callable[[Any, Attribute[Any], Any], None]:
    """An attrs validator for one name; raises `InvalidValue`."""

    def validate(_instance: object, _attribute: object, value: str) -> None:
        fault = name_fault(kind, value)
        if fault is not None:
            raise InvalidValue(fault)

    return validate


def names_validator(kind: NameKind) -> Callable[[Any, Attribute[Any], Any], None]:
    """An attrs validator for a sorted tuple of distinct names; raises `InvalidValue`."""
    validate_one = name_validator(kind)

    def validate(instance: object, attribute: Any, value: tuple[str, ...]) -> None:
        for name in value:
            validate_one(instance, attribute, name)
        refuse_duplicates(value, attribute.name)

    return validate


def refuse_duplicates(sorted_names: tuple[str, ...], where: str) -> None:
    """Raise `InvalidValue` if a name stands twice in a sorted tuple."""
    twice = [name for name, after in pairwise(sorted_names) if name == after]
    if twice:
        raise InvalidValue(*(Duplicate(where=where, name=name) for name in dict.fromkeys(twice)))
