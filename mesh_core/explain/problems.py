"""Why a node is refused, in sentences (design, part 6). Nothing else makes them.

An explanation has a headline, the details that one needs to believe it, and the commands that mend it.
"""

from __future__ import annotations

from attrs import frozen

from mesh_core.analysis.fixes import TRIED, Fixes, fixes_for, fixes_for_all
from mesh_core.analysis.what_if import WhatIf
from mesh_core.explain.details import details
from mesh_core.explain.headline import headline
from mesh_core.explain.words import command
from mesh_core.model.mesh import Mesh
from mesh_core.model.resolution import Refusal, Resolution
from mesh_core.problems import Problem


@frozen(kw_only=True)
class Explanation:
    """One problem, explained: a headline, details, and the commands that are known to mend it."""

    problem: Problem
    headline: str
    details: tuple[str, ...]
    fixes: tuple[str, ...]
    stopped: str = ""
    """Why not everything was tried to mend it, if it was not."""

    @property
    def text(self) -> str:
        """Lines as they are printed, the first beginning with `refused:`."""
        return "\n".join([f"refused: {self.headline}", *(f"  {line}" for line in self.below)])

    @property
    def below(self) -> tuple[str, ...]:
        """The details, and the line of fixes."""
        lines = list(self.details)
        if self.fixes:
            lines.append("fix: " + "     or: ".join(self.fixes))
        if self.stopped:
            lines.append(self.stopped)
        return tuple(lines)


class Explainer:
    """Explains the problems of one mesh and its resolution. Fixes are tried on the mesh as a value."""

    def __init__(self, mesh: Mesh, resolution: Resolution) -> None:
        self._mesh = mesh
        self._resolution = resolution
        self._what_if: WhatIf | None = None

    def problem(self, problem: Problem) -> Explanation:
        """The explanation of one problem that stands in the resolution, with fixes of its own."""
        return self._explained(problem, fixes_for(problem, self._tried()))

    def refusal(self, refusal: Refusal, *, fixes: bool = True) -> tuple[Explanation, ...]:
        """The explanations of all problems of a refusal, which share what may be tried and shown.

        Without `fixes` none is looked for.
        """
        if not fixes:
            none = Fixes(found=(), tried=0, stopped=False)
            return tuple(self._explained(problem, none) for problem in refusal.problems)
        fixed = fixes_for_all(refusal.problems, self._tried())
        return tuple(self._explained(problem, found) for problem, found in fixed)

    def _tried(self) -> WhatIf:
        if self._what_if is None:
            self._what_if = WhatIf(self._mesh)
        return self._what_if

    def _explained(self, problem: Problem, fixes: Fixes) -> Explanation:
        return Explanation(
            problem=problem,
            headline=headline(problem),
            details=tuple(details(problem, self._mesh, self._resolution)),
            fixes=tuple(command(step) for step in fixes.found),
            stopped=_stopped(fixes),
        )


def _stopped(fixes: Fixes) -> str:
    if not fixes.stopped:
        return ""
    if not fixes.tried:
        return "mend what is above first, and ask again: no fix was looked for here"
    return f"stopped looking for a fix after {TRIED} tries"


def explain(reason: Problem | Refusal, mesh: Mesh, resolution: Resolution) -> str:
    """A problem, or all problems of a refusal, in sentences, with commands that are known to mend them.

    `resolution` is that of `mesh`, and the problem stands in it. Every command that is named has been
    applied to the mesh as a value and resolved: it removes its problem and adds none anywhere. At most 3
    are named and 200 tried, for a problem or for a refusal. Raises nothing. Design, part 6.
    """
    explainer = Explainer(mesh, resolution)
    if isinstance(reason, Refusal):
        return "\n".join(explanation.text for explanation in explainer.refusal(reason))
    return explainer.problem(reason).text
