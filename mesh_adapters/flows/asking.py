"""Ask builders: write the request down first, then send it, then mark (design, part 9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from attrs import evolve, frozen

from mesh_core.builds.asking import AskedAlready, Asking, ToAsk, asking
from mesh_core.builds.sending import to_send
from mesh_core.model.build import Build
from mesh_core.model.source import Commit, Source
from mesh_core.ports import Broker, Confirmed, Outcome, Session, Store
from mesh_core.wire.builds import request_to_bytes


@frozen(kw_only=True)
class Wanted:
    """What a wish came to: the build that it is now, or why there is none."""

    asking: Asking
    build: Build | None


@frozen(kw_only=True)
class Requested:
    """What became of the requests that were to be sent, by the build's id: confirmed, or why not."""

    failed: Mapping[str, Outcome]
    confirmed: tuple[str, ...] = ()


@frozen(kw_only=True)
class By:
    """Who asks, when, and how often it is built; `make_id` gives an id that nobody had before."""

    who: str
    at: str
    make_id: Callable[[], str]
    verify: bool = False


def ask(session: Session, modules: Iterable[str], by: By) -> dict[str, Wanted]:
    """Write down what is to be built, by module; nothing is sent by this.

    A module that cannot be asked for is told, and the others are asked for all the same.
    """
    mesh, heads = session.mesh(), session.heads()
    found: dict[str, Wanted] = {}
    open_builds = [*session.open_builds()]
    for module in modules:
        wish = asking(mesh, heads, open_builds, module)
        build = None
        if isinstance(wish, AskedAlready):
            build = wish.build
        elif isinstance(wish, ToAsk):
            build = session.ask(wish.request(by.make_id(), verify=by.verify), by.at, by.who)
            open_builds.append(build)
        found[module] = Wanted(asking=wish, build=build)
    return found


def ask_again(session: Session, old: Build, by: By) -> Wanted:
    """Write down what a build was asked for once more, whatever its source has by now."""
    request = evolve(old.request, id=by.make_id(), verify=by.verify or old.request.verify)
    source = Source(repository=request.repository, paths=request.paths, ref=request.ref)
    wish = ToAsk(module=request.module, source=source, commit=Commit(id=request.commit, at=""))
    return Wanted(asking=wish, build=session.ask(request, by.at, by.who))


def send_requests(store: Store, broker: Broker, at: str, since: Callable[[str], float]) -> Requested:
    """Send the requests that no broker has confirmed, and those that one seems to have lost.

    To be called once everything that builders said was taken in. Raises what the two ports raise: then what
    is not marked is still to be sent.
    """
    open_builds = store.open_builds()
    if not open_builds:
        return Requested(failed={})
    going = to_send(open_builds, broker.requests_waiting(), since)
    if not going:
        return Requested(failed={})
    outcomes = broker.ask([request_to_bytes(build.request) for build in going])
    told = {build.request.id: outcome for build, outcome in zip(going, outcomes, strict=True)}
    confirmed = tuple(id for id, outcome in told.items() if isinstance(outcome, Confirmed))
    with store.writing() as session:
        session.asked(confirmed, at)
    failed = {id: outcome for id, outcome in told.items() if id not in confirmed}
    return Requested(confirmed=confirmed, failed=failed)
