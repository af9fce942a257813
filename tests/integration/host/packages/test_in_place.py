"""apt on a machine that runs: all of Debian's packages are there, and a service comes with one of ours."""

import json
import sys
from pathlib import Path
from typing import Any

from mesh_core.canonical import canonical_json
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.wire.declaration import declaration_to_data
from tests.integration.host.packages.site import package
from tests.integration.lab.aptrepo import AptRepository, Package
from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import machine as machine
from tests.integration.lab.machine import LabMachine

PROGRAM = Path(__file__).parent / "in_place.py"
UNIT = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n"


def declare(machine: LabMachine, generation: int, *names: str) -> dict[str, tuple[str, str, str]]:
    """What was done to each package, what came of it, and why."""
    modules = [DeclaredModule(name=name, version="1", resources=[package(name)]) for name in names]
    declaration = Declaration(
        node="lab", generation=generation, modules=modules, allow_removals=True, empty=not names
    )
    said = machine.run([sys.executable, PROGRAM], input=canonical_json(declaration_to_data(declaration)))
    status: dict[str, Any] = json.loads(said.stdout)
    assert status["troubles"] == []
    return {
        one["identity"].removeprefix("package:"): (one["action"], one["outcome"], one.get("why", ""))
        for one in status["actions"]
    }


def packages(machine: LabMachine) -> dict[str, str]:
    shown = "--showformat=${Package}:${Architecture} ${db:Status-Abbrev}\n"
    return dict(
        line.split(maxsplit=1) for line in machine.run(["dpkg-query", "-W", shown]).stdout.splitlines()
    )


def test_a_machine_is_given_packages_and_gives_them_back(machine: LabMachine, tmp_path: Path) -> None:
    AptRepository(
        tmp_path / "repository",
        Package(name="lab-web", depends="lab-lib, bash", unit=UNIT),
        Package(name="lab-lib"),
        Package(name="lab-mine", depends="lab-lib"),
        Package(name="lab-enemy", conflicts="tar"),
    ).install_into(machine)
    before = packages(machine)
    done = declare(machine, 1, "lab-web", "bash", "lab-enemy")
    assert done["lab-web"] == ("make", "done", "")
    assert done["bash"] == ("adopt", "done", "")
    action, outcome, why = done["lab-enemy"]
    assert (action, outcome) == ("make", "failed")
    assert "tar" in why
    assert set(packages(machine)) - set(before) == {"lab-web:all", "lab-lib:all"}
    assert machine.run(["systemctl", "is-active", "lab-web"]).stdout == "active\n"
    machine.run(["apt-get", "--yes", "install", "lab-mine"])
    done = declare(machine, 2)
    assert done["lab-web"] == ("remove", "done", "")
    assert done["bash"][0] == "release"
    action, outcome, why = done["lab-lib"]
    assert (action, outcome) == ("sweep", "still-needed")
    assert "lab-mine" in why
    assert set(packages(machine)) - set(before) >= {"lab-mine:all", "lab-lib:all"}
    assert {name: state for name, state in packages(machine).items() if name in before} == before
