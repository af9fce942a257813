"""Builds and where modules came from, in sentences and as plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, assert_never

from mesh_core.analysis.state_of_modules import StateOfModule
from mesh_core.builds.asking import AskedAlready, Asking, NoHead, NothingToBuild, ToAsk
from mesh_core.builds.becoming import Becomes, Becoming, Holds, Overtaken
from mesh_core.builds.state import BuildState, state_of_build
from mesh_core.delivery import Delivery
from mesh_core.explain.sources import unfound
from mesh_core.model.build import Build, Built, Failed, Said, Taken
from mesh_core.model.origin import FromBuild, Handed, Origin, Shipped
from mesh_core.model.source import Commit, Seen

SHORT = 7
"""Characters of a commit that are shown."""
ID = 8
"""Characters of a build's id that are shown, and that do to name it where no other begins like it."""

Ago = Callable[[str], str]
"""How long ago an instant was, in words."""

STATES = {
    Delivery.CURRENT: "current",
    Delivery.BEHIND: "behind",
    Delivery.UNCHECKED: "unchecked",
    Delivery.NO_SOURCE: "no source",
    Delivery.BY_HAND: "by hand",
    Delivery.NEVER_BUILT: "never built",
}
"""How each state is shown."""


def short(commit: Commit | str) -> str:
    """A commit, as far as it is shown."""
    return (commit if isinstance(commit, str) else commit.id)[:SHORT]


def build_called(build: Build) -> str:
    """`web a01c77e (build 6f3c2a1b)`."""
    request = build.request
    return f"{request.module} {short(request.commit)} (build {request.id[:ID]})"


def _of_commit(build: Build) -> str:
    return f"build {build.request.id[:ID]} of {short(build.request.commit)}"


def asked(asking: Asking, build: Build | None) -> str:
    """What became of the wish to have a module built, in one line."""
    match asking:
        case ToAsk():
            assert build is not None
            return f"{asking.module}: asked for {short(asking.commit)}, as build {build.request.id[:ID]}"
        case AskedAlready():
            request, state = asking.build.request, state_of_build(asking.build)
            called = f"build {request.id[:ID]} ({state})"
            return f"{request.module}: {short(request.commit)} is asked for already, as {called}"
        case NothingToBuild(module=module):
            return f"{module} has no source: mesh source set {module} REPOSITORY"
        case NoHead(module=module, unfound=None):
            return f"nobody has looked at the source of {module} yet: mesh source check {module}"
        case NoHead():
            assert asking.unfound is not None
            return f"{asking.module}: {unfound(asking.unfound)}"
        case _:
            assert_never(asking)


def heard(build: Build, said: Said, becoming: Becoming | None) -> Iterator[str]:
    """What a builder said of a build, and what it makes of the catalogue."""
    called = build_called(build)
    match said:
        case Taken(builder=builder):
            yield f"{called}: taken by {builder}"
        case Failed():
            by = f" by {said.builder}" if said.builder else ""
            yield f"{called}: failed{by}, at {said.step}: {said.why}"
            if said.log:
                yield f"  mesh builds {build.request.id[:ID]} shows the end of its log"
        case Built():
            yield f"{called}: built by {said.builder}, {said.artifact.artifact[:19]}"
            if said.same is False:
                yield "  a second build gave something else: its commands are not reproducible"
            if said.same:
                yield "  a second build gave the same"
            if becoming is not None:
                yield f"  {became(build.request.module, becoming)}"
        case _:
            assert_never(said)


def became(module: str, becoming: Becoming) -> str:
    """What was made of the catalogue."""
    match becoming:
        case Becomes():
            return f"{module} {becoming.change.module.version} is in the catalogue; next: mesh push"
        case Holds(proposal=None):
            faults = "; ".join(str(fault) for fault in becoming.faults)
            return f"held: {faults}"
        case Holds():
            return f"held: it would refuse a node, or move an answer: mesh module accept {module} --dry-run"
        case Overtaken():
            return f"the catalogue has a later build already ({becoming.by[:ID]})"
        case _:
            assert_never(becoming)


def came(origin: Origin, at: str, ago: Ago) -> str:
    """Where a manifest came from, and when: `git a01c77e, built 2 d ago`."""
    match origin:
        case Handed():
            return f"handed over {ago(at)}"
        case Shipped(version=version):
            return f"shipped with mesh {version}"
        case FromBuild(commit=commit, built_at=built_at):
            return f"git {short(commit)}, built {ago(built_at or at)}"
        case _:
            assert_never(origin)


def runs(state: StateOfModule) -> str:
    """What of a module is in the catalogue, in a word: its commit, `by hand`, or nothing."""
    if state.put is None:
        return "-"
    origin = state.put.origin
    if isinstance(origin, FromBuild):
        return short(origin.commit)
    return "by hand" if state.source is not None else "-"


def source_has(state: StateOfModule) -> str:
    """The head of a module's source, as last seen."""
    return "-" if state.seen.head is None else short(state.seen.head)


def notes(state: StateOfModule, ago: Ago) -> Iterator[str]:
    """What is to be said of a module beside its state."""
    seen = state.seen
    if seen.unfound is not None and seen.unfound_at is not None:
        yield f"{state.name}: {unfound(seen.unfound)} ({ago(seen.unfound_at)}){_last_known(seen, ago)}"
    if state.held is not None:
        yield f"{state.name}: {_of_commit(state.held)} is held: mesh module accept {state.name} --dry-run"
    if state.underway is not None:
        yield f"{state.name}: {_of_commit(state.underway)} is {state_of_build(state.underway)}"


def _last_known(seen: Seen, ago: Ago) -> str:
    """> A repository that can't be reached leaves the last known head and says when it was known."""
    if seen.head is None or seen.head_at is None:
        return ""
    return f"; {short(seen.head)} was its head {ago(seen.head_at)}"


def build_to_data(build: Build) -> dict[str, Any]:
    """A build as plain data, with codes."""
    answer = build.answer
    data: dict[str, Any] = {
        "id": build.request.id,
        "module": build.request.module,
        "commit": build.request.commit,
        "ref": build.request.ref,
        "repository": build.request.repository,
        "paths": list(build.request.paths),
        "verify": build.request.verify,
        "state": state_of_build(build).value,
        "asked_at": build.asked_at,
        "asked_by": build.asked_by,
        "sent_at": build.sent_at,
        "taken_by": build.taken_by,
        "taken_at": build.taken_at,
        "answered_at": build.answered_at,
        "cancelled_at": build.cancelled_at,
    }
    if isinstance(answer, Failed):
        data["failure"] = {"step": answer.step.value, "why": answer.why}
    if isinstance(answer, Built):
        data["built"] = {
            "version": answer.manifest.version,
            "commit": answer.commit.id,
            "content": answer.artifact.content,
            "artifact": answer.artifact.artifact,
            "place": answer.artifact.place,
            "shut": answer.shut.value,
            "same": answer.same,
        }
    return data | {"log": [] if answer is None else list(answer.log)}


def why_failed(build: Build) -> str:
    """Why a build failed, or who has it; empty where there is nothing to say."""
    if isinstance(build.answer, Failed):
        return f"at {build.answer.step}: {build.answer.why}"
    state = state_of_build(build)
    if state is BuildState.TAKEN:
        return f"by {build.taken_by}"
    return "" if not isinstance(build.answer, Built) else f"by {build.answer.builder}"
