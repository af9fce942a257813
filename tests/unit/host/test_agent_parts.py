"""The parts of the daemon that decide: what came, what is told, and which machine this is."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.host.agent.arriving import Known, New, Refusal, judge
from mesh_adapters.host.agent.desk import Desk, Mail
from mesh_adapters.host.agent.identity import machine_id
from mesh_adapters.host.agent.reporting import Speaker, Standing, report_of, still_here
from mesh_adapters.host.agent.saved import Saved
from mesh_adapters.host.overlay.keeping import Kept
from mesh_core import Capability
from mesh_core.canonical import canonical_json
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.model.said import Doing
from mesh_core.ports import SetAside, Strange
from mesh_core.reconcile import Taken
from mesh_core.wire.declaration import declaration_to_data, digest_of

ID = "0123456789abcdef" * 2
WEB = DeclaredModule(name="web", version="1")


def declared(generation: int, *, node: str = "pi", **more: Any) -> tuple[bytes, Taken]:
    """A declaration's bytes, and what it is."""
    told = Declaration(node=node, generation=generation, **{"modules": [WEB], **more})
    content = canonical_json(declaration_to_data(told)).encode()
    return content, Taken(node=node, generation=generation, digest=digest_of(told))


CONTENT, TAKEN = declared(43)
NEWER, NEWER_TAKEN = declared(44)


def test_what_is_newer_is_new_and_what_is_kept_is_known() -> None:
    assert judge(CONTENT, "pi", None) == New(taken=TAKEN)
    assert judge(NEWER, "pi", TAKEN) == New(taken=NEWER_TAKEN)
    assert judge(CONTENT, "pi", TAKEN) == Known(taken=TAKEN)


def test_what_was_kept_for_another_node_is_no_measure() -> None:
    assert judge(CONTENT, "pi", evolve(NEWER_TAKEN, node="nas")) == New(taken=TAKEN)


@pytest.mark.parametrize(
    ("content", "generation", "lasting"),
    [
        (CONTENT, 43, False),
        (declared(44, modules=[])[0], 44, True),
        (declared(44, node="nas")[0], 44, False),
        (declared(45, node="nas")[0], 45, False),
        (b"{}", None, False),
        (NEWER[:-5], None, False),
        (SetAside(why=Strange.TOO_LARGE, size=9_000_000), None, False),
        (SetAside(why=Strange.COPIED, size=5), None, False),
        (SetAside(why=Strange.UNSIGNED, size=5), None, False),
    ],
)
def test_what_is_refused_tells_its_generation_and_whether_it_lasts(
    content: bytes | SetAside, generation: int | None, lasting: bool
) -> None:
    refused = judge(content, "pi", NEWER_TAKEN if content == CONTENT else TAKEN)
    assert isinstance(refused, Refusal)
    assert (refused.generation, refused.lasting) == (generation, lasting)
    assert refused.why


def test_another_one_of_a_generation_that_is_kept_is_refused_for_good() -> None:
    other, _ = declared(43, modules=[evolve(WEB, version="2")])
    refused = judge(other, "pi", TAKEN)
    assert isinstance(refused, Refusal)
    assert (refused.generation, refused.lasting) == (43, True)


def test_whatever_reading_it_brings_about_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_content: bytes) -> None:
        raise KeyError("a bug")

    monkeypatch.setattr("mesh_adapters.host.agent.arriving.received", broken)
    assert judge(CONTENT, "pi", None) == Refusal(
        why=("what came is no declaration: reading it ended with KeyError",)
    )


def action(**more: Any) -> dict[str, Any]:
    return {
        "action": "make",
        "identity": "path:/etc/motd",
        "kind": "file",
        "modules": ["web"],
        "because": [],
        "changes": [],
        "was_there": True,
        "outcome": "done",
        **more,
    }


def status(*actions: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "node": "pi",
        "generation": 43,
        "state": "applied",
        "actions": list(actions),
        "troubles": [],
        "checks": [],
        **more,
    }


SPEAKER = Speaker(node="pi", machine=ID, capabilities=(Capability(name="kvm", present=True),))
FAILED = action(outcome="failed", why="Permission denied")
PASSED = {"module": "web", "kind": "http", "passed": True, "detail": "200"}


@pytest.mark.parametrize(
    ("ended", "doing"),
    [
        (None, Doing.APPLYING),
        (status(), Doing.APPLIED),
        (status(action()), Doing.APPLIED),
        (status(generation=42), Doing.APPLYING),
        (status(FAILED, state="failed"), Doing.FAILED),
        (status(action(action="put-back")), Doing.DRIFTED),
        (status(action(action="leave")), Doing.DRIFTED),
        (status(action(action="remove", outcome="left", why="it is a directory now")), Doing.DRIFTED),
        (status(action(action="put-back", outcome="failed", why="busy"), state="failed"), Doing.FAILED),
        (status(action(action="put-back"), FAILED, state="failed"), Doing.FAILED),
    ],
)
def test_how_it_stands_is_how_the_last_run_ended(ended: dict[str, Any] | None, doing: Doing) -> None:
    report = report_of(SPEAKER, Standing(generation=43, status=ended, modules=["web"]))
    assert report.doing is doing
    assert (report.node, report.machine, report.generation) == ("pi", ID, 43)
    assert report.applied == (None if ended is None else ended["generation"])
    assert report.modules == ("web",)
    assert report.capabilities == SPEAKER.capabilities


def test_where_nothing_was_ever_declared_all_is_as_declared() -> None:
    report = report_of(SPEAKER, Standing())
    assert (report.doing, report.generation, report.applied) == (Doing.APPLIED, None, None)


@pytest.mark.parametrize(
    ("checks", "healthy"),
    [([], None), ([PASSED], True), ([PASSED, PASSED | {"passed": False}], False)],
)
def test_health_is_whether_all_checks_pass(checks: list[dict[str, Any]], healthy: bool | None) -> None:
    report = report_of(SPEAKER, Standing(generation=43, status=status(checks=checks)))
    assert report.healthy is healthy
    assert report.doing is Doing.APPLIED


def test_a_refusal_goes_before_everything_and_its_words_come_first() -> None:
    standing = Standing(generation=43, status=status(FAILED, state="failed"))
    refusal = Refusal(generation=44, why=("it says nothing at all",), lasting=True)
    report = report_of(SPEAKER, standing, refusal=refusal)
    assert (report.doing, report.generation, report.applied, report.refused) == (Doing.REFUSED, 43, 43, 44)
    assert report.why == (
        "it says nothing at all",
        "file /etc/motd: Permission denied; the rest is applied",
    )


def test_which_modules_are_not_wholly_as_declared_is_said() -> None:
    """What was left out because this is no running machine is no failure of a module."""
    trouble = {"identity": "path:/opt/web", "kind": "tree", "modules": ["shop"], "why": "status 401"}
    troubles = [trouble | {"elsewhere": False}, trouble | {"modules": ["bar"], "elsewhere": True}]
    ended = status(FAILED | {"modules": ["web", "motd"]}, action(), state="failed", troubles=troubles)
    report = report_of(SPEAKER, Standing(generation=43, status=ended, modules=["web"]))
    assert report.failed == ("motd", "shop", "web")


def test_a_network_that_could_not_be_made_is_a_part_that_failed() -> None:
    standing = Standing(generation=43, status=status(action()))
    report = report_of(SPEAKER, standing, network=Kept(failed=["no wg"], notes=["and a note"]))
    assert (report.doing, report.why) == (Doing.FAILED, ("no wg", "and a note"))
    assert report_of(SPEAKER, standing, network=Kept(put_right=True)).doing is Doing.DRIFTED
    under_way = Standing(generation=44, status=status(action()))
    assert report_of(SPEAKER, under_way, network=Kept(failed=["no wg"])).doing is Doing.APPLYING


def test_what_kept_it_from_anything_is_a_failure() -> None:
    report = report_of(SPEAKER, Standing(generation=43, status=status()), trouble="the journal is damaged")
    assert (report.doing, report.why) == (Doing.FAILED, ("the journal is damaged",))


def test_the_modules_of_the_one_before_stay_until_all_of_it_is_off() -> None:
    assert still_here(["a", "b"], ["b", "c"], something_left=True) == ["a", "b", "c"]
    assert still_here(["a", "b"], ["b", "c"], something_left=False) == ["b", "c"]


def test_the_system_says_which_machine_it_is(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/machine-id").write_text(f"{ID}\n")
    assert machine_id(tmp_path, tmp_path / "state") == ID
    assert not (tmp_path / "state").exists()


@pytest.mark.parametrize("content", [None, "", "uninitialized\n", ID[:-1], ID.upper()])
def test_a_machine_without_an_id_gets_one_that_stays(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "etc").mkdir()
    if content is not None:
        (tmp_path / "etc/machine-id").write_text(content)
    made = machine_id(tmp_path, tmp_path / "state")
    assert re.fullmatch("[0-9a-f]{32}", made)
    assert machine_id(tmp_path, tmp_path / "state") == made
    assert machine_id(tmp_path, tmp_path / "other") != made


def test_what_came_holds_once_it_was_taken(tmp_path: Path) -> None:
    saved = Saved(tmp_path, "pi")
    assert (saved.newest(), saved.came(), saved.holds()) == (None, None, None)
    saved.keep(CONTENT, TAKEN)
    assert (saved.newest(), saved.came(), saved.holds()) == (TAKEN, CONTENT, None)
    assert saved.something_came
    assert (saved.settle(CONTENT), saved.something_came) == (True, False)
    assert (saved.newest(), saved.came(), saved.holds()) == (TAKEN, None, CONTENT)
    assert not saved.settle(CONTENT), "it holds already"
    again = Saved(tmp_path, "pi")
    assert (again.newest(), again.holding(), again.holds()) == (TAKEN, TAKEN, CONTENT)


def test_what_came_meanwhile_is_not_lost_with_what_was_looked_at(tmp_path: Path) -> None:
    saved = Saved(tmp_path, "pi")
    saved.keep(CONTENT, TAKEN)
    saved.keep(NEWER, NEWER_TAKEN)
    saved.drop(CONTENT)
    assert saved.came() == NEWER
    assert saved.settle(CONTENT)
    assert (saved.came(), saved.holds(), saved.newest()) == (NEWER, CONTENT, NEWER_TAKEN)
    saved.drop(NEWER)
    assert (saved.came(), saved.holds(), saved.newest()) == (None, CONTENT, TAKEN)
    assert [path.name for path in tmp_path.iterdir()] == ["declaration.json"]


def test_the_desk_keeps_what_matters_of_what_came() -> None:
    desk, refusal = Desk(), Refusal(why=("no",))
    assert desk.mail() == Mail()
    desk.deliver(New(taken=TAKEN))
    desk.deliver(refusal)
    assert desk.wait(0)
    assert desk.mail() == Mail(declaration=True, refusal=refusal)
    assert not desk.wait(0)
    desk.deliver(refusal)
    desk.deliver(Known(taken=TAKEN))
    assert desk.mail() == Mail(declaration=True, known=TAKEN), "what came last was taken"


def test_a_report_that_came_while_one_was_sent_is_still_to_be_sent() -> None:
    desk = Desk()
    one, two = lambda: b"one", lambda: b"two"
    desk.say(one)
    sent = desk.to_say()
    assert sent is not None
    desk.say(two)
    desk.said(sent)
    assert desk.to_say() is two
    desk.said(two)
    assert desk.to_say() is None
