"""What a push comes to, in sentences and as plain data (design, parts 6, 8 and 11)."""

from __future__ import annotations

from typing import Any, assert_never

from mesh_core.explain.host import named
from mesh_core.explain.words import some
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
