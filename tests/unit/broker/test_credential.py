"""The credential of a machine that joined: what is read is what was written, and nothing else is used."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.broker import RabbitAddress
from mesh_adapters.broker.credential import (
    Credential,
    CredentialError,
    CredentialMissing,
    Role,
    read_credential,
    to_address,
    write_credential,
)

CA = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"
PLAIN = Credential(
    role=Role.NODE, name="pi", host="nas.lan", port=5672, account="node-pi", password="s3cret/@ü"
)
TRUSTED = evolve(PLAIN, port=5671, virtual_host="mesh", tls=True, ca=CA)
DOCUMENT: dict[str, Any] = {
    "format": 1,
    "node": "pi",
    "broker": {
        "host": "nas.lan",
        "port": 5672,
        "account": "node-pi",
        "password": "s3cret/@ü",
        "virtual_host": "/",
        "tls": False,
        "ca": None,
    },
}


def put(path: Path, content: bytes, mode: int = 0o600) -> Path:
    path.write_bytes(content)
    path.chmod(mode)
    return path


@pytest.mark.parametrize("credential", [PLAIN, TRUSTED])
def test_what_was_written_is_read_and_only_its_owner_may(tmp_path: Path, credential: Credential) -> None:
    place = tmp_path / "etc" / "mesh-host" / "credential.json"
    write_credential(place, credential)
    assert read_credential(place, Role.NODE) == credential
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert [path.name for path in place.parent.iterdir()] == ["credential.json"]
    write_credential(place, evolve(credential, password="another"))
    assert read_credential(place, Role.NODE).password == "another"


def test_the_document_is_the_one_of_an_invitation(tmp_path: Path) -> None:
    place = tmp_path / "credential.json"
    write_credential(place, PLAIN)
    assert json.loads(place.read_text("utf-8")) == DOCUMENT
    assert read_credential(put(tmp_path / "invitation", json.dumps(DOCUMENT).encode()), Role.NODE) == PLAIN


def test_a_builders_is_the_same_document_with_another_word(tmp_path: Path) -> None:
    place = tmp_path / "credential.json"
    builder = evolve(PLAIN, role=Role.BUILDER)
    write_credential(place, builder)
    document = {key: value for key, value in DOCUMENT.items() if key != "node"}
    assert json.loads(place.read_text("utf-8")) == document | {"builder": "pi"}
    assert read_credential(place, Role.BUILDER) == builder


@pytest.mark.parametrize("role", Role)
def test_each_role_is_told_who_takes_the_others(tmp_path: Path, role: Role) -> None:
    (other,) = set(Role) - {role}
    place = tmp_path / "credential.json"
    write_credential(place, evolve(PLAIN, role=other))
    with pytest.raises(CredentialError, match=f"for the {other} pi: `{other.program} join` takes it"):
        read_credential(place, role)


def test_one_is_of_one_role(tmp_path: Path) -> None:
    both = put(tmp_path / "credential.json", json.dumps(DOCUMENT | {"builder": "pi"}).encode())
    for role in Role:
        with pytest.raises(CredentialError, match="something that is not known here"):
            read_credential(both, role)


def test_its_password_is_not_shown() -> None:
    assert "s3cret" not in repr(PLAIN)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o610])
def test_one_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    place = put(tmp_path / "credential.json", json.dumps(DOCUMENT).encode(), mode)
    with pytest.raises(CredentialError, match=f"has mode {mode:04o}, so others may use it: chmod 600"):
        read_credential(place, Role.NODE)


def test_where_there_is_none_it_is_missing(tmp_path: Path) -> None:
    with pytest.raises(CredentialMissing, match=r"credential\.json is missing"):
        read_credential(tmp_path / "credential.json", Role.NODE)
    with pytest.raises(CredentialMissing):
        read_credential(put(tmp_path / "file", b"") / "credential.json", Role.NODE)


def test_what_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o600)
    for place in (tmp_path / "pipe", tmp_path):
        with pytest.raises(CredentialError, match="is no plain file"):
            read_credential(place, Role.NODE)


def changed(**broker: Any) -> bytes:
    return json.dumps(DOCUMENT | {"broker": DOCUMENT["broker"] | broker}).encode()


BAD = [
    (b"", "it is not JSON"),
    (b"{s3cret", "it is not JSON"),
    (b"\xff\xfe", "it is not JSON"),
    (b"[" * 100_000, "it is not JSON"),
    (b"[]", "the document is not an object"),
    (b"{}", "the document has no broker"),
    (json.dumps(DOCUMENT | {"format": 2}).encode(), "its format is not 1"),
    (json.dumps(DOCUMENT | {"format": True}).encode(), "its format is not 1"),
    (json.dumps(DOCUMENT | {"node": "Pi"}).encode(), "node is not a node's name"),
    (json.dumps(DOCUMENT | {"more": 1}).encode(), "something that is not known here"),
    (json.dumps(DOCUMENT | {"broker": []}).encode(), "broker is not an object"),
    (changed(port="5672"), "port is not a number"),
    (changed(port=True), "port is not a number"),
    (changed(port=65536), "port is not a number"),
    (changed(tls="no"), "tls is neither true nor false"),
    (changed(ca=7), "ca is neither a text nor null"),
    (changed(password=""), "password is not a text"),
    (changed(host=None), "host is not a text"),
    (b" " * (256 * 1024 + 1), "is too large for a credential"),
]


@pytest.mark.parametrize(("content", "why"), BAD)
def test_what_is_no_credential_is_told_in_one_sentence(tmp_path: Path, content: bytes, why: str) -> None:
    with pytest.raises(CredentialError) as raised:
        read_credential(put(tmp_path / "credential.json", content), Role.NODE)
    told = str(raised.value)
    assert told.startswith(f"{tmp_path}/credential.json")
    assert why in told
    assert "s3cret" not in told
    assert "\n" not in told


def test_the_address_of_a_broker_without_tls(tmp_path: Path) -> None:
    assert to_address(PLAIN, tmp_path) == RabbitAddress(
        host="nas.lan", port=5672, account="node-pi", password="s3cret/@ü"
    )
    assert list(tmp_path.iterdir()) == []


def test_certificates_are_put_in_a_file_that_everybody_may_read(tmp_path: Path) -> None:
    address = to_address(TRUSTED, tmp_path / "state")
    assert (address.tls, address.virtual_host) == (True, "mesh")
    assert address.ca is not None
    place = Path(address.ca)
    assert place.parent == tmp_path / "state"
    assert place.read_text() == CA
    assert stat.S_IMODE(place.stat().st_mode) == 0o644
    before = place.stat().st_ino
    assert to_address(TRUSTED, tmp_path / "state") == address
    assert place.stat().st_ino == before, "what is so already is not written again"
    place.write_text("another")
    to_address(TRUSTED, tmp_path / "state")
    assert place.read_text() == CA
    assert to_address(evolve(TRUSTED, ca=None), tmp_path).ca is None
