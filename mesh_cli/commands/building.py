"""`mesh build` and `mesh builds`: have modules built, and see what became of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli import wiring_builds as wiring
from mesh_cli import wiring_flows
from mesh_cli.exits import Exit, Stop
from mesh_cli.lookup import known_source
from mesh_cli.options import BrokerOption, JsonOption, StoreOption, completed
from mesh_cli.output import ago, note, say, say_json, table
from mesh_cli.wiring import now, opened_broker, opened_store

if TYPE_CHECKING:
    from mesh_cli.wiring_builds import Heard, Wanted
    from mesh_core.model.build import Build
    from mesh_core.model.source import Looked
    from mesh_core.ports import Broker, Store

PATIENCE = 1800.0
"""Seconds that `--wait` waits, where nothing else is said."""
SHOWN = 20

SomeModules = Annotated[
    list[str] | None,
    typer.Argument(metavar="MODULE", autocompletion=completed("sources"), show_default=False, hidden=True),
]
WaitOption = Annotated[bool, typer.Option("--wait", help="Watch until all of them are over.")]
TimeoutOption = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", min=0, help="How long --wait waits.")
]


def build(
    modules: SomeModules = None,
    *,
    behind: Annotated[
        bool, typer.Option("--behind", help="What is behind its source, or was never built.")
    ] = False,
    again: Annotated[
        str | None, typer.Option("--again", metavar="ID", help="What that build was asked for, once more.")
    ] = None,
    cancel: Annotated[
        str | None, typer.Option("--cancel", metavar="ID", help="Let no answer to that build count.")
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Build twice, and say whether both gave the same.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Look at the sources first (default: --check).")
    ] = True,
    wait: WaitOption = False,
    timeout: TimeoutOption = PATIENCE,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Have modules built from their sources.

    Whichever builder is free builds them. What was asked for is written down first, and
    goes out again until there is an answer.
    A build that is cancelled while it runs ends, and its answer is dropped.

    Example: mesh build web --wait
    """
    _refuse_two(modules, behind=behind, again=again, cancel=cancel)
    with opened_store(store) as opened:
        if cancel is not None:
            _cancel(opened, cancel, as_json=as_json)
            return
        names, missed = _asked_for(opened, modules, again, behind=behind, check=check)
        note(missed)
        wanted = _write_down(opened, names, again, verify=verify)
        builds = [one.build for one in wanted.values() if one.build is not None]
        if not as_json:
            _tell_asked(wanted, missed, behind=behind)
        if verify:
            note(_not_compared(builds))
        if builds and not opened.builders():
            note("there is no builder yet: mesh builder invite NAME")
        with _written_down(builds), opened_broker(broker) as reached:
            _sent(opened, reached)
            over = not wait or _watched(opened, reached, builds, timeout, as_json=as_json)
        _end(opened, wanted, builds, over=over, wait=wait, as_json=as_json)


def _not_compared(builds: Sequence[Build]) -> Iterator[str]:
    """Those that were asked for before, without a second build to compare with."""
    for build in builds:
        if not build.request.verify:
            id = build.request.id[:8]
            yield f"build {id} is not built twice; when it is over: mesh build --again {id} --verify"


@contextmanager
def _written_down(builds: Sequence[Build]) -> Iterator[None]:
    """While this lasts, whoever is stopped by a broker learns that nothing is lost."""
    from mesh_cli.outages import broker_told
    from mesh_core.ports import BrokerOutage

    try:
        yield
    except (Stop, BrokerOutage) as error:
        stop = error if isinstance(error, Stop) else broker_told(error)
        if stop.exit_code is not Exit.OUT_OF_REACH or not builds:
            raise
        kept = (
            "  what is asked for is written down, and goes out with the next `mesh build` or `mesh collect`"
        )
        facts = stop.facts | {"builds": [build.request.id for build in builds]}
        raise Stop(stop.exit_code, stop.code, [*stop.lines, kept], facts) from None


def _refuse_two(modules: list[str] | None, *, behind: bool, again: str | None, cancel: str | None) -> None:
    said = [bool(modules), behind, again is not None, cancel is not None]
    if sum(said) != 1:
        line = "say one of: MODULE..., --behind, --again ID, --cancel ID"
        raise Stop(Exit.USAGE, "which-build", line)


def _asked_for(
    store: Store, modules: list[str] | None, again: str | None, *, behind: bool, check: bool
) -> tuple[list[str], list[str]]:
    """The modules that are meant, and what is to be told of sources that nobody could look at."""
    mesh = store.mesh()
    if again is not None:
        return [], []
    names = [known_source(mesh, module) for module in dict.fromkeys(modules or ())]
    if behind:
        names = [name for name, _ in mesh.sources]
    missed = [*_missed(wiring.check(store, names))] if check else []
    if not behind:
        return names, missed
    from mesh_core.builds.asking import behind as those_behind

    return list(those_behind(store.mesh(), store.heads(), store.current(), store.held())), missed


def _missed(found: Mapping[str, Looked]) -> Iterator[str]:
    """Of a source that nobody could look at, what was seen there last is built."""
    from mesh_core.explain.sources import unfound
    from mesh_core.model.source import Newest

    for name, looked in found.items():
        if not isinstance(looked, Newest):
            yield f"{name}: {unfound(looked)}"


def _write_down(store: Store, names: Sequence[str], again: str | None, *, verify: bool) -> dict[str, Wanted]:
    old = None if again is None else build_called(store, again)
    with store.writing() as session:
        if old is not None:
            return wiring.ask_again(session, old, verify=verify)
        return wiring.ask(session, names, verify=verify)


def _tell_asked(wanted: dict[str, Wanted], told: Collection[str], *, behind: bool) -> None:
    """What was asked for, and why the rest was not; `told` are lines that were said already."""
    from mesh_core.explain.builds import asked

    if behind and not wanted:
        say("nothing is behind its source, as it was last seen")
    for one in wanted.values():
        line = asked(one.asking, one.build)
        if one.build is not None:
            say(line)
        elif line not in told:
            note(line)


def _sent(store: Store, broker: Broker) -> None:
    """Send the requests. What cannot be sent stays written down."""
    requested = wiring_flows.send_requests(store, broker)
    for id, outcome in requested.failed.items():
        note(f"build {id[:8]} is not sent, and stays pending: {getattr(outcome, 'why', outcome)}")


def _watched(
    store: Store, broker: Broker, builds: Sequence[Build], patience: float, *, as_json: bool
) -> bool:
    """Whether all of them are over within the time; what is heard is told as it comes."""
    ids = [build.request.id for build in builds]
    try:
        return wiring.wait_for(store, broker, ids, patience, _nobody if as_json else _tell_heard)
    except KeyboardInterrupt:
        line = "stopped watching; the builds go on, and `mesh builds` says how"
        raise Stop(Exit.INTERRUPTED, "interrupted", line, {"builds": ids}) from None


def _tell_heard(heard: Heard) -> None:
    from mesh_core.explain.builds import heard as lines

    say(lines(heard.build, heard.said, heard.becoming))


def _nobody(_heard: Heard) -> None:
    """As JSON all is told at the end."""


def _end(
    store: Store, wanted: dict[str, Wanted], builds: Sequence[Build], *, over: bool, wait: bool, as_json: bool
) -> None:
    from mesh_core.explain.builds import build_to_data
    from mesh_core.model.build import Built

    ids = [build.request.id for build in builds]
    now_known = [found for found in (store.build(id) for id in ids) if found is not None]
    if as_json:
        lacking = [{"module": name, "code": _code(one)} for name, one in wanted.items() if one.build is None]
        say_json({"builds": [build_to_data(build) for build in now_known], "not_asked": lacking})
    elif wait and not over:
        note("not all of them are over yet; `mesh builds` says how they stand")
    elif builds and not wait:
        say("next: mesh builds (or --wait)")
    built = all(isinstance(build.answer, Built) for build in now_known) if wait else True
    if not built or any(one.build is None for one in wanted.values()):
        raise typer.Exit(Exit.SOME_REFUSED)


def _code(wanted: Wanted) -> str:
    return type(wanted.asking).__name__


def _cancel(store: Store, said: str, *, as_json: bool) -> None:
    build = build_called(store, said)
    with store.writing() as session:
        cancelled = session.cancel(build.request.id, now())
    if as_json:
        say_json({"build": build.request.id, "cancelled": cancelled})
    elif cancelled:
        say(f"build {build.request.id[:8]} of {build.request.module} is cancelled: no answer to it counts")
    else:
        say(f"build {build.request.id[:8]} of {build.request.module} is over already")


def build_called(store: Store, said: str) -> Build:
    """The build whose id begins so. Stops where there is none, or more than one."""
    found = [build for build in store.builds() if build.request.id.startswith(said)] if said else []
    if len(found) == 1:
        return found[0]
    if not found:
        raise Stop(Exit.FAILED, "no-such-build", f"no build is called {said!r}; `mesh builds` shows them")
    ids = ", ".join(build.request.id for build in found[:5])
    raise Stop(Exit.FAILED, "which-build", f"{len(found)} builds begin with {said!r}: {ids}")


def builds(
    said: Annotated[
        str | None, typer.Argument(metavar="ID", help="One build, with its log.", show_default=False)
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help=f"All of them, not the newest {SHOWN}.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show builds: asked for, taken, answered, failed.

    One build is shown with the end of what its commands said.

    Example: mesh builds 6f3c2a1b
    """
    from mesh_core.explain.builds import build_to_data

    with opened_store(store) as opened:
        if said is not None:
            found: Iterable[Build] = [build_called(opened, said)]
        else:
            found = opened.builds(None if every else SHOWN)
    if as_json:
        say_json({"builds": [build_to_data(build) for build in found]})
    elif said is not None:
        _tell_one(*found)
    else:
        _tell_builds([*found])


def _tell_builds(found: Sequence[Build]) -> None:
    from mesh_core.builds.state import state_of_build
    from mesh_core.explain.builds import ID, short, why_failed

    if not found:
        say("no build was asked for yet; mesh build MODULE asks for one")
        return
    at = now()
    rows = [
        [
            build.request.id[:ID],
            build.request.module,
            short(build.request.commit),
            state_of_build(build).value,
            ago(build.asked_at, at),
            why_failed(build),
        ]
        for build in found
    ]
    say(table(rows, ["BUILD", "MODULE", "COMMIT", "STATE", "ASKED", "WHY"]))


def _tell_one(build: Build) -> None:
    from mesh_core.builds.state import state_of_build
    from mesh_core.explain.builds import why_failed
    from mesh_core.explain.changes import source
    from mesh_core.model.build import Built
    from mesh_core.model.source import Source

    at, request, answer = now(), build.request, build.answer
    rows = [
        ["build", request.id],
        ["module", request.module],
        ["source", source(Source(repository=request.repository, paths=request.paths, ref=request.ref))],
        ["commit", request.commit],
        ["state", " ".join([state_of_build(build).value, why_failed(build)]).rstrip()],
        ["asked", f"{ago(build.asked_at, at)} by {build.asked_by}"],
    ]
    for word, instant in (("taken", build.taken_at), ("answered", build.answered_at)):
        if instant is not None:
            rows.append([word, ago(instant, at)])
    if isinstance(answer, Built):
        rows += [
            ["content", answer.artifact.content],
            ["artifact", answer.artifact.artifact],
            ["place", answer.artifact.place],
            ["shut in", answer.shut.value],
        ]
    say(table(rows))
    if answer is not None and answer.log:
        say(["", "the end of its log:", *(f"  {_printable(line)}" for line in answer.log)])


def _printable(line: str) -> str:
    from mesh_cli.output import visible

    return visible(line)
