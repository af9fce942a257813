"""A module manifest on its own, and what a machine says of itself (design, part 4)."""

from typing import Any

import pytest

from mesh_core import (
    Capability,
    Fault,
    Module,
    Provision,
    Requirement,
    Resource,
    Scope,
    WireError,
    module_from_data,
)
from mesh_core.wire.document import read_module, read_report
from mesh_core.wire.text import Syntax


def faults_of(data: Any) -> list[Fault]:
    with pytest.raises(WireError) as raised:
        module_from_data(data)
    return [*raised.value.faults]


def test_a_manifest_is_one_module_object_in_json_or_toml() -> None:
    """> A module manifest on its own is one such module object, in JSON or TOML."""
    postgres = Module(
        name="postgres",
        version="16.2",
        requires=[Requirement(name="metrics", every=True)],
        provides=[Provision(name="database", scope=Scope.MESH, exports={"port": "5432"})],
        resources=[Resource(kind="package", name="postgresql")],
    )
    as_json = b"""{"name": "postgres", "version": "16.2", "requires": [{"name": "metrics", "from": "every"}],
        "provides": [{"name": "database", "scope": "mesh", "exports": {"port": "5432"}}],
        "resources": [{"kind": "package", "name": "postgresql"}]}"""
    as_toml = b"""
name = "postgres"
version = "16.2"
requires = [{ name = "metrics", from = "every" }]
[[provides]]
name = "database"
scope = "mesh"
exports.port = "5432"
[[resources]]
kind = "package"
name = "postgresql"
"""
    assert read_module(as_json, Syntax.JSON) == postgres
    assert read_module(as_toml, Syntax.TOML) == postgres


@pytest.mark.parametrize("data", [None, [], "zsh", 1, True])
def test_what_is_no_manifest(data: Any) -> None:
    (fault,) = faults_of(data)
    assert (fault.path, fault.wanted) == ("$", "wanted an object")


def test_all_its_faults_at_once() -> None:
    found = faults_of(
        {"name": "Zsh", "provides": [{"scope": "nod"}], "format": 1, "resources": [{"kind": "a:b"}]}
    )
    assert {fault.path for fault in found} == {
        "$.name",
        "$.version",
        "$.format",
        "$.provides[0].name",
        "$.provides[0].scope",
        "$.resources[0].kind",
        "$.resources[0]",
    }


def test_a_document_given_for_a_manifest_has_unknown_keys() -> None:
    assert [fault.path for fault in faults_of({"format": 1, "modules": []})] == [
        "$.name",
        "$.version",
        "$.format",
        "$.modules",
    ]


@pytest.mark.parametrize(
    ("requires", "path"),
    [
        (["x", "shell"], "$.requires[1]"),
        ([{"name": "shell", "from": "every"}], "$.requires[0]"),
    ],
)
def test_what_no_catalogue_could_have(requires: list[Any], path: str) -> None:
    (fault,) = faults_of({"name": "zsh", "version": "1", "requires": requires, "provides": ["shell"]})
    assert fault.path == path


def test_a_key_that_stands_twice_in_a_manifest() -> None:
    with pytest.raises(WireError) as raised:
        read_module(b'{"name": "a", "version": "1", "version": "2", "claims": "x"}', Syntax.JSON)
    assert [fault.path for fault in raised.value.faults] == ["$.version", "$.claims"]


def test_a_report_is_one_object_of_verdicts() -> None:
    said = b"""{"gpu": {"present": false, "detail": "no device"},
        "systemd": true, "a/b": {"present": true}, "x": false}"""
    assert read_report(said) == (
        Capability(name="gpu", present=False, detail="no device"),
        Capability(name="systemd"),
        Capability(name="a/b"),
        Capability(name="x", present=False),
    )
    assert read_report(b"{}") == ()
    assert read_report(b"gpu = true\n", Syntax.TOML) == (Capability(name="gpu"),)


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("[]", ["$"]),
        ("null", ["$"]),
        ('["gpu"]', ["$"]),
        ('{"gpu": "yes"}', ["$.gpu"]),
        ('{"gpu": 1}', ["$.gpu"]),
        ('{"gpu": null}', ["$.gpu"]),
        ('{"gpu": {}}', ["$.gpu.present"]),
        ('{"gpu": {"present": 1, "detail": 2, "zzz": 3}}', ["$.gpu.present", "$.gpu.detail", "$.gpu.zzz"]),
        ('{"gpu": {"present": true, "detail": null}}', ["$.gpu.detail"]),
        ('{"gpu": true, "gpu": true}', ["$.gpu"]),
        ('{"gpu": true, "gpu": false, "tpu": 1}', ["$.gpu", "$.tpu"]),
        ('{"gpu": "no", "tpu": "no"}', ["$.gpu", "$.tpu"]),
        ('{"GPU": true}', ["$.GPU"]),
    ],
)
def test_what_is_no_report(text: str, paths: list[str]) -> None:
    with pytest.raises(WireError) as raised:
        read_report(text.encode())
    assert [fault.path for fault in raised.value.faults] == paths
