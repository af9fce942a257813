"""What a change would do, or has done, in lines."""

from __future__ import annotations

from mesh_cli.output import visible
from mesh_core.analysis.preparation import unsaid
from mesh_core.analysis.proposal import Proposal
from mesh_core.change import PutNode
from mesh_core.explain import Explainer
from mesh_core.explain.changes import differences, done, immaterial, moved, to_report, would
from mesh_core.explain.network import without_address
from mesh_core.explain.words import counted, some

_EXPLAINED = 10
_REPORTS_NAMED = 3


def harm_lines(proposal: Proposal) -> list[str]:
    """What the change would do to whom: the nodes that it would refuse, with why, and the moves."""
    explainer = Explainer(proposal.after, proposal.resolution)
    refused = proposal.consequences.refused
    explained = tuple(explainer.refusal(refusal, fixes=False) for refusal in refused[:_EXPLAINED])
    lines = [visible(line) for line in would(proposal.consequences, explained)]
    if len(refused) > _EXPLAINED:
        nodes = some([refusal.node for refusal in refused])
        lines[0] = f"{len(refused)} nodes would be refused: {nodes}"
        lines.append(f"only the first {_EXPLAINED} are explained; --json has all")
    return lines + [visible(line) for line in immaterial(proposal.material)]


def way_out_lines(proposal: Proposal, fixes: list[str], *, again: bool) -> list[str]:
    """How the change can be made: by the commands that are known to do, or by what a person may know."""
    if fixes:
        behind = "and then this again" if again else "(pins and assigns what stands now)"
        return [f"fix: {'     or: '.join(fixes)}     {behind}"]
    missing = unsaid(proposal)
    lines = [to_report(one) for one in missing[:_REPORTS_NAMED]]
    left = len(missing) - len(lines)
    return [*lines, f"and the same of {counted(left, 'more node')}"] if left else lines


def done_lines(proposal: Proposal) -> list[str]:
    """What was done, and what it did to whom."""
    if not proposal.changes:
        return ["nothing to change: the mesh is so already"]
    lines: list[str] = []
    for change in proposal.changes:
        if isinstance(change, PutNode):
            lines += differences(change, proposal.before)
        else:
            lines.append(done(change) + (" (kept as it was)" if change in proposal.kept else ""))
    return lines + effect_lines(proposal)


def effect_lines(proposal: Proposal) -> list[str]:
    """What the change did to whom."""
    effects = proposal.consequences
    lines = [f"  {moved(move)}" for move in (*effects.moves, *effects.meant)]
    if effects.mended:
        lines.append(f"  no longer refused: {some(effects.mended)}")
    refused = {refusal.node for refusal in effects.refused}
    nodes = sorted(refused.union(fault.node for fault in proposal.material))
    if nodes:
        lines.append(f"  refused now: {some(nodes)} (`mesh plan` says why)")
    lines += [
        f"  the pin of {lost.node} for {lost.pin.provision!r} went with it" for lost in effects.lost_pins
    ]
    placeless = left_without_address(proposal)
    if placeless:
        lines.append(f"  {without_address(placeless)} (`mesh network show` says what would do)")
    return lines


def left_without_address(proposal: Proposal) -> list[str]:
    """The nodes for which the range has no room, where that is news."""
    if proposal.after.network is None:
        return []
    before = proposal.before
    known = {n.name for n in before.nodes if n.network.address is None and before.network is not None}
    return [n.name for n in proposal.after.nodes if n.network.address is None and n.name not in known]


def difference_lines(proposal: Proposal) -> list[str]:
    """How the mesh changes, module by module and node by node, and a line that counts."""
    lines = [line for change in proposal.changes for line in differences(change, proposal.before)]
    signs = [line[0] for line in lines]
    count = f"{signs.count('+')} new, {signs.count('~')} changed, {signs.count('-')} removed"
    return [*lines, f"{counted(len(lines), 'difference')}: {count}"]
