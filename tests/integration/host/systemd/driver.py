"""Runs in a machine: apply the declaration that comes on stdin, and say as JSON what was done.

`python -m tests.integration.host.systemd.driver [ROOT]`
"""

import json
import sys
from pathlib import Path

from mesh_adapters.host.applying import Decided, Host, apply, decide, unchanged
from mesh_adapters.host.files import Files
from mesh_adapters.host.journal import Journal
from mesh_adapters.host.kind import Kind
from mesh_adapters.host.kinds.container import Container
from mesh_adapters.host.kinds.service import Service
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.registry import known_kinds
from mesh_adapters.host.status import status_of

SETTLED = 0.8
"""Seconds for a service to be settled: the tests know when theirs would fail."""


def main() -> None:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "/")
    content = sys.stdin.buffer.read()
    journal = Journal.open(root / "var/lib/mesh-host")
    machine = Machine(root=root, files=Files(root), privileged=True, kept=journal.kept)
    sooner: dict[str, Kind] = {"service": Service(settled=SETTLED), "container": Container(settled=SETTLED)}
    host = Host(machine=machine, journal=journal, kinds={**known_kinds(), **sooner})
    applied = unchanged(content, host)
    if applied is None:
        decided = decide(content, host)
        if not isinstance(decided, Decided):
            sys.exit(f"refused: {decided}")
        applied = apply(decided, host)
    print(json.dumps(status_of(applied) | {"changed": applied.changed, "owned": _owned(journal)}))
    journal.close()


def _owned(journal: Journal) -> dict[str, object]:
    return {
        entry.owned.identity: entry.owned.before and entry.owned.before.as_data()
        for entry in journal.entries()
    }


if __name__ == "__main__":
    main()
