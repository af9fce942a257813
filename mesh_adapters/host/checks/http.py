"""`http`: a server answers a request as it should.

    {kind = "http", url = "http://127.0.0.1:8080/health"}
    {kind = "http", url = "https://shop.example/", status = 200, contains = "Welcome", seconds = 20}

A redirect is an answer like another (302): it is not followed, since it may lead to another machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from mesh_adapters.host.attributes import text
from mesh_adapters.host.checks.kind import Look, within
from mesh_adapters.host.kind import Attribute, AttributeFault
from mesh_adapters.host.machine import Machine

MOST_BYTES = 1024 * 1024
"""How much of an answer is looked through."""


def _is_status(value: Any) -> bool:
    return type(value) is int and 100 <= value <= 599


class Http:
    """The kind of check `http`."""

    name = "http"
    attributes: tuple[Attribute, ...] = (
        text("url", "an http:// or https:// address", needed=True),
        Attribute(name="status", wanted="a status from 100 to 599, like 200", fits=_is_status),
        text("contains", "text that stands in the answer"),
    )

    def faults(self, given: Mapping[str, Any]) -> Iterator[AttributeFault]:
        """The address is one that can be asked."""
        url = given.get("url")
        why = _url_fault(url) if isinstance(url, str) else None
        if why is not None:
            yield AttributeFault(key="url", found=f"found {url!r}", wanted=why)

    def look(self, given: Mapping[str, Any], machine: Machine, seconds: float) -> Look:
        """Ask once, and look at the status and at what was said."""
        return within(seconds, lambda: _ask(given, seconds), given["url"])


def _url_fault(url: str) -> str | None:
    try:
        parts = urlsplit(url)
        _port = parts.port
    except ValueError as error:
        return f"an http:// or https:// address ({error})"
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "an http:// or https:// address"
    if parts.username is not None or parts.password is not None:
        return "an address without a user and a password"
    if any(character <= " " or character >= "\x7f" for character in url):
        return "an address of printable ASCII characters without spaces"
    return None


def _ask(given: Mapping[str, Any], seconds: float) -> Look:
    from http.client import HTTPException  # most machines have no such check, and idle without this

    url = given["url"]
    try:
        status, body = _answer(urlsplit(url), seconds)
    except (OSError, HTTPException, UnicodeError) as error:
        said = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        return Look(passed=False, detail=f"{url}: {said}")
    wanted = given.get("status")
    if not (200 <= status <= 399 if wanted is None else status == wanted):
        return Look(passed=False, detail=f"{url} answers {status}, not {wanted or '200 to 399'}")
    contains = given.get("contains")
    if contains is not None and contains.encode() not in body:
        return Look(passed=False, detail=f"{url} answers {status}, and {contains!r} is not in the answer")
    return Look(passed=True, detail=f"{url} answers {status}")


def _answer(parts: SplitResult, seconds: float) -> tuple[int, bytes]:
    from http.client import HTTPConnection, HTTPSConnection

    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=seconds)
    try:
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("GET", path, headers={"User-Agent": "mesh-host", "Connection": "close"})
        response = connection.getresponse()
        return response.status, response.read(MOST_BYTES)
    finally:
        connection.close()
