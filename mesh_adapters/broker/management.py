"""The accounts of a RabbitMQ through its management interface: see `Accounts` in `mesh_core.ports`.

The administrator's password goes to the address that was given and nowhere else: neither to a proxy of the
environment nor where a redirect would lead.
"""

from __future__ import annotations

import base64
import json
import socket
import ssl
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPException
from typing import Any, Final
from urllib.parse import quote

from mesh_adapters.broker.ending import until_gone
from mesh_adapters.broker.principals import Management
from mesh_adapters.broker.standing import Standing, all_amiss, limits_of
from mesh_core.ports import (
    Amiss,
    Bound,
    BrokerOutage,
    BrokerRefused,
    BrokerUnreachable,
    Holding,
    How,
    Refused,
    Rights,
    Unreachable,
)

ANSWER_SECONDS: Final = 3.0
LONGEST_ANSWER: Final = 64 * 1024 * 1024


class ManagedAccounts:
    """The accounts, through the management interface."""

    def __init__(self, management: Management, virtual_host: str) -> None:
        self._url = management.url
        self._host = quote(virtual_host, safe="")
        login = management.login
        words = f"{login.account}:{login.password}".encode()
        self._headers = {
            "Authorization": f"Basic {base64.b64encode(words).decode()}",
            "Content-Type": "application/json",
        }
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}),
            _NoRedirect(),
            urllib.request.HTTPSHandler(context=_trusting(management)),
        )

    def ensure_virtual_host(self) -> bool:
        """Make the virtual host, where it is missing."""
        if self._ask("GET", f"vhosts/{self._host}")[0] != 404:
            return False
        self._do("PUT", f"vhosts/{self._host}", {})
        return True

    def ensure(self, account: str, password: str, rights: Rights) -> bool:
        """Make the account, or give it this password and these rights."""
        name = quote(account, safe="")
        made = self._ask("GET", f"users/{name}?columns=name")[0] == 404
        self._do("PUT", f"users/{name}", {"password": password, "tags": ""})
        self._put_right(name, rights, (Amiss.RIGHTS, Amiss.LIMITS))
        return made

    def mend(self, wanted: Mapping[str, Rights]) -> Mapping[str, tuple[Amiss, ...]]:
        """Give those of these accounts that there are their rights back: what was amiss."""
        found = all_amiss(self._standing(), wanted)
        for name, what in found.items():
            self._put_right(quote(name, safe=""), wanted[name], what)
        return found

    def limit(self, bound: Bound) -> How:
        """Put the limit up, as a policy of the broker's operator."""
        path = f"operator-policies/{self._host}/{quote(bound.name, safe='')}"
        wanted = {
            "pattern": bound.queues,
            "apply-to": "queues",
            "priority": 0,
            "definition": {"max-length-bytes": bound.content},
        }
        status, content = self._ask("GET", path)
        if status != 404 and wanted.items() <= json.loads(content).items():
            return How.THERE
        try:
            self._do("PUT", path, wanted)
        except BrokerRefused as refused:
            if refused.what is not Refused.PERMISSION:
                raise
            return How.FORBIDDEN
        return How.MADE

    def holding(self) -> Holding | None:
        """Nothing that this interface says has it, neither in 3.10 nor in 4."""
        return None

    def _standing(self) -> dict[str, Standing]:
        given = {found["user"]: found for found in self._data(f"vhosts/{self._host}/permissions")}
        limited = {found["user"]: found["value"] for found in self._data("user-limits")}
        return {
            user["name"]: Standing.of(given.get(user["name"]), limited.get(user["name"]), user["tags"])
            for user in self._data("users?columns=name,tags")
        }

    def _put_right(self, name: str, rights: Rights, what: tuple[Amiss, ...]) -> None:
        if Amiss.POWERS in what:
            self._take_powers(name)
        if Amiss.RIGHTS in what:
            given = {"configure": rights.configure, "write": rights.write, "read": rights.read}
            self._do("PUT", f"permissions/{self._host}/{name}", given)
        if Amiss.LIMITS in what:
            for limit, value in limits_of(rights).items():
                self._do("PUT", f"user-limits/{name}/{limit}", {"value": value})

    def _take_powers(self, name: str) -> None:
        """An account is only put as a whole, and with the hash of its password it keeps that."""
        user = self._data(f"users/{name}")
        kept = {key: user[key] for key in ("password_hash", "hashing_algorithm")}
        self._do("PUT", f"users/{name}", {**kept, "tags": ""})

    def revoke(self, account: str) -> bool:
        """Remove the account and end its connections."""
        name = quote(account, safe="")
        was_there = self._ask("DELETE", f"users/{name}")[0] != 404
        until_gone(self._url, account, self._is_connected, self._end_all)
        return was_there

    def names(self) -> tuple[str, ...]:
        """The names of all accounts."""
        return tuple(sorted(user["name"] for user in self._data("users?columns=name")))

    def _is_connected(self, account: str) -> bool:
        return bool(self._data(f"connections/username/{quote(account, safe='')}?columns=name"))

    def _end_all(self, account: str) -> None:
        # Where one of them ends by itself meanwhile it answers 500; what is left is seen by the next look.
        with suppress(BrokerOutage):
            self._do("DELETE", f"connections/username/{quote(account, safe='')}", None)

    def _data(self, path: str) -> Any:
        status, content = self._ask("GET", path)
        if status == 404:
            raise BrokerRefused(self._url, Refused.UNFIT, f"it has no {path}")
        return json.loads(content)

    def _do(self, method: str, path: str, data: dict[str, Any] | None) -> None:
        status, content = self._ask(method, path, data)
        if status == 404:
            raise BrokerRefused(self._url, Refused.UNFIT, _words(content) or f"it has no {path}")

    def _ask(self, method: str, path: str, data: dict[str, Any] | None = None) -> tuple[int, bytes]:
        """The status and the answer: what was done, or 404. Raises outages for everything else."""
        body = None if data is None else json.dumps(data).encode()
        request = urllib.request.Request(f"{self._url}/api/{path}", body, self._headers, method=method)
        try:
            with self._opener.open(request, timeout=ANSWER_SECONDS) as answer:
                if answer.headers.get_content_type() != "application/json" and method == "GET":
                    raise self._no_management("what answers there is no management interface")
                content = answer.read(LONGEST_ANSWER)
                return answer.status, content
        except urllib.error.HTTPError as error:
            with error:
                content = error.read(4096)
            if error.code == 404 and content.startswith(b"{"):
                return 404, content
            raise self._refusal(error.code, content) from None
        except (OSError, HTTPException, ValueError) as error:
            raise self._outage(error) from None

    def _refusal(self, code: int, content: bytes) -> BrokerOutage:
        words = _words(content)
        if code == 401 and not words.startswith("Not "):  # as in "Not administrator user"
            return BrokerRefused(self._url, Refused.CREDENTIALS, words or "login failed")
        if code in (401, 403):
            return BrokerRefused(self._url, Refused.PERMISSION, words or "it is no administrator's account")
        if code == 405:
            return BrokerRefused(self._url, Refused.PERMISSION, words or "its configuration forbids it")
        if code == 400 and words:
            return BrokerRefused(self._url, Refused.UNFIT, words)
        if code >= 500:
            return BrokerUnreachable(self._url, Unreachable.NO_ANSWER, f"it answers {code} {words}".rstrip())
        return self._no_management(f"what answers there is no management interface (it answers {code})")

    def _outage(self, error: Exception) -> BrokerUnreachable:
        cause = error.reason if isinstance(error, urllib.error.URLError) else error
        if isinstance(cause, ssl.SSLError):
            return BrokerUnreachable(self._url, Unreachable.NOT_TRUSTED, str(cause))
        if isinstance(cause, TimeoutError):
            return BrokerUnreachable(self._url, Unreachable.TIMED_OUT, "it does not answer in time")
        if isinstance(cause, socket.gaierror):
            return BrokerUnreachable(self._url, Unreachable.NO_ADDRESS, cause.strerror or str(cause))
        if isinstance(cause, OSError) and not isinstance(cause, HTTPException):
            return BrokerUnreachable(self._url, Unreachable.NO_ANSWER, cause.strerror or str(cause))
        return self._no_management("what answers there is no management interface")

    def _no_management(self, why: str) -> BrokerUnreachable:
        return BrokerUnreachable(self._url, Unreachable.NO_BROKER, why)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """What is elsewhere is not asked: the password would go there."""

    def redirect_request(self, *_: Any) -> None:
        """None is what says so."""


def _trusting(management: Management) -> ssl.SSLContext | None:
    if management.ca is None:
        return None
    try:
        return ssl.create_default_context(cafile=management.ca)
    except OSError as error:
        why = f"{management.ca} has no certificates to trust: {error.strerror or error}"
        raise BrokerUnreachable(management.url, Unreachable.NOT_TRUSTED, why) from None


def _words(content: bytes) -> str:
    """What the interface says, in one line."""
    try:
        reason = json.loads(content).get("reason", "")
    except (ValueError, AttributeError):
        return ""
    return " ".join(str(reason).split())
