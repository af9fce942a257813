"""The sentence, the code and the exit code for everything that a store or a broker can fail with."""

from __future__ import annotations

import shlex

from mesh_cli.exits import Exit, Stop
from mesh_core.ports import (
    BrokerOutage,
    BrokerRefused,
    BrokerUnreachable,
    ModuleInUse,
    QueueMissing,
    Refused,
    StoreBusy,
    StoreError,
    StoreExists,
    StoreFull,
    StoreMissing,
    StoreNowhere,
    StoreReadOnly,
    StoreTooNew,
    StoreUnreadable,
    Unreachable,
    Unreadable,
)

_OTHER_FILES = {Unreadable.NOT_A_FILE, Unreadable.EMPTY, Unreadable.NO_DATABASE, Unreadable.NO_STORE}


def told(error: StoreError, *, store_was_said: bool = False) -> Stop:
    """What happened, and what would do; `store_was_said` is whether a flag named the store."""
    match error:
        case StoreMissing():
            init = "mesh init" + (f" --store {shlex.quote(error.path)}" if store_was_said else "")
            return _out("no-store", f"there is no store at {error.path}; `{init}` makes one")
        case StoreNowhere():
            return _out("not-a-directory", f"{error.path} cannot be made: {error.file} is not a directory")
        case StoreUnreadable():
            why = error.detail or error.why.value
            would_do = "; --store or MESH_STORE names another" if error.why in _OTHER_FILES else ""
            return _out("unreadable-store", f"{error.path} cannot be read as a store: {why}{would_do}")
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


_UNREACHABLE = {
    Unreachable.NO_ADDRESS: "no address is known for its name",
    Unreachable.NO_ANSWER: "nobody answers there",
    Unreachable.TIMED_OUT: "no answer came in time",
    Unreachable.NOT_TRUSTED: "its certificate is not trusted; ?ca=FILE in its address says whom to trust",
    Unreachable.NO_BROKER: "something else answers there",
    Unreachable.LOST: "the connection ended",
}
_REFUSED = {
    Refused.CREDENTIALS: "the account or its password is not right",
    Refused.PERMISSION: "the account may not do that",
    Refused.LIMIT: "as many connections of the account as may be are open already; they end, so try again",
    Refused.UNFIT: "it is not as it is to be; `mesh broker setup` on the control plane puts it right",
}


def broker_told(error: BrokerOutage) -> Stop:
    """What happened at a broker, in one sentence, with the broker's or the system's own words."""
    match error:
        case BrokerUnreachable():
            line = f"{error.broker} is out of reach: {_UNREACHABLE[error.reason]}"
            return _out(f"broker-{error.reason.value}", line + _in_its_words(error.detail))
        case BrokerRefused():
            line = f"{error.broker} refuses: {_REFUSED[error.what]}"
            return _out(f"broker-{error.what.value}", line + _in_its_words(error.detail))
        case QueueMissing():
            line = f"{error.broker} has no queue for {error.node}; `mesh node invite {error.node}` makes it"
            return Stop(Exit.OUT_OF_REACH, "broker-queue-missing", line, {"node": error.node})
        case _:
            return _out("broker", str(error))


def _in_its_words(detail: str) -> str:
    return f" ({detail})" if detail else ""


def _out(code: str, line: str) -> Stop:
    return Stop(Exit.OUT_OF_REACH, code, line)


def _in_use(error: ModuleInUse) -> Stop:
    lines = [f"refused: {error.module} is in use, and cannot be forgotten"]
    lines += [f"  assigned to {node}: mesh unassign {node} {error.module}" for node in error.assigned_to]
    lines += [f"  last declared on {node}" for node in error.declared_on]
    lines += [f"  running on {node} by its last report" for node in error.running_on]
    facts = {
        "assigned_to": list(error.assigned_to),
        "declared_on": list(error.declared_on),
        "running_on": list(error.running_on),
    }
    return Stop(Exit.REFUSED, "module-in-use", lines, facts)
