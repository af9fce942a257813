"""A machine that is told what to be: declarations in, what was done out."""

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from mesh_core import Resource
from mesh_core.model.check import Check
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.wire.declaration import declaration_to_data
from tests.integration.lab.binds import CHECKOUT
from tests.integration.lab.machine import LabMachine

DAEMON = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n"


def unit(name: str, content: str = DAEMON) -> dict[str, Any]:
    return {"kind": "file", "path": f"/etc/systemd/system/{name}.service", "content": content}


def service(name: str, **attributes: Any) -> dict[str, Any]:
    return {"kind": "service", "name": name, **attributes}


def file(path: str, content: str) -> dict[str, Any]:
    return {"kind": "file", "path": path, "content": content}


def declared(
    generation: int, resources: Sequence[Mapping[str, Any]], checks: Sequence[Mapping[str, Any]] = ()
) -> dict[str, Any]:
    """A declaration of these in one module; of nothing, and that is meant."""
    module = DeclaredModule(
        name="lab",
        version="1",
        resources=[_resource(given) for given in resources],
        checks=[_check(given) for given in checks],
    )
    declaration = Declaration(
        node="lab",
        generation=generation,
        modules=[module] if resources or checks else [],
        allow_removals=True,
        empty=not (resources or checks),
    )
    return declaration_to_data(declaration)


class Node:
    """The host in a machine, with a generation that grows each time that it is told something."""

    def __init__(self, machine: LabMachine, root: str = "/") -> None:
        self.machine = machine
        self.root = root
        self.generation = 0

    def told(self, *resources: Mapping[str, Any], checks: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
        """Apply a declaration of these resources; none at all is meant."""
        self.generation += 1
        return self.hears(json.dumps(declared(self.generation, resources, checks)))

    def hears(self, content: str) -> dict[str, Any]:
        """Apply a declaration as it came."""
        argv = [sys.executable, "-m", "tests.integration.host.systemd.driver", self.root]
        env = {"PYTHONPATH": str(CHECKOUT), "PYTHONDONTWRITEBYTECODE": "1"}
        said: dict[str, Any] = json.loads(self.machine.run(argv, input=content, env=env, timeout=120).stdout)
        return said

    def shown(self, unit: str, *properties: str) -> list[str]:
        """What systemd says of a unit."""
        argv = ["systemctl", "show", f"--property={','.join(properties)}", unit]
        lines = dict(line.split("=", 1) for line in self.machine.run(argv).stdout.splitlines())
        return [lines[name] for name in properties]

    def state(self, unit: str) -> tuple[str, str]:
        """Whether it is enabled, and whether it is active, in systemd's words."""
        enabled, active = self.shown(unit, "UnitFileState", "ActiveState")
        return enabled, active


def done(said: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """What was done to what, and what came of it."""
    return {event["identity"]: (event["action"], event["outcome"]) for event in said["actions"]}


def why(said: Mapping[str, Any], identity: str) -> str:
    """Why an action did not come off."""
    found: str = next(event["why"] for event in said["actions"] if event["identity"] == identity)
    return found


def _resource(given: Mapping[str, Any]) -> Resource:
    rest = {key: value for key, value in given.items() if key not in ("kind", "path", "name")}
    return Resource(kind=given["kind"], path=given.get("path"), name=given.get("name"), attributes_json=rest)


def _check(given: Mapping[str, Any]) -> Check:
    return Check(kind=given["kind"], attributes_json={k: v for k, v in given.items() if k != "kind"})
