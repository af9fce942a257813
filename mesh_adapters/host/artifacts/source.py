"""Where an artifact is: `oci:PATH`, a layout on this machine, or `https://HOST[:PORT]/NAME`, a registry."""

from __future__ import annotations

import posixpath
import re
from typing import TypeAlias

from attrs import frozen

_HTTPS = re.compile(
    r"https://([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?/(.+)"
)
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_NAME = re.compile(f"{_PART}(?:/{_PART})*")
_LONGEST = 255
"""Characters of a repository's name."""

WANTED = 'an OCI layout or a registry: "oci:/srv/registry" or "https://registry.example:5000/mesh/web"'


@frozen
class Layout:
    """An OCI image layout: a directory of the machine that the program runs on."""

    path: str


@frozen
class Registry:
    """A repository of a registry that is spoken to over TLS; `host` without the brackets of IPv6."""

    host: str
    port: int
    name: str

    @property
    def authority(self) -> str:
        """The host, and the port where it is not the usual one."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return shown if self.port == 443 else f"{shown}:{self.port}"


Source: TypeAlias = Layout | Registry


def source_of(text: str) -> Source | None:
    """What a text names; None where it names neither. Plain http is neither."""
    if text.startswith("oci:"):
        path = text.removeprefix("oci:")
        normal = path.startswith("/") and "\0" not in path and posixpath.normpath(path) == path
        return Layout(path) if normal else None
    found = _HTTPS.fullmatch(text)
    if found is None:
        return None
    host, port, name = found[1].strip("[]"), int(found[3] or 443), found[4]
    fits = 0 < port < 65536 and len(name) <= _LONGEST and _NAME.fullmatch(name) is not None
    return Registry(host, port, name) if fits else None
