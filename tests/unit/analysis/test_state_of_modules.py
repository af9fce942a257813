"""How it stands with every module: which machines run it is what they said, never what they were sent."""

from mesh_core import Mesh, Module, Requirement
from mesh_core.analysis.ladder import Rung, Whose, ladder
from mesh_core.analysis.state_of_modules import Records, Running, states_of_modules
from mesh_core.delivery import Delivery
from mesh_core.model.build import Build, Request
from mesh_core.model.catalogue import Catalogue
from mesh_core.model.origin import HANDED, Put
from mesh_core.model.recipe import Files
from mesh_core.model.said import Report
from mesh_core.model.sent import Sent, Standing
from mesh_core.model.source import Source
from mesh_core.wire.declaration import on_machine

WEB = Module(name="web", version="1")
SOURCE = Source(repository="https://git.example/web")
MESH = Mesh(catalogue=Catalogue(modules=[WEB]), sources={"shop": SOURCE})
PUT = Put(number=1, manifest=WEB, digest="", origin=HANDED, at="2026-12-01T22:20:02Z", current=True)
NEW = on_machine(WEB)
RECORDS = Records(current={"web": PUT}, heads={}, held={})


def sent(generation: int, digest: str) -> Sent:
    return Sent(
        node="pi", generation=generation, fingerprint="", modules=["web"], manifests=[("web", digest)]
    )


def standing(**said: object) -> Standing:
    report = Report(node="pi", machine="m", generation=2, **said)  # type: ignore[arg-type]
    return Standing(node="pi", last=2, sent=(sent(1, "old"), sent(2, NEW)), report=report)


def test_what_a_machine_runs_is_what_it_reported_not_what_it_was_sent() -> None:
    """> which machines run it - by what they last reported, not by what was sent"""
    half_way = standing(applied=1, modules=["web"])
    assert states_of_modules(MESH, RECORDS, [half_way])["web"].on == (
        Running(node="pi", digest="old", current=False),
    )
    done = standing(applied=2, modules=["web"])
    assert states_of_modules(MESH, RECORDS, [done])["web"].on == (
        Running(node="pi", digest=NEW, current=True),
    )
    gone = standing(applied=2, modules=[])
    assert states_of_modules(MESH, RECORDS, [gone])["web"].on == ()


def test_a_machine_that_was_sent_it_and_said_nothing_does_not_run_it() -> None:
    silent = Standing(node="pi", last=1, sent=(sent(1, "new"),))
    assert states_of_modules(MESH, RECORDS, [silent])["web"].on == ()


def test_what_it_applied_by_hand_is_run_and_nobody_knows_which() -> None:
    by_hand = standing(applied=None, modules=["web"])
    assert states_of_modules(MESH, RECORDS, [by_hand])["web"].on == (
        Running(node="pi", digest=None, current=None),
    )


def test_what_could_not_all_be_made_so_is_run_by_nobody_for_certain() -> None:
    """A generation counts as applied with its failures: a module among them is not what it was sent."""
    failed = standing(applied=2, modules=["web"], failed=["web"])
    (web,) = states_of_modules(MESH, RECORDS, [failed])["web"].on
    assert web == Running(node="pi", digest=None, current=None, failed=True)
    whose = Whose(meant={"pi": frozenset(["web"])})
    (rung,) = ladder(states_of_modules(MESH, RECORDS, [failed])["web"], whose, {"pi": failed}, [PUT])
    assert (rung.rung, rung.runs) == (Rung.PENDING, None)


def test_a_name_with_a_source_alone_is_among_them() -> None:
    states = states_of_modules(MESH, RECORDS, ())
    assert [*states] == ["shop", "web"]
    assert (states["shop"].put, states["shop"].delivery) == (None, Delivery.NEVER_BUILT)
    assert (states["web"].put, states["web"].delivery) == (PUT, Delivery.NO_SOURCE)


def test_what_is_underway_is_the_newest_that_is_not_over() -> None:
    requests = [
        Request(id=letter * 12, module="shop", repository=SOURCE.repository, commit=letter * 40, ref="HEAD")
        for letter in "12"
    ]
    builds = tuple(
        Build(number=number, request=request, asked_at="", asked_by="")
        for number, request in enumerate(requests)
    )
    records = Records(current={}, heads={}, held={}, open_builds=builds)
    assert states_of_modules(MESH, records, ())["shop"].underway == builds[1]


def test_what_changes_nothing_on_a_machine_is_no_other_one() -> None:
    """A manifest that is built in another way, or asks for another thing, may be the same there."""
    rebuilt = Module(name="web", version="1", build=Files(), requires=[Requirement(name="shell")])
    assert on_machine(rebuilt) == NEW
    assert on_machine(Module(name="web", version="2")) != NEW
