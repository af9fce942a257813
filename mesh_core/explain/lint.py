"""What lint finds, in sentences and as plain data."""

from __future__ import annotations

from typing import Any, assert_never

from mesh_core.analysis.lint import IdlePin, IdleReason, Lint, NobodyOffers, Unfit, UnknownKind, UnusedModule
from mesh_core.explain.words import both, some, verb


def sentence(lint: Lint) -> str:
    """What looks like a mistake, and what would do."""
    match lint:
        case IdlePin():
            pinned = f"{lint.node} is pinned to take {lint.pin.provision!r} from {lint.pin.target}"
            undo = f"mesh unpin {lint.node} {lint.pin.provision}"
            return f"{pinned}, and {_idle(lint)}: the pin does nothing; fix: {undo}"
        case NobodyOffers():
            require = verb(lint.required_by, "requires", "require")
            asked = f"{both(lint.required_by)} on {lint.node} {require} {lint.provision!r} from every"
            return f"{asked}, and no node offers it: there is nothing to take"
        case UnusedModule():
            return f"no node is given {lint.module}, and nothing pulls it in"
        case UnknownKind():
            meant = f"; did you mean {lint.near!r}?" if lint.near else ""
            unknown = f"no kind of {lint.what} {lint.kind!r} is known here ({some(lint.modules)})"
            return f"{unknown}: its attributes are not checked, and a host may not know it either{meant}"
        case Unfit():
            return f"{lint.module} cannot be as it is said: {lint.why}"
        case _:
            assert_never(lint)


def _idle(lint: IdlePin) -> str:
    match lint.why:
        case IdleReason.NOT_MESH_SCOPED:
            return "no module provides that with scope mesh"
        case IdleReason.NOT_REQUIRED:
            return "nothing on it requires that"
        case IdleReason.ONLY_FROM_EVERY:
            return "it is only required from every, which no pin touches"
        case _:
            assert_never(lint.why)


def lint_to_data(lint: Lint) -> dict[str, Any]:
    """A finding as plain data, with its code."""
    match lint:
        case IdlePin():
            pin = {"provision": lint.pin.provision, "pin": lint.pin.target, "why": lint.why.value}
            return {"code": "idle-pin", "node": lint.node, **pin}
        case NobodyOffers():
            asked = {"provision": lint.provision, "required_by": list(lint.required_by)}
            return {"code": "nobody-offers", "node": lint.node, **asked}
        case UnusedModule():
            return {"code": "unused-module", "module": lint.module}
        case UnknownKind():
            kind = {"what": lint.what, "kind": lint.kind, "near": lint.near}
            return {"code": "unknown-kind", **kind, "modules": list(lint.modules)}
        case Unfit():
            return {"code": "unfit", "module": lint.module, "why": lint.why}
        case _:
            assert_never(lint)
