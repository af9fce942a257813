"""Runs in a machine: see to the network as a host would, and say as JSON what came of it.

`python -m tests.integration.host.network.driver` reads lines from stdin, each an object, and answers each:

    {"do": "key"}
    {"do": "declared", "generation": 3, "network": {...}, "before": true, "again": false, "elsewhere": false}
    {"do": "look"}    {"do": "leave"}    {"do": "standing"}

An answer says which commands were run as well. `find` in a line has where endpoints are, in the place of DNS.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from attrs import evolve

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.machine import Machine, machine_at
from mesh_adapters.host.overlay import finding
from mesh_adapters.host.overlay.keeping import Keeping, Kept
from mesh_adapters.host.overlay.standing import standing
from mesh_core.wire.entries import NodeNetwork
from mesh_core.wire.message import entry_of


class Driver:
    """One process of a host, as far as the network goes."""

    def __init__(self) -> None:
        plain = machine_at(Path("/"))
        self._ran: list[list[str]] = []
        self._find: dict[str, str] = {}
        self._machine: Machine = evolve(plain, run=self._recorded(plain))
        self._keeping = Keeping(self._machine, self._found)

    def _recorded(self, plain: Machine) -> Any:
        def run(command: Command) -> Ended:
            self._ran.append(list(command.argv))
            return plain.run(command)

        return run

    def _found(self, endpoints: Any) -> dict[str, str]:
        given = [endpoint for endpoint in endpoints if endpoint not in self._find]
        named = {endpoint: at for endpoint, at in self._find.items() if at}
        return named | finding.find(given)

    def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Do what a line says."""
        self._ran.clear()
        self._find = asked.get("find", {})
        said = self._do(asked)
        return {"said": said, "ran": list(self._ran)}

    def _do(self, asked: dict[str, Any]) -> Any:
        match asked["do"]:
            case "key":
                return self._keeping.key
            case "declared":
                return _data(self._declared(asked))
            case "look":
                return _data(self._keeping.look(hosts_elsewhere=asked.get("elsewhere", False)))
            case "leave":
                return _data(self._keeping.leave())
            case "standing":
                return standing(self._machine)
            case other:
                raise ValueError(other)

    def _declared(self, asked: dict[str, Any]) -> Kept:
        network: Any = entry_of(asked["network"], NodeNetwork)
        before, again = asked.get("before"), asked.get("again")
        return self._keeping.declared(
            network,
            asked["generation"],
            hosts_elsewhere=asked.get("elsewhere", False),
            reached_before=None if before is None else lambda: bool(before),
            reached_again=None if before is None else lambda: bool(again),
        )


def _data(kept: Kept) -> dict[str, Any]:
    return {
        "failed": list(kept.failed),
        "notes": list(kept.notes),
        "put_right": kept.put_right,
        "unsettled": kept.unsettled,
        "untried": kept.untried,
    }


def main() -> None:
    driver = Driver()
    for line in sys.stdin:
        print(json.dumps(driver.answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
