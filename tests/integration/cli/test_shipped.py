"""`mesh module add --shipped` and `list --shipped`: the modules that come with this program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

import mesh_cli.commands.shipped
from mesh_adapters.shipped import manifest, names
from mesh_cli.version import __version__
from mesh_core.model.module import Module
from tests.integration.cli.program import events, mesh, nothing_written, ok, written

ALL = ["mesh-builder", "mesh-host", "rabbitmq", "registry"]
OWN = {"name": "rabbitmq", "version": "mine"}


def listed(name: str) -> dict[str, Any]:
    """A module as `mesh module list --json` has it."""
    (found,) = [one for one in ok("module", "list", "--json").json["modules"] if one["name"] == name]
    assert isinstance(found, dict)
    return found


def test_which_there_are_is_said_without_a_store() -> None:
    out = ok("module", "list", "--shipped").out
    assert [line.split()[0] for line in out.splitlines()] == ["MODULE", *ALL]
    assert "broker (mesh)" in out
    modules = ok("module", "list", "--shipped", "--json").json["modules"]
    assert [one["name"] for one in modules] == ALL == list(names())
    assert modules[2]["from"]["version"] == __version__
    assert modules[2]["provides"] == [{"name": "broker", "scope": "mesh", "exports": {"port": "5672"}}]


def test_all_of_them_are_added_and_a_second_time_changes_nothing(empty: Path) -> None:
    ok("module", "add", "--shipped")
    shown = ok("module", "list").out.splitlines()[1:]
    assert [line.split()[0] for line in shown] == ALL
    assert all(f"shipped with mesh {__version__}" in line for line in shown)
    assert listed("registry")["state"] == "no-source"
    assert events(empty)[0]["command"] == "mesh module add --shipped"
    with nothing_written(empty):
        assert ok("module", "add", "--shipped").out == "nothing to change: the mesh is so already\n"
        assert ok("module", "add", "--shipped", "registry", "--json").json["changes"] == []


def test_some_of_them_are_added_by_name(empty: Path) -> None:
    ok("module", "add", "--shipped", "rabbitmq")
    ran = ok("module", "add", "--shipped", "rabbitmq", "registry", "rabbitmq")
    assert ran.out.splitlines() == [
        "registry 2.8 is in the catalogue",
        "nothing to change in rabbitmq: it is so already",
    ]
    with nothing_written(empty):
        error = mesh("module", "add", "--shipped", "registry", "rabitmq", "--json").error
    assert error["near"] == ["rabbitmq"]


def test_somebodys_own_of_that_name_stays_unless_it_is_named(empty: Path, folder: Path) -> None:
    ok("module", "add", written(folder, "own.json", OWN))
    ran = mesh("module", "add", "--shipped")
    assert ran.code == 0
    assert ran.err == (
        "rabbitmq is another one here, which did not ship with mesh, and stays; "
        "mesh module add --shipped rabbitmq replaces it\n"
    )
    assert listed("rabbitmq")["version"] == "mine"
    ok("module", "add", "--shipped", "rabbitmq")
    assert listed("rabbitmq")["version"] == "3.10"


def test_the_same_manifest_that_was_handed_over_counts_as_shipped(empty: Path) -> None:
    place = Path(mesh_cli.commands.shipped.__file__).parents[2] / "mesh_adapters" / "shipped"
    ok("module", "add", place / "registry" / "module.toml")
    assert "handed over" in ok("module", "list").out
    ok("module", "add", "--shipped", "registry")
    assert f"shipped with mesh {__version__}" in ok("module", "list").out
    with nothing_written(empty):
        ok("module", "add", place / "registry" / "module.toml")
        ok("module", "add", "--shipped", "registry")


def test_a_newer_program_offers_the_one_that_it_ships(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("module", "add", "--shipped")
    assert not ok("module", "list").err
    assert listed("rabbitmq")["another_ships"] is False

    def newer(name: str) -> Module:
        return evolve(manifest(name), version="4.0" if name == "rabbitmq" else manifest(name).version)

    monkeypatch.setattr(mesh_cli.commands.shipped, "shipped_module", newer)
    monkeypatch.setattr(mesh_cli.commands.shipped, "__version__", "9.9")
    ran = mesh("module", "list")
    assert ran.err == "rabbitmq: this mesh ships another one: mesh module add --shipped rabbitmq\n"
    assert listed("rabbitmq")["another_ships"] is True
    assert listed("registry")["another_ships"] is False
    ok("module", "add", "--shipped", "rabbitmq")
    assert "4.0" in ok("module", "list").out
    assert "shipped with mesh 9.9" in ok("module", "list").out


def test_what_ships_has_no_source_and_something_has_to_be_said(empty: Path) -> None:
    for words in (["--source", "/srv/git"], ["--path", "x"], ["--ref", "main"]):
        ran = mesh("module", "add", "--shipped", "registry", *words)
        assert ran.code == 64
        assert "what ships has no source" in ran.err
    assert mesh("module", "add").code == 64
    assert "--shipped" in mesh("module", "add").err


def test_a_shipped_module_is_assigned_and_planned_like_any(empty: Path, folder: Path) -> None:
    ok("module", "add", "--shipped")
    ok("node", "add", "nas", "pi")
    for node in ("nas", "pi"):
        ok("node", "report", node, written(folder, "r.json", {"systemd": True, "packages:apt": True}))
    assert mesh("assign", "pi", "mesh-builder").code == 3
    ok("assign", "nas", "registry")
    ok("assign", "pi", "mesh-builder")
    assert "takes registry from nas (registry)" in ok("plan").out
    assert ok("declare", "pi", "--json").json["node"] == "pi"
