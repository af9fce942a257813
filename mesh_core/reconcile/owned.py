"""What a host remembers of one resource: what was there before it, and how it left it (design, part 8)."""

from __future__ import annotations

from attrs import frozen

from mesh_core.reconcile.state import HALFWAY, State, holds


@frozen(kw_only=True)
class Owned:
    """One entry of the journal.

    `intended` is what an act that was begun and not confirmed was to bring about: the machine may be in
    either state. `position` is where it stood in the declaration: what stands later is taken off first.
    `brought` is what came along with another (a package's dependencies, a file's parent directory): it was
    never declared, and goes when nothing needs it. `stale` is a service whose files changed, and that did
    not take notice yet.
    """

    identity: str
    kind: str
    position: int
    before: State | None
    left: State | None
    in_flight: bool = False
    intended: State | None = None
    brought: bool = False
    stale: bool = False

    def made_so(self, observed: State | None) -> bool:
        """Whether what is observed is the host's own doing, or what it found: nobody else's.

        Where an act was begun and not confirmed, each fact may be as it was or as it was to be, and it may be
        halfway.
        """
        if not self.in_flight:
            return holds(self.left, observed)
        if observed is not None and observed.get(HALFWAY):
            return True
        possible = self._possible()
        if observed is None:
            return None in possible
        states = [state for state in possible if state is not None]
        return any(holds(state, observed) for state in states) or _mixed(observed, states)

    def left_as(self, observed: State | None, target: State | None = None) -> State | None:
        """How the host left it, where another act is begun, or one that was begun is given up.

        What an act that was begun brought about is the host's doing and stays so, whatever is intended next.
        And what the `target` has an opinion on may be as it is now until the act is done: also a fact that an
        earlier declaration asked for, and the last one not.
        """
        if observed is None or not self.made_so(observed):
            return self.left
        if self.in_flight and holds(self.before, observed):
            return self.left
        cared = {name for state in (self.left, self.intended, target) if state for name, _ in state.facts}
        return State(facts=[(name, fact) for name, fact in observed.facts if name in cared])

    def _possible(self) -> tuple[State | None, ...]:
        """What may be there while an act is in flight. What was never left so, is not how it was left."""
        begun = (self.intended, self.before)
        return begun if self.left is None else (self.left, *begun)


def _mixed(observed: State, possible: list[State]) -> bool:
    """Whether each fact is that of one of the possible states of its type.

    A file is replaced by a link in one go, and never half.
    """
    possible = [state for state in possible if state.get("type") == observed.get("type")]
    if len(possible) < 2:
        return False
    managed = set().union(*[dict(state.facts) for state in possible])
    facts = [(name, fact) for name, fact in observed.facts if name in managed]
    return all(any((name, fact) in state.facts for state in possible) for name, fact in facts)
