"""What comes is saved before it is acknowledged; what is refused changes nothing and replaces nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mesh_adapters.broker import memory
from mesh_adapters.broker.memory import MemoryDelivery
from mesh_adapters.host.agent import saved
from mesh_adapters.host.agent.saved import Saved
from mesh_adapters.host.files import Files
from mesh_core.model.said import Doing
from mesh_core.ports import DECLARATION_LIMIT
from mesh_core.reconcile import Taken
from mesh_core.wire.declaration import received
from tests.integration.host.agent.rig import Killed, Rig
from tests.integration.host.world import declaration, file, shown

MANY = declaration(43, [file(f"/etc/{name}") for name in "abcdefgh"])
ONE = declaration(43, [file("/etc/a")])
TWO = declaration(44, [file("/etc/a", "theirs\n")], [file("/etc/b")])


def on_the_machine(rig: Rig) -> dict[str, Any]:
    return {path: what for path, what in shown(rig.root).items() if not path.startswith("/var")}


def test_a_declaration_is_applied_kept_and_reported(rig: Rig) -> None:
    report = rig.once(ONE)
    assert (report.generation, report.applied, report.doing) == (43, 43, Doing.APPLIED)
    assert report.modules == ("m0",)
    assert rig.holds.read_bytes() == ONE
    assert not rig.came.exists()
    assert (rig.root / "etc/a").read_text() == "ours\n"
    assert rig.heard()[0] == report
    assert not rig.waits


def test_it_lasts_before_it_is_acknowledged(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[bytes] = []
    ack = MemoryDelivery.ack

    def looked(self: MemoryDelivery) -> None:
        kept.extend(place.read_bytes() for place in (rig.came, rig.holds) if place.exists())
        ack(self)

    monkeypatch.setattr(MemoryDelivery, "ack", looked)
    rig.once(ONE)
    assert kept == [ONE]
    rig.once(TWO)
    assert kept == [ONE, TWO, ONE]


def test_what_cannot_be_saved_stays_with_the_broker(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.once(ONE)

    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(saved, "write_whole", full)
        report = rig.once(TWO)
    assert (report.generation, report.doing) == (43, Doing.APPLIED)
    assert rig.holds.read_bytes() == ONE
    assert rig.said == ["what came cannot be saved, and stays with the broker: No space left on device"]
    assert rig.waits
    assert rig.once().applied == 44


def dying(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, *, after: bool) -> None:
    """The process ends before that is done, or right after it."""
    really: Callable[..., Any] = getattr(owner, name)

    def ended(*given: Any, **more: Any) -> Any:
        if after:
            really(*given, **more)
        raise Killed

    monkeypatch.setattr(owner, name, ended)


POINTS = [(Saved, "keep"), (MemoryDelivery, "ack"), (Saved, "settle"), (Files, "write_soon")]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("owner", "name"), POINTS)
def test_whoever_is_killed_anywhere_goes_on(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, after: bool
) -> None:
    rig.once(ONE)
    with monkeypatch.context() as patched:
        dying(patched, owner, name, after=after)
        with pytest.raises(Killed):
            rig.once(TWO)
    report = rig.once()
    assert (report.generation, report.applied, report.doing) == (44, 44, Doing.APPLIED)
    assert report.modules == ("m0", "m1")
    assert rig.holds.read_bytes() == TWO
    assert not rig.came.exists()
    assert not rig.waits
    assert on_the_machine(rig).keys() == {"/etc", "/etc/a", "/etc/b"}
    rig.once(declaration(45))
    assert on_the_machine(rig) == {}


def test_killed_between_saving_and_acknowledging_nothing_is_done_twice(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        dying(patched, MemoryDelivery, "ack", after=False)
        with pytest.raises(Killed):
            rig.once(ONE)
    assert rig.waits
    rig.once()
    made = (rig.root / "etc/a").stat()
    rig.once(ONE)
    again = (rig.root / "etc/a").stat()
    assert (made.st_ino, made.st_mtime_ns) == (again.st_ino, again.st_mtime_ns)


def test_what_was_saved_and_not_looked_at_is_taken_though_the_broker_is_away(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        dying(patched, MemoryDelivery, "ack", after=True)
        with pytest.raises(Killed):
            rig.once(ONE)
    rig.unreachable()
    assert rig.once().applied == 43


OTHER_NODE = declaration(50, [file("/etc/a")], node="nas")
REFUSED = [
    (b"garbage", None, "what came is no declaration: $: no JSON"),
    (b"", None, "what came is no declaration: $: it is empty"),
    (MANY[:-40], None, "what came is no declaration"),
    (b" " * (DECLARATION_LIMIT + 1), None, "larger than a declaration may be"),
    (OTHER_NODE, 50, "it is for the node nas, and this machine is pi"),
    (declaration(42, [file("/etc/z")]), 42, "it is of generation 42, and 43 was taken before"),
    (TWO.replace(b'"generation":44', b'"generation":45'), None, "it was cut or changed on its way"),
    (declaration(43, [file("/etc/z")]), 43, "another declaration of generation 43 was taken before"),
    (declaration(44, allow_removals=True, empty=False), 44, "generation 44 says nothing at all"),
    (declaration(44, [file("/etc/a")], allow_removals=False), 44, "it takes off 7 of the 8 things"),
]


def sent_past_the_limit(rig: Rig, body: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(memory, "too_large", lambda *_given: None)
        rig.send(body)


@pytest.mark.parametrize(("body", "generation", "why"), REFUSED)
def test_what_is_refused_changes_nothing_and_is_told(
    rig: Rig, monkeypatch: pytest.MonkeyPatch, body: bytes, generation: int | None, why: str
) -> None:
    rig.once(MANY)
    machine = on_the_machine(rig)
    sent_past_the_limit(rig, body, monkeypatch)
    agent = rig.agent()
    agent.once()
    told = [report for report in rig.reports if report.doing is Doing.REFUSED]
    assert told, rig.reports
    assert (told[0].generation, told[0].applied, told[0].refused) == (43, 43, generation)
    assert why in told[0].why[0]
    assert told[0].modules == ("m0",)
    assert on_the_machine(rig) == machine
    assert rig.holds.read_bytes() == MANY
    assert not rig.came.exists()
    assert not rig.waits
    assert f"refused: {told[0].why[0]}" in rig.said
    assert rig.once().doing is Doing.APPLIED


def test_a_host_that_has_nothing_refuses_too(rig: Rig) -> None:
    report = rig.once(b"garbage")
    assert (report.generation, report.doing, report.refused) == (None, Doing.REFUSED, None)
    assert not rig.holds.exists()
    assert rig.once(OTHER_NODE).refused == 50
    assert rig.once(declaration(1, empty=False)).refused == 1
    assert shown(rig.root).keys() <= {"/var", *(path for path in shown(rig.root) if path.startswith("/var"))}


def test_an_older_one_never_takes_the_place_of_one_that_was_saved(rig: Rig) -> None:
    """Not even where the journal does not know of the newer one yet."""
    keeping = Saved(rig.holds.parent, "pi")
    rig.holds.parent.mkdir(parents=True)
    keeping.keep(TWO, taken_of(TWO))
    report = rig.once(ONE)
    assert (report.generation, rig.holds.read_bytes()) == (44, TWO)


def taken_of(content: bytes) -> Taken:
    read, digest = received(content)
    return Taken(node=read.node, generation=read.generation, digest=digest)


def test_a_saved_declaration_that_is_damaged_changes_nothing_and_is_told(rig: Rig) -> None:
    rig.once(ONE)
    rig.holds.write_bytes(ONE[:-9])
    report = rig.once()
    assert report.doing is Doing.REFUSED
    assert report.why[0].startswith("of the declaration that is kept here: what came is no declaration")
    assert (rig.root / "etc/a").exists()
    assert rig.once(ONE).doing is Doing.APPLIED
    assert rig.holds.read_bytes() == ONE


def test_one_that_came_and_was_damaged_since_is_dropped(rig: Rig) -> None:
    rig.once(ONE)
    Saved(rig.holds.parent, "pi").keep(TWO, taken_of(TWO))
    rig.came.write_bytes(TWO[:-9])
    assert rig.once().applied == 43
    assert not rig.came.exists()
    assert rig.once(TWO).applied == 44


def test_what_holds_for_another_node_is_not_gone_by(rig: Rig) -> None:
    """As after joining anew, under another name."""
    rig.holds.parent.mkdir(parents=True)
    rig.holds.write_bytes(declaration(7, [file("/etc/z")], node="nas"))
    report = rig.once()
    assert report.generation is None
    assert not (rig.root / "etc").exists()
    assert rig.once(ONE).applied == 43
