"""Recording a change: gather the mesh, decide on it as a value, write it down or refuse.

Everything between is one transaction of the store, so that what was decided is what is recorded.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.judging import judged
from mesh_cli.output import flush, note, say, say_json, visible
from mesh_cli.wiring import now, opened_store, who

if TYPE_CHECKING:
    from mesh_core.analysis.proposal import Proposal
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh
    from mesh_core.ports import Session, Store

Decide = Callable[["Mesh"], "Iterable[Change]"]
Also = Callable[[], dict[str, Any]]


class Recording:
    """One command that changes the mesh, with what the person said about how.

    `words` are the command and its arguments, as they were typed. `asks` is whether a person confirms
    before anything is removed. `meant` is whether the command itself is the word for what it does, where
    it is said without `--dry-run`, and `takes_no_word` whether it is such a command.
    """

    def __init__(
        self,
        *words: str,
        store: Path | None,
        as_json: bool,
        anyway: bool = False,
        keep: bool | None = None,
        asks: bool = False,
        dry_run: bool = False,
        meant: bool = False,
        takes_no_word: bool = False,
    ) -> None:
        said = [flag for flag, given in (("--keep", keep), ("--anyway", anyway)) if given]
        self._command = visible(shlex.join(["mesh", *words, *said]))
        self._store = store
        self._as_json = as_json
        self._anyway = anyway or meant
        self._takes_no_word = takes_no_word
        self._keep = keep
        self._asks = asks
        self._dry_run = dry_run

    def run(
        self,
        decide: Decide,
        *,
        preview: Callable[[Proposal], list[str]] | None = None,
        also: Also | None = None,
    ) -> None:
        """Decide on the mesh as it stands and record it. Stops, with nothing written, where it is refused.

        `preview` gives lines that are shown whether it is refused or not, instead of what was done. `also` is
        done once it is recorded, and gives facts for `--json`; it never fails.
        """
        with opened_store(self._store) as store:
            if self._asks and not self._anyway and sys.stdin.isatty():
                self._confirm(_proposed(store.mesh(), decide, self._keep or False))
            if self._dry_run:
                proposal, number = _proposed(store.mesh(), decide, self._keep or False), None
            else:
                proposal, number = self._record(store, decide)
        # Only now: whoever reads slowly what we print must not keep others from writing.
        try:
            self._tell(proposal, number, preview, None if number is None else also)
        except KeyboardInterrupt:
            if number is None:
                raise
            line = f"interrupted; it was recorded all the same, as number {number}"
            raise Stop(Exit.INTERRUPTED, "interrupted", line, {"event": number}) from None

    def _record(self, store: Store, decide: Decide) -> tuple[Proposal, int | None]:
        """What is proposed, and the number under which it was recorded, if it was."""
        with store.writing() as session:
            proposal = _proposed(session.mesh(), decide, self._keep or False)
            if not proposal.changes or self._is_refused(proposal):
                return proposal, None
            return proposal, self._write(session, proposal)

    def _write(self, session: Session, proposal: Proposal) -> int:
        from mesh_core.event import Event

        event = Event(at=now(), who=who(), command=self._command, changes=proposal.changes)
        return session.record(event)

    def _confirm(self, proposal: Proposal) -> None:
        if not proposal.changes or self._is_refused(proposal):
            return
        from mesh_core.explain.changes import differences

        for change in proposal.changes:
            note(list(differences(change, proposal.before)))
        if not typer.confirm("Go on?", err=True):
            raise Stop(Exit.FAILED, "not-confirmed", "nothing was changed")

    def _is_refused(self, proposal: Proposal) -> bool:
        return proposal.harmful and not self._anyway

    def _refusal(self, proposal: Proposal) -> Stop:
        from mesh_cli.render.consequences import harm_lines, way_out_lines

        fixes, again = self._fixes(proposal)
        lines = [f"refused: {self._command}", *(f"  {line}" for line in harm_lines(proposal))]
        lines += [f"  {line}" for line in way_out_lines(proposal, fixes, again=again)]
        without = f"`{self._command}`" if self._takes_no_word else "--anyway"
        lines.append(f"nothing was recorded; {without} records it all the same")
        facts = {"fixes": [{"command": fix, "again": again} for fix in fixes]}
        return Stop(Exit.REFUSED, "would-refuse-or-move", lines, harm_facts(proposal) | facts)

    def _fixes(self, proposal: Proposal) -> tuple[list[str], bool]:
        """Commands each of which is known to make this one go through, and whether it is said again then."""
        from mesh_core.analysis.preparation import preparations
        from mesh_core.explain.words import command

        if proposal.material:  # no command mends a template
            return [], True
        if self._keep is False and _keeping_helps(proposal):
            return [f"{self._command} --keep"], False
        return [command(step) for step in preparations(proposal)], True

    def _tell(
        self,
        proposal: Proposal,
        number: int | None,
        preview: Callable[[Proposal], list[str]] | None,
        also: Also | None,
    ) -> None:
        if preview is not None and proposal.changes and not self._as_json:
            say(preview(proposal))
        if self._is_refused(proposal):
            raise self._refusal(proposal)
        if self._as_json:
            say_json(recorded_facts(proposal, number) | ({} if also is None else also()))
            return
        from mesh_cli.render.consequences import done_lines, effect_lines, harm_lines

        if not proposal.changes or preview is None:
            say(done_lines(proposal))
        elif self._dry_run:
            say(harm_lines(proposal))
        else:
            say(effect_lines(proposal))
        if self._dry_run and proposal.changes:
            say("nothing was recorded: --dry-run")
        if also is not None:
            flush()  # whoever waits for the rest knows that it is recorded
            also()


def _proposed(mesh: Mesh, decide: Decide, keep: bool) -> Proposal:
    from mesh_core.faults import CatalogueError, InvalidValue
    from mesh_core.network.addresses import addressed

    try:
        changes = addressed(mesh, decide(mesh))
        return judged(mesh, changes, keep=keep)
    except CatalogueError as error:
        lines = ["refused: the catalogue would not agree with itself"]
        lines += [f"  {fault}" for fault in error.faults]
        raise Stop(Exit.REFUSED, "catalogue", lines) from None
    except InvalidValue as error:
        raise Stop(Exit.REFUSED, "invalid", f"refused: {error}") from None


def _keeping_helps(proposal: Proposal) -> bool:
    from mesh_core.analysis.proposal import propose

    kept = propose(proposal.before, proposal.changes, keep=True)
    return bool(kept.kept) and not kept.consequences.harmful


def harm_facts(proposal: Proposal) -> dict[str, Any]:
    """What a change does to whom, as plain data; `material` is there only where there is some."""
    from mesh_core.explain.material import material_to_data
    from mesh_core.problems import facts

    harm = proposal.consequences
    material = [material_to_data(fault) for fault in proposal.material]
    return ({"material": material} if material else {}) | {
        "refused": [
            {"node": refusal.node, "problems": [facts(problem) for problem in refusal.problems]}
            for refusal in harm.refused
        ],
        "moves": [
            {
                "node": move.node,
                "provision": move.provision,
                "from": {"node": move.before.node, "module": move.before.module},
                "to": {"node": move.after.node, "module": move.after.module},
            }
            for move in (*harm.moves, *harm.meant)
        ],
    }


def recorded_facts(proposal: Proposal, number: int | None) -> dict[str, Any]:
    """What was recorded, as plain data; `event` is null where nothing was.

    `without_address` has the nodes for which the network had no room, where there are some.
    """
    from mesh_cli.render.consequences import left_without_address
    from mesh_core.wire.changes import change_to_data

    placeless = left_without_address(proposal)
    return {
        "event": number,
        "changes": [change_to_data(change) for change in proposal.changes],
        **harm_facts(proposal),
        "mended": list(proposal.consequences.mended),
    } | ({"without_address": placeless} if placeless else {})
