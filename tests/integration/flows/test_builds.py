"""Builds from asking to the catalogue, over a store and a broker in one process (design, part 9)."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.broker.opening import open_builder
from mesh_adapters.flows.answers import Heard
from mesh_adapters.flows.asking import By, Requested, Wanted, ask, ask_again, send_requests
from mesh_core import module_from_data
from mesh_core.builds.asking import AskedAlready, NothingToBuild
from mesh_core.builds.becoming import Becomes, Holds, Overtaken
from mesh_core.builds.sending import SETTLED
from mesh_core.builds.state import BuildState, state_of_build
from mesh_core.canonical import canonical_json
from mesh_core.change import SetSource
from mesh_core.delivery import Delivery, delivery
from mesh_core.event import Event
from mesh_core.model.build import Artifact, Build, Built, Failed, Request, Said, Shut, Step, Taken
from mesh_core.model.origin import HANDED, FromBuild
from mesh_core.model.source import Commit, Newest, Source
from mesh_core.ports import BuilderBroker, Confirmed
from mesh_core.wire.builds import read_builder, read_request, said_to_bytes, said_to_data
from mesh_core.wire.faults import WireError
from tests.integration.flows.conftest import AT, Site

SOURCE = Source(repository="https://git.example/web")
ONE, TWO = (Commit(id=letter * 40, at="2026-12-01T08:00:00Z") for letter in "12")
ARTIFACT = Artifact(content=f"sha256:{'c' * 64}", artifact=f"sha256:{'a' * 64}", place="oci:/srv/registry")
WEB = {"name": "web", "version": "1", "resources": [{"kind": "tree", "path": "/opt/web"}]}


class Yard:
    """A site whose module `web` has a source, with a builder or two."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self._ids = count(1)
        with site.store.writing() as session:
            change = SetSource(module="web", source=SOURCE)
            session.record(Event(at=AT, who="test", command="test", changes=[change]))
            for builder in ("smith", "mason"):
                session.add_builder(builder, AT)
        site.broker.add_builders(["smith", "mason"])
        self.saw(ONE)

    def saw(self, commit: Commit) -> None:
        with self.site.store.writing() as session:
            assert session.saw("web", SOURCE, Newest(commit=commit), AT)

    def by(self) -> By:
        return By(who="ada", at=AT, make_id=lambda: f"{next(self._ids):012x}")

    def ask(self, *modules: str) -> dict[str, Wanted]:
        with self.site.store.writing() as session:
            return ask(session, modules or ("web",), self.by())

    def asked(self) -> Build:
        build = self.ask()["web"].build
        assert build is not None
        return build

    def send(self, seconds: float = 0.0) -> Requested:
        return send_requests(self.site.store, self.site.broker, AT, lambda _instant: seconds)

    def builder(self, name: str = "smith") -> BuilderBroker:
        end = open_builder(self.site.address, name)
        self.site._ends.callback(end.close)
        return end

    def took(self, builder: BuilderBroker) -> Request:
        delivery = builder.take(0)
        assert delivery is not None
        assert isinstance(delivery.content, bytes)
        delivery.ack()
        return read_request(delivery.content)

    def says(self, *said: Said, name: str = "smith") -> tuple[Heard, ...]:
        """What counts of what a builder says."""
        builder = self.builder(name)
        for one in said:
            assert builder.answer(said_to_bytes(one)) == Confirmed()
        return self.site.collect().builds

    @property
    def build(self) -> Build:
        return self.site.store.builds()[0]

    def state(self) -> Delivery:
        store = self.site.store
        put = store.current().get("web")
        return delivery(SOURCE, store.heads()["web"], put.origin if put is not None else None)


@pytest.fixture
def yard(site: Site) -> Yard:
    return Yard(site)


def built(request: Request, manifest: dict[str, Any] | None = None, **more: Any) -> Built:
    given: dict[str, Any] = {
        "builder": "smith",
        "commit": Commit(id=request.commit, at=ONE.at),
        "artifact": ARTIFACT,
    }
    given |= {"shut": Shut.BUBBLEWRAP, "manifest": module_from_data(manifest or WEB)} | more
    return Built(request=request.id, **given)


def test_from_asking_to_the_catalogue(yard: Yard) -> None:
    """> the mesh asks, one of two builders takes it, builds, publishes, answers; the manifest is recorded
    > with its commit and digest
    """
    build = yard.asked()
    assert yard.state() is Delivery.NEVER_BUILT
    assert yard.send().confirmed == (build.request.id,)
    request = yard.took(yard.builder("mason"))
    assert request == build.request
    assert yard.builder("smith").take(0) is None
    yard.says(Taken(request=request.id, builder="mason"), name="mason")
    assert (yard.build.taken_by, state_of_build(yard.build)) == ("mason", BuildState.TAKEN)
    (heard,) = yard.says(built(request, builder="mason"), name="mason")
    assert isinstance(heard.becoming, Becomes)
    put = yard.site.store.current()["web"]
    assert isinstance(put.origin, FromBuild)
    assert (put.origin.commit.id, put.origin.artifact, put.origin.builder) == (ONE.id, ARTIFACT, "mason")
    (tree,) = put.manifest.resources
    assert tree.attributes == {"artifact": ARTIFACT.artifact, "from": ARTIFACT.place}
    assert yard.state() is Delivery.CURRENT
    assert yard.site.store.history(1)[0].event.who == "mason"
    yard.saw(TWO)
    assert yard.state() is Delivery.BEHIND


def test_asking_twice_for_one_commit_is_one_build(yard: Yard) -> None:
    build = yard.asked()
    again = yard.ask()["web"]
    assert again == Wanted(asking=AskedAlready(build=build), build=build)
    yard.saw(TWO)
    assert yard.asked() != build
    assert len(yard.site.store.builds()) == 2


def test_what_has_no_source_is_told_and_the_others_are_asked_for(yard: Yard) -> None:
    found = yard.ask("zsh", "web")
    assert found["zsh"] == Wanted(asking=NothingToBuild(module="zsh"), build=None)
    assert found["web"].build is not None


def test_an_answer_counts_once(yard: Yard) -> None:
    """> The first accepted answer counts."""
    request = yard.asked().request
    failed = Failed(request=request.id, builder="mason", step=Step.COMMANDS, why="it ended with 1")
    assert len(yard.says(built(request))) == 1
    assert yard.says(built(request)) == yard.says(failed, name="mason") == ()
    assert isinstance(yard.build.answer, Built)
    assert len(yard.site.store.puts("web")) == 1


def test_a_failure_is_an_answer(yard: Yard) -> None:
    request = yard.asked().request
    failed = Failed(
        request=request.id, builder="smith", step=Step.COMMANDS, why="it ended with 1", log=("no rule",)
    )
    (heard,) = yard.says(failed)
    assert heard.becoming is None
    assert (yard.build.answer, state_of_build(yard.build)) == (failed, BuildState.FAILED)
    assert yard.site.store.current() == {}


def test_nobody_answers_for_another(yard: Yard) -> None:
    """The queue says who speaks, never the text; and nobody is heard who was removed."""
    request = yard.asked().request
    yard.builder("smith").answer(said_to_bytes(built(request, builder="mason")))
    yard.builder("smith").answer(b"\x1f\x8b garbage")
    found = yard.site.collect()
    assert (found.builds, found.strange) == ((), {"smith": 2})
    yard.builder("mason").answer(said_to_bytes(built(request, builder="mason")))
    with yard.site.store.writing() as session:
        session.remove_builder("mason")
    assert yard.site.collect().builds == ()
    assert yard.build.answer is None


_ITSELF = {
    "name": "web",
    "version": "1",
    "requires": ["http"],
    "provides": [{"name": "http", "scope": "node"}],
}
_EVERY = _ITSELF | {"requires": [{"name": "http", "from": "every"}]}


@pytest.mark.parametrize("unfit", [_ITSELF, _EVERY, {"name": "web"}, {"name": "Web!", "version": "1"}])
def test_a_manifest_that_cannot_stand_alone_ends_no_round(yard: Yard, unfit: dict[str, Any]) -> None:
    """One hostile builder keeps nobody else's answer from being heard."""
    request = yard.asked().request
    hostile = canonical_json(said_to_data(built(request)) | {"module": unfit}).encode()
    with pytest.raises(WireError):
        read_builder(hostile)
    assert yard.builder("smith").answer(hostile) == Confirmed()
    assert yard.builder("mason").answer(said_to_bytes(built(request, builder="mason"))) == Confirmed()
    found = yard.site.collect()
    assert ([heard.said.builder for heard in found.builds], found.strange) == (["mason"], {"smith": 1})


def test_what_no_store_can_hold_ends_no_round(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is with reports: whatever else the store refuses is told as strange, and is not there again."""

    def refuse(_answer: object) -> str:
        raise ValueError("it does not read as it was written")

    request = yard.asked().request
    with monkeypatch.context() as patch:
        patch.setattr("mesh_adapters.store.building.document_of_answer", refuse)
        yard.builder("smith").answer(said_to_bytes(built(request)))
        assert yard.site.collect().strange == {"smith": 1}
    assert yard.build.answer is None
    assert yard.site.collect().strange == {}


def test_a_manifest_of_another_module_is_a_failure(yard: Yard) -> None:
    request = yard.asked().request
    yard.says(built(request, {"name": "sshd", "version": "6"}))
    assert isinstance(yard.build.answer, Failed)
    assert (yard.build.answer.step, yard.site.store.current()) == (Step.MANIFEST, {})


def test_what_would_leave_a_node_refused_is_held_until_somebody_says_so(yard: Yard) -> None:
    """> A built manifest that would leave a planned node refused, or move an answer, does not become current
    > by itself: it is *held*
    """
    yard.site.has([WEB], [{"name": "pi", "assign": ["web"]}])
    needy = WEB | {"requires": ["nothing-provides-it"], "version": "2"}
    (heard,) = yard.says(built(yard.asked().request, needy))
    assert isinstance(heard.becoming, Holds)
    store = yard.site.store
    assert store.held() == {"web": yard.build}
    assert (store.current()["web"].origin, store.mesh().catalogue.modules[0].version) == (HANDED, "1")
    yard.site.has([WEB | {"version": "3"}], [])
    assert store.held() == {}, "something else has taken the name's place"


def test_a_build_that_was_overtaken_stays_on_record(yard: Yard) -> None:
    early = yard.asked().request
    yard.saw(TWO)
    late = yard.asked().request
    yard.says(built(late, WEB | {"version": "2"}))
    (heard,) = yard.says(built(early))
    assert heard.becoming == Overtaken(by=late.id)
    assert yard.site.store.current()["web"].manifest.version == "2"
    assert len(yard.site.store.puts("web")) == 1


def test_a_cancelled_build_is_answered_in_vain(yard: Yard) -> None:
    """> Cancelling a running build lets it end and drops its answer."""
    request = yard.asked().request
    with yard.site.store.writing() as session:
        assert session.cancel(request.id, AT)
    assert yard.says(built(request)) == ()
    assert yard.site.store.current() == {}
    assert yard.send().confirmed == (), "nor is it sent"


def test_a_request_that_was_purged_comes_again(yard: Yard) -> None:
    """> A request purged from the queue comes again."""
    build = yard.asked()
    yard.send()
    yard.took(yard.builder())  # somebody took it away, and says nothing
    assert yard.send(SETTLED - 1).confirmed == ()
    assert yard.send(SETTLED).confirmed == (build.request.id,)
    assert yard.took(yard.builder()) == build.request


def test_what_waits_is_not_sent_again(yard: Yard) -> None:
    yard.asked()
    yard.send()
    assert yard.send(10 * SETTLED).confirmed == ()
    assert yard.site.broker.requests_waiting() == 1


def test_what_is_given_up_is_a_failure(yard: Yard) -> None:
    """> a dead or undecodable request becomes a failed answer"""
    request = yard.asked().request
    yard.send()
    for _ in range(4):
        builder = yard.builder()
        assert builder.take(0) is not None
        builder.close()
    assert yard.builder().take(0) is None
    yard.site.collect()
    answer = yard.build.answer
    assert isinstance(answer, Failed)
    assert (answer.request, answer.builder, answer.step) == (request.id, None, Step.REQUEST)


def test_asking_again_is_another_build_of_the_same(yard: Yard) -> None:
    first = yard.asked()
    yard.says(built(first.request))
    with yard.site.store.writing() as session:
        again = ask_again(session, first, yard.by()).build
    assert again is not None
    assert again.number > first.number
    assert evolve(again.request, id=first.request.id) == first.request
