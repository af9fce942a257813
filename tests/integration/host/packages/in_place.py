"""For a machine of the lab: applies the declaration on its input to `/`, and says what came of it."""

import json
import sys
from pathlib import Path

from mesh_adapters.host.applying import Decided, Host, apply, decide
from mesh_adapters.host.files import Files
from mesh_adapters.host.journal import Journal
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.registry import known_kinds
from mesh_adapters.host.status import status_of


def main() -> None:
    journal = Journal.open(Path("/var/lib/mesh-test"))
    machine = Machine(root=Path("/"), files=Files(Path("/")), privileged=True, kept=journal.kept)
    host = Host(machine=machine, journal=journal, kinds=known_kinds())
    decided = decide(sys.stdin.buffer.read(), host)
    assert isinstance(decided, Decided), decided
    print(json.dumps(status_of(apply(decided, host))))


if __name__ == "__main__":
    main()
