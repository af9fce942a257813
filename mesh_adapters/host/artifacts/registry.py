"""Speaks to a registry (OCI distribution): over TLS alone, and as if it were hostile.

It may send wrong bytes, too many, too few, none at all, or lead elsewhere: each ends in a sentence. A
redirect is followed to https only, a few times, and never with the account. Nothing of the environment is
looked at: no proxy, no `.netrc`.
"""

from __future__ import annotations

import base64
import http.client
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import urljoin, urlsplit

from attrs import field, frozen

from mesh_adapters.broker.private import Unfit, read_private
from mesh_adapters.build.oci import MANIFEST
from mesh_adapters.host.artifacts.limits import CHUNK, ArtifactError, Limits
from mesh_adapters.host.artifacts.source import Registry

CA = "registry-ca.pem"
"""Certificates to trust beside those of the system, in the directory of the host's credential."""
ACCOUNTS = "registry-auth.json"
"""Accounts at registries, in the same place, as `podman login --authfile` writes it; its owner's alone."""

_LONGEST = 64 * 1024
_REDIRECTS = (301, 302, 303, 307, 308)


@frozen
class Trust:
    """The TLS that registries have to speak, and the accounts there are, by the registry's authority."""

    context: ssl.SSLContext
    accounts: dict[str, str] = field(repr=False)

    @classmethod
    def read(cls, settings: Path) -> Trust:
        """What the files in a directory say, where there are any. Raises `ArtifactError`."""
        context = ssl.create_default_context()
        ca = settings / CA
        if ca.exists():
            try:
                context.load_verify_locations(ca)
            except (OSError, ValueError) as error:  # an SSLError is an OSError
                raise ArtifactError(f"{ca} cannot be used: {error}") from None
        return cls(context, _accounts(settings / ACCOUNTS))


def _accounts(path: Path) -> dict[str, str]:
    content = read_private(path, _LONGEST)
    if isinstance(content, Unfit):
        if content.missing:
            return {}
        raise ArtifactError(content.why)
    try:
        auths = json.loads(content)["auths"]
        logins = {authority: base64.b64decode(one["auth"], validate=True) for authority, one in auths.items()}
    except (ValueError, AttributeError, KeyError, TypeError, RecursionError):  # its text has passwords
        raise ArtifactError(f"{path} is not to be used: write it with podman login --authfile") from None
    return {authority: base64.b64encode(login).decode() for authority, login in logins.items()}


@frozen
class _Target:
    host: str
    port: int
    path: str

    @property
    def origin(self) -> tuple[str, int]:
        return self.host, self.port


class RegistryPlace:
    """A repository of a registry."""

    def __init__(self, registry: Registry, trust: Trust, limits: Limits) -> None:
        self._registry = registry
        self._trust = trust
        self._limits = limits

    def manifest(self, digest: str) -> Iterator[bytes]:
        """The bytes of a manifest, as they come. Raises `ArtifactError`."""
        return self._get(f"manifests/{digest}", MANIFEST, None)

    def blob(self, digest: str, size: int) -> Iterator[bytes]:
        """The bytes of a blob of that size, as they come. Raises `ArtifactError`."""
        return self._get(f"blobs/{digest}", "*/*", size)

    def _get(self, what: str, accept: str, size: int | None) -> Iterator[bytes]:
        registry = self._registry
        target = _Target(registry.host, registry.port, f"/v2/{registry.name}/{what}")
        for _ in range(self._limits.redirects + 1):
            with self._answer(target, accept) as answer:
                if answer.status not in _REDIRECTS:
                    yield from self._body(answer, size)
                    return
                target = self._elsewhere(target, answer.getheader("Location"))
        self._fail(f"it leads elsewhere more than {self._limits.redirects} times")

    def _body(self, answer: http.client.HTTPResponse, size: int | None) -> Iterator[bytes]:
        if answer.status != 200:
            words = {401: "it asks who is there", 403: "it may not be read", 404: "it is not there"}
            self._fail(f"{words.get(answer.status, 'no answer that can be used')} (status {answer.status})")
        if size is not None and answer.length is not None and answer.length != size:
            self._fail(f"it has {answer.length} bytes for {size}")
        # `read1` gives what is there: `read` would wait for all, however slowly it drips. What is more than
        # it may be is noticed where it is written, a chunk later.
        while chunk := answer.read1(CHUNK):
            yield chunk
        if answer.length:
            self._fail(f"it was cut off, {answer.length} bytes before its end")

    @contextmanager
    def _answer(self, target: _Target, accept: str) -> Iterator[http.client.HTTPResponse]:
        headers = {"Accept": accept, "Accept-Encoding": "identity", "User-Agent": "mesh-host"}
        account = self._trust.accounts.get(self._registry.authority)
        if account is not None and target.origin == (self._registry.host, self._registry.port):
            headers["Authorization"] = f"Basic {account}"
        limits = self._limits
        connection = http.client.HTTPSConnection(
            target.host, target.port, timeout=limits.idle, context=self._trust.context
        )
        cut = _Cut(connection, limits.seconds)
        try:
            connection.sock = self._connected(target)
            with cut:
                connection.sock.do_handshake()
                connection.request("GET", target.path, headers=headers)
                yield connection.getresponse()
            if cut.late:  # what was cut may look like an end
                self._fail(f"it took longer than {limits.seconds:g} s")
        except (OSError, http.client.HTTPException, ValueError) as error:
            if cut.late:
                self._fail(f"it took longer than {limits.seconds:g} s")
            self._fail(_words_of(error, limits))
        finally:
            connection.close()

    def _connected(self, target: _Target) -> ssl.SSLSocket:
        """A connection on which nothing was said yet: what is said is said under the watch of `_Cut`."""
        plain = socket.create_connection(target.origin, timeout=self._limits.idle)
        try:
            return self._trust.context.wrap_socket(
                plain, server_hostname=target.host, do_handshake_on_connect=False
            )
        except BaseException:
            plain.close()
            raise

    def _elsewhere(self, target: _Target, location: str | None) -> _Target:
        host = f"[{target.host}]" if ":" in target.host else target.host
        try:
            to = urlsplit(urljoin(f"https://{host}:{target.port}{target.path}", location or ""))
            port = to.port or 443
        except ValueError:
            self._fail("it leads to an address that is none")
        if to.scheme != "https" or not to.hostname or not location:
            self._fail("it leads to where nothing is encrypted")
        if "@" in to.netloc or not (to.path + to.query).isascii() or not to.geturl().isprintable():
            self._fail("it leads to an address that is none")
        return _Target(to.hostname, port, (to.path or "/") + (f"?{to.query}" if to.query else ""))

    def _fail(self, why: str) -> NoReturn:
        raise ArtifactError(f"{self._registry.authority}/{self._registry.name}: {why}")


class _Cut:
    """Ends a connection when its time is up, wherever it waits: a byte now and then keeps none open."""

    def __init__(self, connection: http.client.HTTPSConnection, seconds: float) -> None:
        self._connection = connection
        self._timer = threading.Timer(seconds, self._end)
        self._timer.daemon = True
        self._by = time.monotonic() + seconds

    @property
    def late(self) -> bool:
        return time.monotonic() >= self._by

    def __enter__(self) -> None:
        # The answer may hold the socket after the connection has let go of it.
        self._socket = self._connection.sock
        self._timer.start()

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()

    def _end(self) -> None:
        with suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _words_of(error: Exception, limits: Limits) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not to be trusted ({error.verify_message})"
    if isinstance(error, TimeoutError):
        return f"it said nothing for {limits.idle:g} s"
    if isinstance(error, http.client.IncompleteRead):
        return "it was cut off"
    if isinstance(error, OSError):
        return error.strerror or str(error) or type(error).__name__
    return f"no answer that can be used ({type(error).__name__})"
