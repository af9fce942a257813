"""The text of a document -> plain data: JSON or TOML, strictly (design, part 4).

What only the text can tell is found here: a key that stands twice in one object, bytes that are no UTF-8,
a document that is too large.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import StrEnum
from typing import Any

from attrs import frozen

from mesh_core.wire.faults import Fault, WireError, step


class Syntax(StrEnum):
    """How a document is written."""

    JSON = "json"
    TOML = "toml"


MIB = 1024 * 1024
MESH_LIMIT = 64 * MIB
MANIFEST_LIMIT = 1 * MIB
DECLARATION_LIMIT = 8 * MIB
REPORT_LIMIT = 256 * 1024
REQUEST_LIMIT = 64 * 1024
"""Of a request for a build."""
ANSWER_LIMIT = 2 * MIB
"""Of a builder's answer: a manifest, and the end of a log."""
_JSON_SPACE = " \t\n\r"


@frozen(kw_only=True)
class Parsed:
    """Plain data, and the keys in it that stand twice (which plain data cannot show)."""

    data: Any
    faults: tuple[Fault, ...] = ()


def parse(content: bytes, syntax: Syntax, limit: int) -> Parsed:
    """The plain data of a document of at most `limit` bytes.

    Raises `WireError` where it is no such text; keys that stand twice are returned, so that they can be
    told together with everything else that is wrong.
    """
    if len(content) > limit:
        raise _refusal(f"{len(content)} bytes", f"at most {limit} are read")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _refusal(f"byte {error.start} is no UTF-8", "a document is UTF-8 text") from None
    if text.startswith("\ufeff"):
        raise _refusal("a byte order mark", "save it as UTF-8 without one")
    return _parse_json(text) if syntax is Syntax.JSON else _parse_toml(text)


def _refusal(found: str, wanted: str) -> WireError:
    return WireError([Fault(path="$", found=found, wanted=wanted)])


class _Object(dict[str, Any]):
    """A JSON object that remembers which keys stood twice."""

    twice: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    result = _Object(pairs)
    if len(result) < len(pairs):
        seen: set[str] = set()
        keys = [key for key, _ in pairs]
        result.twice = tuple(dict.fromkeys(k for k in keys if k in seen or seen.add(k)))  # type: ignore[func-returns-value]
    return result


def _parse_json(text: str) -> Parsed:
    if not text.strip(_JSON_SPACE):
        raise _refusal("it is empty", "wanted an object")
    try:
        data = json.loads(text, object_pairs_hook=_object)
        # Python reads JSON that is nested more deeply than a function of Python can follow.
        return Parsed(data=data, faults=tuple(_keys_twice(data, "$")))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise _refusal(f"no JSON at {place}: {error.msg}", "mend it there") from None
    except RecursionError:
        raise _refusal("nested too deeply", "nest it less deeply") from None
    except ValueError:  # an integer of thousands of digits, which Python does not read
        raise _refusal("a number that is too long", "write a shorter one") from None


def _keys_twice(value: Any, path: str) -> Iterator[Fault]:
    if isinstance(value, _Object):
        for key in value.twice:
            yield Fault(path=path + step(key), found="this key stands twice", wanted="keep one")
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _keys_twice(item, path + step(key))
    if isinstance(value, list):
        for place, item in enumerate(value):
            yield from _keys_twice(item, path + step(place))


def _parse_toml(text: str) -> Parsed:
    import tomllib  # a host program reads JSON alone, for as long as its machine runs

    try:
        return Parsed(data=tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise _refusal(f"no TOML: {error}", "mend it there") from None
    except RecursionError:
        raise _refusal("nested too deeply", "nest it less deeply") from None
    except ValueError:
        raise _refusal("a number that is too long", "write a shorter one") from None
