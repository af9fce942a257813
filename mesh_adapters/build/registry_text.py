"""Where artifacts go, as a person writes it: `oci:/FOLDER` or `docker://HOST[:PORT]/PREFIX`."""

from __future__ import annotations

import posixpath
import re
from typing import TypeAlias

from attrs import frozen

RULE = "oci:/FOLDER for a folder on this machine, or docker://HOST[:PORT]/PREFIX for a registry over HTTPS"

_LONGEST = 1024
_LONGEST_NAME = 255
"""Of a repository with its host, for most registries."""
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_NAME = re.compile(rf"{_PART}(?:/{_PART})*")
_LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(?:\.{_LABEL})*(?::([1-9][0-9]{{0,4}}))?")
_NO_PATH = re.compile(r"[\x00-\x20\x7f:\\]")
_HUB = frozenset({"docker.io", "index.docker.io"})


@frozen(kw_only=True)
class LayoutRegistry:
    """A folder that is an OCI image layout."""

    path: str

    def place(self, _module: str) -> str:
        """Where a module's artifacts are, as a host reaches them."""
        return f"oci:{self.path}"

    def __str__(self) -> str:
        return f"oci:{self.path}"


@frozen(kw_only=True)
class RemoteRegistry:
    """A registry over HTTPS; `host` has its port, if there is one, and `prefix` no slash at its ends."""

    host: str
    prefix: str

    def repository(self, module: str) -> str:
        """A module's repository, as `HOST/NAME`."""
        return f"{self.host}/{self.prefix}/{module}"

    def place(self, module: str) -> str:
        """Where a module's artifacts are, as a host reaches them."""
        return f"https://{self.repository(module)}"

    def module_fault(self, module: str) -> str | None:
        """Why a registry takes no repository of a module's name; None where it does."""
        if not _NAME.fullmatch(module):
            return f"{module} is no name for a registry, which takes one of '.', '_', '__' or '-' in a row"
        if len(self.repository(module)) > _LONGEST_NAME:
            return f"{self.repository(module)} is longer than the {_LONGEST_NAME} that a registry takes"
        return None

    def __str__(self) -> str:
        return f"docker://{self.host}/{self.prefix}"


Registry: TypeAlias = LayoutRegistry | RemoteRegistry


@frozen(kw_only=True)
class NoRegistry:
    """Why a text names no registry, in a sentence without the text where it may have a password."""

    why: str


def registry_of(text: str) -> Registry | NoRegistry:
    """The registry that a text names."""
    if "@" in text:
        return NoRegistry(
            why="a registry's text has no '@': who logs in is in an authfile, and digests are not said here"
        )
    if text.startswith("oci:"):
        return _layout(text)
    if text.startswith("docker://"):
        return _remote(text)
    return NoRegistry(why=f"{text[:100]!r} is no registry: {RULE}")


def _layout(text: str) -> Registry | NoRegistry:
    path = text.removeprefix("oci:")
    normal = path.startswith("/") and posixpath.normpath(path) == path and not path.startswith("//")
    if normal and path != "/" and len(path) <= _LONGEST and not _NO_PATH.search(path):
        return LayoutRegistry(path=path)
    return NoRegistry(why=f"{text[:100]!r} is no folder: it is absolute and normal, without spaces and ':'")


def _remote(text: str) -> Registry | NoRegistry:
    host, _, prefix = text.removeprefix("docker://").partition("/")
    port = _HOST.fullmatch(host)
    if port is None or int(port[1] or 1) > 65535:
        return NoRegistry(why=f"{text[:100]!r} has no host: a name in small letters or an IPv4 address")
    name = host.partition(":")[0]
    if "." not in host and ":" not in host and host != "localhost":
        # Whoever reads such a text takes the first part for a folder on docker.io.
        return NoRegistry(why=f"{host} alone would be looked for on docker.io: say {host}:443")
    if name in _HUB:
        return NoRegistry(why=f"{name} is not where its artifacts are: say registry-1.docker.io")
    if not _NAME.fullmatch(prefix) or len(text) > _LONGEST_NAME:
        return NoRegistry(
            why=f"{text[:100]!r} has no prefix that a registry takes: small letters and digits,"
            " with '.', '_' or '-' inside and '/' between"
        )
    return RemoteRegistry(host=host, prefix=prefix)
