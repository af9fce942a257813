"""What the control plane knows of kinds, and the faults of templates that it finds without a machine."""

from collections.abc import Mapping
from typing import Any

import pytest

from mesh_adapters.host.kind import Kind
from mesh_adapters.host.kinds.directory import Directory
from mesh_adapters.host.kinds.file import File
from mesh_adapters.host.knowledge import Knowledge
from mesh_adapters.host.material import Rendering
from mesh_core import Module, Resource
from mesh_core.model.check import Check
from mesh_core.model.declaration import Declaration, DeclaredAnswer, DeclaredModule, Given
from mesh_core.model.material import MaterialFault

KINDS: dict[str, Kind] = {"file": File(), "directory": Directory()}
KNOWN = Knowledge(KINDS)
RENDERING = Rendering(KINDS)

DATABASE = DeclaredAnswer(
    provision="database", given=[Given(node="nas", module="postgres", exports={"port": "5432"})]
)
METRICS = DeclaredAnswer(
    provision="metrics",
    every=True,
    given=[Given(node="nas", module="exporter"), Given(node="pi", module="exporter")],
)


def file(path: str = "/t", **attributes: Any) -> Resource:
    return Resource(kind="file", path=path, attributes_json=attributes)


def resource_faults(resource: Resource) -> list[str]:
    return [str(fault) for fault in KNOWN.resource_faults(resource)]


def test_an_attribute_that_a_kind_does_not_know() -> None:
    assert resource_faults(file(content="", mdoe="0644", size=1)) == [
        ".mdoe: unknown attribute; a file knows content, group, mode, owner, template (did you mean mode?)",
        ".size: unknown attribute; a file knows content, group, mode, owner, template",
    ]


def test_a_value_of_no_use_one_that_is_missing_and_the_wrong_place() -> None:
    assert [fault.path for fault in KNOWN.resource_faults(file(content=5, mode=420))] == [".content", ".mode"]
    assert resource_faults(file()) == [": neither 'content' nor 'template'; a file has exactly one of them"]
    named = Resource(kind="directory", name="srv", attributes_json={})
    assert [fault.path for fault in KNOWN.resource_faults(named)] == [".name"]


def test_a_kind_that_is_not_known_has_no_faults_and_takes_everything() -> None:
    assert resource_faults(Resource(kind="odd", name="x", attributes_json={"mdoe": 1})) == []
    assert KNOWN.takes("odd", "content")
    assert KNOWN.takes("file", "template")
    assert not KNOWN.takes("directory", "content")
    assert KNOWN.names() == {"file", "directory"}


def test_checks_are_looked_at_in_the_same_way() -> None:
    assert [fault.path for fault in KNOWN.check_faults(Check(kind="tcp", attributes_json={"prot": 1}))] == [
        ".prot",
        ".port",
    ]
    assert list(KNOWN.check_faults(Check(kind="odd", attributes_json={"prot": 1}))) == []
    assert KNOWN.check_names() >= {"tcp", "http", "command", "service"}


def found(
    *resources: Resource, answers: tuple[DeclaredAnswer, ...] = (DATABASE, METRICS)
) -> list[MaterialFault]:
    web = DeclaredModule(name="web", version="1.4", resources=resources, answers=answers)
    return list(RENDERING.find(Declaration(node="pi", generation=1, modules=[web])))


@pytest.mark.parametrize(
    "template",
    [
        "",
        "{{ node.name }} {{ module.name }} {{ module.version }}",
        "{{ answers.database.node }}:{{ answers.database.exports.port }} {{ answers['database'].module }}",
        "{% for m in answers.metrics %}{{ m.node }}{% endfor %}",
        "{{ answers.metrics[1].node }}",
        "{% if answers.database.exports.tls is defined %}tls{% endif %}",
    ],
)
def test_a_template_that_names_what_there_is(template: str) -> None:
    assert found(file(template=template)) == []


@pytest.mark.parametrize(
    ("template", "why"),
    [
        ("{{ nodes.name }}", "nodes"),
        ("{{ node.nmae }}", "nmae"),
        ("{{ answers.mail.node }}", "mail"),
        ("{{ answers.database.exports.prot }}", "prot"),
        ("{{ answers.metrics[2].node }}", "2"),
        ("{{ answers.metrics.node }}", "node"),
        ("{% for x in answers.databases %}{% endfor %}", "databases"),
        ("one\n{% if %}", "line 2"),
        ("{{ node.__class__.__mro__ }}", "unsafe"),
        ("{{ 1 / 0 }}", "zero"),
    ],
)
def test_a_template_that_names_what_does_not_exist(template: str, why: str) -> None:
    (fault,) = found(file(template=template))
    assert (fault.node, fault.module, fault.resource) == ("pi", "web", "path:/t")
    assert why in fault.why


def test_every_one_is_told_and_what_is_no_template_of_a_known_kind_is_left_alone() -> None:
    faults = found(
        file("/a", template="{{ a }}"),
        file("/b", content="{{ b }}"),
        file("/c", template="{{ c }}"),
        Resource(kind="odd", name="x", attributes_json={"template": "{{ d }}"}),
        Resource(kind="directory", path="/d", attributes_json={}),
    )
    assert [fault.resource for fault in faults] == ["path:/a", "path:/c"]


def shared_by_two(template: str) -> list[MaterialFault]:
    resource = file(template=template)
    modules = [DeclaredModule(name=name, version="1", resources=[resource]) for name in ("a", "b")]
    return list(RENDERING.find(Declaration(node="pi", generation=1, modules=modules)))


def test_one_that_modules_share_has_to_come_out_the_same_for_them() -> None:
    assert shared_by_two("{{ node.name }}") == []
    (told,) = shared_by_two("{{ module.name }}")
    assert "a and b share it" in told.why


@pytest.mark.parametrize(
    ("attributes", "may"),
    [
        ({"template": "x"}, True),
        ({"content": "x"}, False),
        ({"content": '"template":'}, False),
        ({"odd": {"template": "x"}}, False),
    ],
)
def test_which_modules_may_have_a_material_fault(attributes: Mapping[str, Any], may: bool) -> None:
    module = Module(name="a", version="1", resources=[file(**attributes)])
    assert RENDERING.may_have(module) is may
