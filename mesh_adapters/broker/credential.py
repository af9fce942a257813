"""What a machine was given when it joined: whom it speaks as, and an account at the broker.

    {"format": 1, "node": "pi", "broker": {"host": "nas.lan", "port": 5671, "account": "mesh.node.pi",
     "password": "...", "virtual_host": "mesh", "tls": true, "ca": "-----BEGIN CERTIFICATE-----..."}}

A builder's has `"builder": "nas"` in the place of `"node"`. `ca` is the text of the certificates to trust, or
null for those that the system trusts. An invitation is the same document. No sentence here ever has a
password in it.
"""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.private import Unfit, read_private
from mesh_adapters.host.whole import write_whole
from mesh_core.faults import NameKind
from mesh_core.model.names import name_fault, name_validator

FORMAT: Final = 1
LONGEST: Final = 256 * 1024
CA_FILE: Final = "broker-ca.pem"
"""In the state directory of whoever joined."""


class Role(StrEnum):
    """As what one speaks to the broker."""

    NODE = "node"
    BUILDER = "builder"

    @property
    def program(self) -> str:
        """The program that takes the invitation, and runs."""
        return {Role.NODE: "mesh-host", Role.BUILDER: "mesh-builder"}[self]

    @property
    def place(self) -> str:
        """Where the credential is, under the root."""
        return f"etc/{self.program}/credential.json"


class CredentialError(Exception):
    """There is none, or it is not to be used; the text is one sentence for people."""


class CredentialMissing(CredentialError):
    """There is none: this machine has not joined."""


@frozen(kw_only=True)
class Credential:
    """Whose it is, and how that one reaches the broker. `ca` is a text, not a file."""

    role: Role
    name: str = field(validator=name_validator(NameKind.NODE))
    host: str
    port: int
    account: str
    password: str = field(repr=False)
    virtual_host: str = "/"
    tls: bool = False
    ca: str | None = field(default=None, repr=False)


def read_credential(path: str | Path, role: Role) -> Credential:
    """What the file says. Raises `CredentialError`, also where others than its owner may read it, and where
    it is of another role.
    """
    found = read_private(path, LONGEST)
    if isinstance(found, Unfit):
        raise CredentialMissing(f"{path} is missing") if found.missing else CredentialError(found.why)
    credential = credential_from_bytes(found, str(path))
    if credential.role is not role:
        whose = f"for the {credential.role} {credential.name}"
        raise CredentialError(f"{path} is {whose}: `{credential.role.program} join` takes it")
    return credential


def credential_from_bytes(content: bytes, name: str) -> Credential:
    """What the bytes of a credential, or an invitation, say. Raises `CredentialError`, with `name`."""
    if len(content) > LONGEST:
        raise CredentialError(f"{name} is too large for a credential")
    try:
        return _credential(json.loads(content))
    except _Unfit as unfit:
        raise CredentialError(f"{name} is no credential: {unfit}") from None
    except (ValueError, RecursionError):  # its text may have the password
        raise CredentialError(f"{name} is no credential: it is not JSON") from None


def credential_to_bytes(credential: Credential) -> bytes:
    """The document, as it is written."""
    broker = {
        "host": credential.host,
        "port": credential.port,
        "account": credential.account,
        "password": credential.password,
        "virtual_host": credential.virtual_host,
        "tls": credential.tls,
        "ca": credential.ca,
    }
    data = {"format": FORMAT, credential.role.value: credential.name, "broker": broker}
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def write_credential(path: str | Path, credential: Credential) -> None:
    """Put it there, whole and lasting, readable by its owner alone. Raises `OSError`."""
    write_whole(Path(path), credential_to_bytes(credential), 0o600)


def to_address(credential: Credential, state_dir: str | Path) -> RabbitAddress:
    """How to reach the broker; certificates to trust are put in a file of the state directory.

    Raises `OSError` where that file cannot be written.
    """
    ca: Path | None = None
    if credential.tls and credential.ca is not None:
        ca = Path(state_dir) / CA_FILE
        if not _has(ca, credential.ca.encode()):
            write_whole(ca, credential.ca.encode(), 0o644)
    return RabbitAddress(
        host=credential.host,
        port=credential.port,
        account=credential.account,
        password=credential.password,
        virtual_host=credential.virtual_host,
        tls=credential.tls,
        ca=None if ca is None else str(ca),
    )


class _Unfit(Exception):
    """Something in the document is not as it should be."""


def _credential(data: Any) -> Credential:
    role = Role.BUILDER if isinstance(data, dict) and "builder" in data else Role.NODE
    document = _object(data, "the document", {"format", role.value, "broker"})
    if document["format"] != FORMAT or isinstance(document["format"], bool):
        raise _Unfit(f"its format is not {FORMAT}; a newer {role.program} may know it")
    name = _text(document, role.value)
    fault = name_fault(NameKind.NODE, name)
    if fault is not None:
        raise _Unfit(f"{role} is not a {role}'s name: {fault.rule}")
    named = {"host", "port", "account", "password", "virtual_host", "tls", "ca"}
    broker = _object(document["broker"], "broker", named)
    port, tls, ca = broker["port"], broker["tls"], broker["ca"]
    if not isinstance(port, int) or isinstance(port, bool) or not 1 <= port <= 65535:
        raise _Unfit("port is not a number from 1 to 65535")
    if not isinstance(tls, bool):
        raise _Unfit("tls is neither true nor false")
    if ca is not None and not isinstance(ca, str):
        raise _Unfit("ca is neither a text nor null")
    return Credential(
        role=role,
        name=name,
        host=_text(broker, "host"),
        port=port,
        account=_text(broker, "account"),
        password=_text(broker, "password"),
        virtual_host=_text(broker, "virtual_host"),
        tls=tls,
        ca=ca,
    )


def _object(data: Any, what: str, keys: set[str]) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise _Unfit(f"{what} is not an object")
    if missing := sorted(keys - data.keys()):
        raise _Unfit(f"{what} has no {missing[0]}")
    if data.keys() - keys:
        raise _Unfit(f"{what} has something that is not known here")
    return data


def _text(data: dict[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str) or not value:
        raise _Unfit(f"{key} is not a text with something in it")
    return value


def _has(path: Path, content: bytes) -> bool:
    try:
        return path.read_bytes() == content
    except OSError:
        return False
