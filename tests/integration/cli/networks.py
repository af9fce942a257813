"""What the tests of `mesh network` share: a mesh of three machines, and looks at its network."""

from __future__ import annotations

from typing import Any

from tests.integration.cli.program import Ran, ok

KEYS = {name: f"{letter * 42}A=" for name, letter in (("nas", "N"), ("pi", "P"), ("vps", "V"))}
WEB = {"name": "web", "version": "1", "requires": ["database"]}
POSTGRES = {"name": "postgres", "version": "16", "provides": [{"name": "database", "scope": "mesh"}]}
HOUSE: dict[str, Any] = {
    "format": 1,
    "modules": [WEB, POSTGRES],
    "nodes": [
        {"name": "nas", "assign": ["postgres"], "network": {"key": KEYS["nas"]}},
        {"name": "pi", "assign": ["web"], "network": {"key": KEYS["pi"]}},
        {"name": "vps", "network": {"key": KEYS["vps"]}},
    ],
}
"""Three machines that have reported their keys; pi takes its database from nas."""

NO_PATH = {"note": "no-path", "node": "pi", "provider": "nas", "provisions": ["database"]}
NO_PATH_TOLD = "pi takes 'database' from nas, and there is no path between them"


def addresses() -> dict[str, str | None]:
    """Who has which address."""
    nodes = ok("network", "show", "--json").json["nodes"]
    return {name: node.get("address") for name, node in nodes.items()}


def peers() -> dict[str, list[str]]:
    """Who is told of whom."""
    return {name: node["peers"] for name, node in ok("network", "show", "--json").json["nodes"].items()}


def notes() -> list[dict[str, Any]]:
    """What is amiss."""
    found = ok("network", "show", "--json").json["notes"]
    assert isinstance(found, list)
    return found


def refused(ran: Ran, code: int, words: str) -> None:
    """It ended so, with these words on stderr and nothing on stdout."""
    assert (ran.code, words in ran.err) == (code, True), ran
    assert ran.out == ""


def fixes(told: str) -> list[list[str]]:
    """The commands that are told to do, as one would type them once a host is put in for HOST."""
    lines = [line.strip() for line in told.splitlines()]
    commands = [line.partition("mesh ")[2] for line in lines if line.startswith(("fix: mesh", "or: mesh"))]
    return [command.partition("     ")[0].replace("HOST", "h.example.org").split() for command in commands]
