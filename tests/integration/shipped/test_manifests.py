"""What ships reads, means what its kinds know, and finds its answers across a mesh."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

import mesh_adapters.shipped
from mesh_adapters.host.kind import Context
from mesh_adapters.host.material import Rendering
from mesh_adapters.host.templates import render
from mesh_adapters.shipped import names
from mesh_cli.builder.settings import Places, settings
from mesh_cli.version import __version__
from mesh_core import Module, Plan, Requirement, resolve
from mesh_core.analysis.lint import lint
from mesh_core.analysis.material import settle
from mesh_core.model.recipe import OVERALL_SECONDS
from tests.integration.shipped.helpers import kinds, mesh_of, shipped

PLACE = Path(mesh_adapters.shipped.__file__).parent
CLIENT = Module(
    name="client", version="1", requires=[Requirement(name="broker"), Requirement(name="registry")]
)
EVERYWHERE = {"nas": ["rabbitmq", "registry", "mesh-host"], "pi": ["mesh-builder", "client", "mesh-host"]}


def test_there_is_a_folder_for_each_of_that_name() -> None:
    assert set(names()) == {"mesh-builder", "mesh-host", "rabbitmq", "registry"}
    assert {name: module.name for name, module in shipped().items()} == {name: name for name in names()}


def test_what_is_of_the_program_has_its_version() -> None:
    text = (PLACE / "mesh-host" / "module.toml").read_text("utf-8")
    assert set(re.findall(r"\d+\.\d+\.\d+", text)) == {__version__}
    assert {shipped()[name].version for name in ("mesh-host", "mesh-builder")} == {__version__}


def test_nothing_of_them_is_unknown_or_looks_like_a_mistake() -> None:
    assert lint(mesh_of(EVERYWHERE, CLIENT), kinds()) == ()


def test_they_are_answered_across_nodes() -> None:
    mesh = mesh_of(EVERYWHERE, CLIENT)
    plan = resolve(mesh).nodes["pi"]
    assert isinstance(plan, Plan)
    takes = {(take.provision, take.node, take.module): take.required_by for take in plan.takes}
    assert takes == {
        ("broker", "nas", "rabbitmq"): ("client",),
        ("registry", "nas", "registry"): ("client", "mesh-builder"),
    }
    assert {p.name: dict(p.exports) for m in mesh.catalogue for p in m.provides} == {
        "broker": {"port": "5672"},
        "registry": {"port": "5000"},
    }


def test_their_templates_render() -> None:
    mesh = mesh_of(EVERYWHERE, CLIENT)
    rendering = Rendering(kinds().kinds)
    found = settle(mesh, resolve(mesh), may_have=rendering.may_have, find=rendering.find)
    assert found.faults == ()


@pytest.mark.parametrize("host", [None, "registry.example.org"])
def test_a_builder_understands_what_it_is_told(
    host: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the registry is no node of the mesh, and somebody's own module says where it is."""
    for name in list(os.environ):
        if name.startswith("MESH_BUILDER_"):
            monkeypatch.delenv(name)
    builder = shipped()["mesh-builder"]
    (template,) = [r.attributes["template"] for r in builder.resources if "template" in r.attributes]
    exports = {"port": "443"} | ({} if host is None else {"host": host})
    answer = {"node": "nas", "module": "registry", "exports": exports}
    config = tmp_path / "builder.toml"
    config.write_text(render(template, Context(data={"answers": {"registry": answer}})))
    found = settings(Places(config=config, credential=tmp_path, state=tmp_path), {})
    assert found.registry == f"docker://{host or 'nas'}:443/mesh"
    assert found.path("registry_credentials") == tmp_path / "registry.json"
    assert found.path("registry_certificates") == tmp_path / "registry-certificates"


def test_a_build_may_hold_its_request_as_long_as_it_takes() -> None:
    (milliseconds,) = re.findall(
        r"^consumer_timeout = (\d+)$", (PLACE / "rabbitmq" / "50-mesh.conf").read_text("utf-8"), re.MULTILINE
    )
    assert int(milliseconds) / 1000 > OVERALL_SECONDS


def test_scripts_are_read_by_the_shell() -> None:
    for script in PLACE.rglob("*.sh"):
        subprocess.run(["sh", "-n", str(script)], check=True, timeout=10)
    for module in shipped().values():
        for one in module.resources:
            for text in (one.attributes.get(key) for key in ("check", "apply", "remove")):
                subprocess.run(["sh", "-n", "-c", text or ":"], check=True, timeout=10)


def test_taking_off_a_module_that_ships_leaves_nothing_that_nobody_takes_off() -> None:
    for module in shipped().values():
        for one in module.resources:
            assert one.kind != "command" or "remove" in one.attributes, (module.name, one.identity)
