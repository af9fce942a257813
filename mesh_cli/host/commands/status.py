"""`mesh-host status`: what was applied last, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mesh_cli.host.wiring import journal_looked_at, network_of
from mesh_cli.options import JsonOption
from mesh_cli.output import ago, say, say_json, table, visible
from mesh_cli.roots import RootOption, root_of

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
    found["network"] = network_of(place)
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


def _network_lines(network: dict[str, Any] | None) -> list[str]:
    """The machine's own address in the overlay, each peer with when it was last heard, and what is wrong."""
    if network is None:
        return []
    from mesh_core.explain.words import some, span

    lines = []
    if network["address"] is not None:
        up = f"up ({network['by']})" if network["up"] else "not up"
        relay = ", forwards for others" if network["relay"] else ""
        lines.append(f"{network['address']} on {network['name']}, {up}, port {network['port']}{relay}")
    if network["trying"] is not None:
        lines.append(f"that of generation {network['trying']} is being tried")
    for peer in network["peers"]:
        heard = "never heard" if peer["heard"] is None else f"heard {span(peer['heard'])} ago"
        where = "" if peer["endpoint"] is None else f", at {peer['endpoint']}"
        lines.append(f"{peer['node']} {some(peer['addresses'])}: {heard}{where}")
    return [*lines, *network["troubles"]]


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
    rows += [["network", visible(line)] for line in _network_lines(found["network"])]
    rows += [["checks", line] for line in health(CheckTold(**check) for check in found["checks"])]
    told = [*found["failed"], *(action for action in found["drifted"] if action not in found["failed"])]
    view = Rendering(
        {**found, "network": (), "actions": told, "checks": [c for c in found["checks"] if not c["passed"]]}
    )
    return [*table(rows), *view.before(), *view.actions(), *view.after()]
