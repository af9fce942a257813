"""What a push comes to, in sentences and as plain data (design, parts 6, 8 and 11)."""

from __future__ import annotations

from typing import Any, assert_never

from attrs import frozen

from mesh_core.analysis.state_of_nodes import SILENT_AFTER
from mesh_core.explain.host import named
from mesh_core.explain.words import some, span
from mesh_core.model.sent import Standing
from mesh_core.push import has_ended
from mesh_core.push.outcomes import ClaimHeld, Moved, NeedsWord, TooLarge, UnsettledTake, Why


def why_it_waits(node: str, why: Why) -> tuple[str, ...]:
    """Why a plan is not sent, and a command that would do, where there is one."""
    match why:
        case UnsettledTake():
            never = f"which is refused and was never sent {why.module}"
            return (
                f"it takes {why.provision} from {why.node} ({why.module}), {never}",
                f"`mesh plan {why.node}` says why; once {why.node} was sent it, the next push sends this too",
            )
        case ClaimHeld():
            holds = f"{why.node} has not reported letting it go"
            return (
                f"{why.module} claims '{why.claim}' in the whole mesh, and {holds}",
                f"once {why.node} has, the next push sends it; `mesh status {why.node}` says how it is",
            )
        case Moved():
            provision, before, after = why.after.provision, why.before, why.after
            from_, to = f"{before.node} ({before.module})", f"{after.node} ({after.module})"
            pinning = f"mesh pin {node} {provision} {after.node}"
            return (
                f"its {provision} would come from {to}, and came from {from_}",
                f"if the move is meant: {pinning}     or: mesh push --move {node}/{provision}",
            )
        case NeedsWord():
            return _needs_word(node, why)
        case TooLarge():
            size = f"its declaration has {why.size} bytes, and at most {why.limit} are sent"
            return (f"{size}; its largest parts: {some(list(why.largest))}",)
        case _:
            assert_never(why)


def _needs_word(node: str, why: NeedsWord) -> tuple[str, ...]:
    word = f"if that is meant: mesh push {node} --allow-removals {node}"
    if why.empty:
        return f"nothing would be left on it, of {why.known} things that it was sent", word
    going = some([named(identity) for identity in why.going])
    return (
        f"{len(why.going)} of the {why.known} things that it was sent would go at once: {going}",
        f"at most {why.most} go without a word; {word}",
    )


def why_to_data(why: Why) -> dict[str, Any]:
    """The same as plain data, with a code."""
    match why:
        case UnsettledTake():
            return {
                "code": "unsettled-take",
                "provision": why.provision,
                "node": why.node,
                "module": why.module,
            }
        case ClaimHeld():
            return {"code": "claim-held", "claim": why.claim, "module": why.module, "node": why.node}
        case Moved():
            return {
                "code": "moved",
                "provision": why.after.provision,
                "from": {"node": why.before.node, "module": why.before.module},
                "to": {"node": why.after.node, "module": why.after.module},
            }
        case NeedsWord():
            return {
                "code": "needs-word",
                "going": list(why.going),
                "known": why.known,
                "most": why.most,
                "empty": why.empty,
            }
        case TooLarge():
            return {
                "code": "too-large",
                "bytes": why.size,
                "limit": why.limit,
                "largest": list(why.largest),
            }
        case _:
            assert_never(why)


@frozen(kw_only=True)
class Going:
    """How it goes with a generation on its way: `state` in a word, and why, where there is something to say.

    `taken` is whether the machine has it, `ended` whether it is done with it, well or not.
    """

    state: str
    why: str = ""
    taken: bool = False
    ended: bool = False


def how_it_goes(standing: Standing, generation: int, silent: float | None = None) -> Going:
    """How a node takes a generation that it was sent; `silent` seconds ago it was last heard."""
    report = standing.report
    if has_ended(standing, generation) and report is not None:
        why = report.why[0] if report.why else ""
        if not why and report.healthy is False:
            why = "not all of its checks pass"
        return Going(state=report.doing.value, why=why, taken=True, ended=True)
    if report is not None and (report.generation or 0) >= generation:
        return Going(state="applying", taken=True)
    if report is None and standing.seen_at is None:
        return Going(state="sent", why="was never seen; it gets it when it says hello")
    if silent is not None and silent >= SILENT_AFTER:
        return Going(state="sent", why=f"silent for {span(silent)}; it gets it when it returns")
    return Going(state="sent", why="has not taken it; it gets it when it returns")
