"""What a host did or would do, in sentences (design, part 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, assert_never

from attrs import field, frozen

from mesh_core.explain.words import both, counted, some, verb
from mesh_core.reconcile import Act, State


class Outcome(StrEnum):
    """What came of an action, as a code."""

    DONE = "done"
    FAILED = "failed"
    STILL_NEEDED = "still-needed"
    LEFT = "left"


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(texts)


@frozen(kw_only=True)
class Told:
    """An action as it is told: one that would be done (`outcome` is None), or what came of it.

    `changes` are the facts that it changes, as `mode 0644 -> 0600`; `why` is in whatever refused's own words.
    """

    act: Act
    identity: str
    kind: str
    modules: tuple[str, ...] = field(default=(), converter=_texts)
    because: tuple[str, ...] = field(default=(), converter=_texts)
    changes: tuple[str, ...] = field(default=(), converter=_texts)
    was_there: bool = False
    outcome: Outcome | None = None
    why: str | None = None
    notes: tuple[str, ...] = field(default=(), converter=_texts)

    @property
    def seen_as(self) -> Act:
        """What a person sees of it: a change of what was not there yet, since a run was stopped, makes it."""
        return Act.MAKE if self.act is Act.CHANGE and not self.was_there else self.act

    @property
    def of_note(self) -> bool:
        """Whether a person wants to hear of it: not of what only the journal learns, or of what came along
        and is needed on.
        """
        if self.act is Act.CONFIRM:
            return self.outcome is Outcome.FAILED
        return self.act is not Act.SWEEP or self.outcome is not Outcome.STILL_NEEDED


def told_from_data(data: Mapping[str, Any]) -> Told:
    """An action as a host gives it as plain data."""
    return Told(
        act=Act(data["action"]),
        identity=data["identity"],
        kind=data["kind"],
        modules=data["modules"],
        because=data["because"],
        changes=data["changes"],
        was_there=data["was_there"],
        outcome=Outcome(data["outcome"]) if "outcome" in data else None,
        why=data.get("why"),
        notes=data.get("notes", ()),
    )


def changes(observed: State | None, target: State | None) -> tuple[str, ...]:
    """The facts that differ, where something is there before and after; digests of contents are not told."""
    if observed is None or target is None:
        return ()
    now = observed.as_data()
    return tuple(
        f"{name} {_fact(now[name])} -> {_fact(fact)}"
        for name, fact in target.facts
        if name in now and now[name] != fact and name != "sha256"
    )


def _fact(fact: object) -> str:
    return {True: "yes", False: "no"}[fact] if isinstance(fact, bool) else str(fact)


def thing(identity: str, kind: str) -> str:
    """`package zsh`, `file /etc/motd`."""
    return f"{kind} {identity.partition(':')[2]}"


def named(identity: str) -> str:
    """The same where the kind is not known: `package zsh`, `/etc/motd`."""
    kind, _, name = identity.partition(":")
    return name if kind == "path" else f"{kind} {name}"


def action_cells(told: Told) -> tuple[str, str, str]:
    """One action: its sign with what it is about, what is to be said of it, and for whom it is."""
    whose = f"for {both(told.modules)}" if told.modules else ""
    return f"{_sign(told)} {thing(told.identity, told.kind)}", _phrase(told), whose


def _sign(told: Told) -> str:
    if told.outcome is Outcome.FAILED:
        return "!"
    if told.outcome in (Outcome.STILL_NEEDED, Outcome.LEFT):
        return "="
    return _SIGNS[told.seen_as]


_SIGNS = {
    Act.MAKE: "+",
    Act.ADOPT: "=",
    Act.CHANGE: "~",
    Act.PUT_BACK: "~",
    Act.REFRESH: "~",
    Act.CONFIRM: "=",
    Act.REMOVE: "-",
    Act.RESTORE: "-",
    Act.RELEASE: "=",
    Act.LEAVE: "=",
    Act.SWEEP: "-",
}


def _phrase(told: Told) -> str:
    match told.outcome:
        case Outcome.FAILED:
            return f"failed: {told.why}"
        case Outcome.STILL_NEEDED:
            return f"stays, since it is still needed: {told.why}"
        case Outcome.LEFT:
            return f"stays, and is the mesh's no more: {told.why}"
        case None | Outcome.DONE:
            return "; ".join([phrase for phrase in (_doing(told), *told.notes) if phrase])
        case _:
            assert_never(told.outcome)


_DOING = {
    Act.ADOPT: "was so before, and stays when the mesh lets go",
    Act.CONFIRM: "is so; the journal learns it",
    Act.REMOVE: "no longer declared",
    Act.RESTORE: "no longer declared: what was there before comes back",
    Act.RELEASE: "no longer declared, and as it was before the mesh",
    Act.SWEEP: "came along with something that is gone",
}


def _doing(told: Told) -> str:
    match told.seen_as:
        case Act.MAKE:
            there = told.was_there and told.identity.startswith("path:")
            return "what was there is remembered" if there else ", ".join(told.changes)
        case Act.CHANGE:
            return ", ".join(told.changes)
        case Act.PUT_BACK:
            return f"put back: {drift(told)}"
        case Act.LEAVE:
            return f"no longer declared, and stays: {drift(told)}"
        case Act.REFRESH:
            files = both([named(identity) for identity in told.because]) if told.because else "a file"
            return f"takes notice: {files} changed"
        case _:
            return _DOING[told.act]


def drift(told: Told) -> str:
    """What somebody else did to a thing."""
    if not told.was_there:
        return "somebody took it away"
    if told.kind == "file" and not told.changes:
        return "edited by hand"
    return "changed by hand" + (f" ({', '.join(told.changes)})" if told.changes else "")


@frozen(kw_only=True)
class Untouched:
    """Something to which nothing was done, and why; `elsewhere`: it is for a running machine only."""

    identity: str
    kind: str
    modules: tuple[str, ...] = field(default=(), converter=_texts)
    why: str
    elsewhere: bool = False


def untouched_cells(untouched: Untouched) -> tuple[str, str, str]:
    """The same three as of an action."""
    whose = f"for {both(untouched.modules)}" if untouched.modules else ""
    return f"! {thing(untouched.identity, untouched.kind)}", f"not touched: {untouched.why}", whose


def left_out(untouched: Iterable[Untouched]) -> str | None:
    """`3 packages and 2 services are only for a running machine: left out`; None where there are none."""
    kinds = Counter(one.kind for one in untouched if one.elsewhere)
    if not kinds:
        return None
    things = [counted(count, kind, _several(kind)) for kind, count in sorted(kinds.items())]
    are = "is" if sum(kinds.values()) == 1 else "are"
    return f"{both(things)} {are} only for a running machine: left out"


def _several(kind: str) -> str:
    return f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}s"


@frozen(kw_only=True)
class CheckTold:
    """A check that was run, and what was found."""

    module: str
    kind: str
    passed: bool
    detail: str


def check_cells(check: CheckTold) -> tuple[str, str, str]:
    """The same three as of an action, of a check that did not pass."""
    return f"! check {check.kind}", f"does not pass: {check.detail}", f"for {check.module}"


def health(checks: Iterable[CheckTold]) -> tuple[str, ...]:
    """`web: 2 of 2 checks pass`, for each module that has some, in order."""
    modules: dict[str, list[bool]] = {}
    for check in checks:
        modules.setdefault(check.module, []).append(check.passed)
    return tuple(
        f"{module}: {sum(passed)} of {counted(len(passed), 'check passes', 'checks pass')}"
        for module, passed in modules.items()
    )


_DONE = {
    Act.MAKE: "made",
    Act.ADOPT: "found as it is to be",
    Act.CHANGE: "changed",
    Act.PUT_BACK: "put back",
    Act.REFRESH: "took notice",
    Act.REMOVE: "removed",
    Act.RESTORE: "given back",
    Act.RELEASE: "let go",
    Act.LEAVE: "left",
    Act.SWEEP: "removed",
}
"""What is counted of each act; a confirmation is nothing that a person did or sees."""

_TO_DO = {
    Act.MAKE: "to make",
    Act.ADOPT: "as it is to be",
    Act.CHANGE: "to change",
    Act.PUT_BACK: "to put back",
    Act.REFRESH: "to take notice",
    Act.REMOVE: "to remove",
    Act.RESTORE: "to give back",
    Act.RELEASE: "to let go",
    Act.LEAVE: "to leave",
    Act.SWEEP: "to go along, if nothing else needs it",
}


def summary(
    actions: Sequence[Told],
    untouched: Sequence[Untouched],
    checks: Sequence[CheckTold],
    *,
    generation: int,
    dry: bool = False,
) -> str:
    """The last line: `5 made, 1 put back, 1 failed; web: 2 of 2 checks pass`."""
    words = Counter(_counted_as(told) for told in actions if told.of_note)
    not_touched = sum(not one.elsewhere for one in untouched)
    counts = [f"{count} {word}" for word, count in words.items() if word != "failed"]
    counts += [f"{not_touched} not touched"] if not_touched else []
    counts += [f"{words['failed']} failed"] if words["failed"] else []
    rest = "the rest" if untouched else "everything"
    done = ", ".join(counts) or f"nothing to do: {rest} is as generation {generation} says"
    dry_run = ["nothing was changed: --dry-run"] if dry and counts else []
    return "; ".join([done, *health(checks), *dry_run])


def _counted_as(told: Told) -> str:
    match told.outcome:
        case None:
            return _TO_DO[told.seen_as]
        case Outcome.DONE:
            return _DONE[told.seen_as]
        case Outcome.FAILED:
            return "failed"
        case Outcome.STILL_NEEDED:
            return "still needed"
        case Outcome.LEFT:
            return "left"
        case _:
            assert_never(told.outcome)


STATES = {
    "applied": "applied",
    "failed": "failed in part; the next apply tries again",
    "unfinished": "a run was stopped on its way; the next apply goes on from there",
}
"""How the last run ended, by its code."""


def reason(why: str, modules: Sequence[str], *, in_flight: bool) -> str:
    """Why the mesh has something on a machine."""
    words = {
        "came-along": "came along with something",
        "declared": f"declared by {both(modules)}" if modules else "declared",
        "going": "no longer declared, and not off yet",
    }[why]
    return f"{words}; not finished" if in_flight else words


UNSHOWN = {
    "binary": "its content is no text, and not shown",
    "large": "its content is large, and not shown",
    "private": "not everybody may read it: --diff shows its content",
}
"""Why the difference of a file's content is not shown."""


def before(kind: str, state: State | None) -> str:
    """What was there before the mesh, in a few words."""
    if state is None:
        return "nothing was there before"
    data = state.as_data()
    found = data.get("type", kind)
    article = "an" if str(found)[:1] in "aeiou" else "a"
    rest = [f"{name} {_fact(fact)}" for name, fact in state.facts if name not in ("sha256", "type")]
    return f"{article} {found} was there before" + (f" ({', '.join(rest)})" if rest else "")


def forgotten(identities: Sequence[str]) -> str:
    """What it means that the journal let go of something."""
    names = [named(identity) for identity in identities]
    one, several = (
        "is no longer the mesh's, and stays as it is",
        "are no longer the mesh's, and stay as they are",
    )
    return f"{some(names)} {verb(names, one, several)}"
