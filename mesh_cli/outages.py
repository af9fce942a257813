"""The sentence, the code and the exit code for everything that a store can fail with."""

from __future__ import annotations

from mesh_cli.exits import Exit, Stop
from mesh_core.ports import (
    ModuleInUse,
    StoreBusy,
    StoreError,
    StoreExists,
    StoreFull,
    StoreMissing,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreadable,
)


def told(error: StoreError) -> Stop:
    """What happened, and what would do."""
    match error:
        case StoreMissing():
            return _out("no-store", f"there is no store at {error.path}; `mesh init` makes one")
        case StoreUnreadable():
            why = error.detail or error.why.value
            return _out("unreadable-store", f"{error.path} cannot be read as a store: {why}")
        case StoreTooNew():
            line = (
                f"{error.path} was written by a newer meshwright (schema {error.found}, this one knows "
                f"{error.known}); update this one"
            )
            return _out("newer-store", line)
        case StoreReadOnly():
            return _out("read-only-store", f"{error.path} cannot be written, and nothing was")
        case StoreBusy():
            return _out("busy-store", f"another command is writing to {error.path}; try again")
        case StoreFull():
            return _out("disk-full", f"the disk of {error.path} is full; nothing was recorded")
        case StoreExists():
            return Stop(Exit.FAILED, "exists", f"{error.path} is there already, and was left as it is")
        case ModuleInUse():
            return _in_use(error)
        case _:
            return _out("store", str(error))


def _out(code: str, line: str) -> Stop:
    return Stop(Exit.OUT_OF_REACH, code, line)


def _in_use(error: ModuleInUse) -> Stop:
    lines = [f"refused: {error.module} is in use, and cannot be forgotten"]
    lines += [f"  assigned to {node}: mesh unassign {node} {error.module}" for node in error.assigned_to]
    lines += [f"  last declared on {node}" for node in error.declared_on]
    facts = {"assigned_to": list(error.assigned_to), "declared_on": list(error.declared_on)}
    return Stop(Exit.REFUSED, "module-in-use", lines, facts)
