"""A document that has everything, and how one thing in it is changed: by its path, as faults name it."""

import copy
import json
import re
from typing import Any

MISSING = object()

KEY = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY="

WHOLE: dict[str, Any] = {
    "format": 1,
    "network": {"range": "10.77.0.0/24", "peers": "full", "port": 51821, "retired": ["10.77.0.9"]},
    "modules": [
        {
            "name": "zsh",
            "version": "5.9",
            "provides": ["shell"],
            "resources": [{"kind": "package", "name": "zsh"}],
        },
        {
            "name": "postgres",
            "version": "16.2",
            "provides": [{"name": "database", "scope": "mesh", "exports": {"port": "5432"}}, "psql"],
            "claims": ["port:5432", {"name": "primary", "scope": "mesh"}],
            "capabilities": ["systemd"],
            "resources": [
                {"kind": "package", "name": "postgresql"},
                {"kind": "file", "path": "/etc/motd", "mode": 420, "lines": [{"text": "hello"}]},
            ],
        },
        {
            "name": "web",
            "version": "1.4.0",
            "requires": ["shell", {"name": "database", "from": "one"}, {"name": "metrics", "from": "every"}],
        },
    ],
    "nodes": [
        {
            "name": "nas",
            "assign": ["postgres"],
            "capabilities": {"systemd": True, "gpu": {"present": False, "detail": "no device"}},
            "network": {
                "address": "10.77.0.2",
                "key": KEY,
                "endpoints": ["nas.example.org:51820", {"at": "192.168.1.5:51820", "site": "home"}],
                "site": "home",
                "relay": True,
            },
        },
        {"name": "pi", "assign": ["web", "zsh"], "pins": {"database": "nas", "mail": "nas/postgres"}},
    ],
}

_STEP = re.compile(r'\.([\w-]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')


def steps(path: str) -> list[str | int]:
    """`$.modules[2].provides` as the keys and places that lead there."""
    assert path.startswith("$")
    found: list[str | int] = []
    at = 1
    while at < len(path):
        matched = _STEP.match(path, at)
        assert matched, f"{path} is no path from {at} on"
        key, place, odd = matched.groups()
        found.append(int(place) if place else key or json.loads(odd))
        at = matched.end()
    return found


def at(document: Any, path: str) -> Any:
    """What stands at a path. Raises `LookupError` or `TypeError` where nothing does."""
    for step in steps(path):
        document = document[step]
    return document


def but(*differences: tuple[str, Any], document: Any = WHOLE) -> Any:
    """A copy of a document with other values at some paths; without the key where that is MISSING."""
    changed = copy.deepcopy(document)
    for path, value in differences:
        *most, last = steps(path)
        place = changed
        for step in most:
            place = place[step]
        if value is MISSING:
            del place[last]
        elif isinstance(place, list) and last == len(place):
            place.append(value)
        else:
            place[last] = value
    return changed
