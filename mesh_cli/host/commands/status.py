"""`mesh-host status`: what was applied last, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mesh_cli.host.wiring import interface_of, journal_looked_at
from mesh_cli.options import JsonOption
from mesh_cli.output import ago, say, say_json, table
from mesh_cli.roots import RootOption, root_of
from mesh_core.explain.words import span

if TYPE_CHECKING:
    from mesh_cli.host.wiring import Journal


def status(*, root: RootOption = None, as_json: JsonOption = False) -> None:
    """Show what was applied last, and what came of it.

    That is what failed, what somebody had changed, and which checks pass.

    Example: mesh-host status
    """
    place = root_of(root)
    with journal_looked_at(place) as journal:
        found = _status(journal)
    found["interface"] = interface_of(place)
    if as_json:
        say_json(found)
    elif found["state"] == "never":
        say("no declaration was ever applied here; begin with `mesh-host apply --dry-run FILE`")
    else:
        say(_lines(found))


def _status(journal: Journal) -> dict[str, Any]:
    taken, last = journal.taken(), journal.fact("status") or {}
    entries = journal.entries()
    in_flight = any(entry.owned.in_flight for entry in entries)
    actions = last.get("actions", [])
    return {
        "node": taken.node if taken else None,
        "generation": taken.generation if taken else None,
        "state": _state(taken.generation if taken else None, last, in_flight),
        "at": journal.fact("at"),
        "owned": len(entries),
        "failed": [action for action in actions if action["outcome"] == "failed"],
        "drifted": [action for action in actions if _drifted(action)],
        "troubles": last.get("troubles", []),
        "checks": last.get("checks", []),
    }


def _interface_lines(interface: dict[str, Any] | None) -> list[str]:
    """The machine's own address in the overlay, and each peer with when it was last heard."""
    if interface is None:
        return []
    up = "" if interface["up"] else ", which is not up"
    lines = [f"{interface['address']} on {interface['name']}{up}"]
    for peer in interface["peers"]:
        heard = "never heard" if peer["heard"] is None else f"heard {span(peer['heard'])} ago"
        where = "" if peer["endpoint"] is None else f", at {peer['endpoint']}"
        lines.append(f"{peer['node']} {', '.join(peer['addresses'])}: {heard}{where}")
    return lines


def _state(generation: int | None, last: dict[str, Any], in_flight: bool) -> str:
    """`never`, `unfinished` where a run was stopped on its way, else how the last one ended."""
    if generation is None:
        return "never"
    if last.get("generation") != generation or (in_flight and last.get("state") == "applied"):
        return "unfinished"
    return str(last["state"])


def _drifted(action: dict[str, Any]) -> bool:
    return action["action"] in ("put-back", "leave") or action["outcome"] == "left"


def _lines(found: dict[str, Any]) -> list[str]:
    from mesh_cli.host.render import Rendering
    from mesh_cli.wiring import now
    from mesh_core.explain.host import STATES, CheckTold, health

    rows = [["node", found["node"]], ["generation", str(found["generation"])]]
    rows.append(["state", STATES[found["state"]]])
    if found["at"] is not None:
        rows.append(["last run", ago(found["at"], now())])
    rows.append(
        ["owned", f"{found['owned']} (`mesh-host owned` lists them)" if found["owned"] else "nothing"]
    )
    rows += [["network", line] for line in _interface_lines(found["interface"])]
    rows += [["checks", line] for line in health(CheckTold(**check) for check in found["checks"])]
    told = [*found["failed"], *(action for action in found["drifted"] if action not in found["failed"])]
    view = Rendering({**found, "actions": told, "checks": [c for c in found["checks"] if not c["passed"]]})
    return [*table(rows), *view.before(), *view.actions(), *view.after()]
