"""What a host says: one sentence for each act and outcome, and for each reason not to take a declaration."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from mesh_core.explain.host import (
    CheckTold,
    Outcome,
    Told,
    Untouched,
    action_cells,
    before,
    changes,
    check_cells,
    forgotten,
    health,
    left_out,
    reason,
    summary,
    thing,
    told_from_data,
    untouched_cells,
)
from mesh_core.explain.taking import not_taken, not_taken_to_data
from mesh_core.reconcile import (
    Act,
    EmptyWithoutWord,
    Fact,
    ForAnotherNode,
    NotTaken,
    OlderGeneration,
    SameGeneration,
    State,
    TooManyRemovals,
)

ANEW = "`mesh-host forget --everything` lets it be another"


def told(act: Act, identity: str = "path:/etc/motd", kind: str = "file", **more: Any) -> Told:
    return Told(act=act, identity=identity, kind=kind, **more)


@pytest.mark.parametrize(
    ("one", "first", "phrase"),
    [
        (told(Act.MAKE, "package:zsh", "package"), "+ package zsh", ""),
        (told(Act.MAKE), "+ file /etc/motd", ""),
        (told(Act.MAKE, was_there=True), "+ file /etc/motd", "what was there is remembered"),
        (
            told(Act.MAKE, "service:web", "service", was_there=True, changes=["running no -> yes"]),
            "+ service web",
            "running no -> yes",
        ),
        (told(Act.ADOPT), "= file /etc/motd", "was so before, and stays when the mesh lets go"),
        (
            told(Act.CHANGE, was_there=True, changes=["mode 0644 -> 0600"]),
            "~ file /etc/motd",
            "mode 0644 -> 0600",
        ),
        (told(Act.CHANGE), "+ file /etc/motd", ""),
        (told(Act.PUT_BACK, was_there=True), "~ file /etc/motd", "put back: edited by hand"),
        (told(Act.PUT_BACK), "~ file /etc/motd", "put back: somebody took it away"),
        (
            told(Act.PUT_BACK, was_there=True, changes=["mode 0666 -> 0644"]),
            "~ file /etc/motd",
            "put back: changed by hand (mode 0666 -> 0644)",
        ),
        (
            told(Act.PUT_BACK, "service:web", "service", was_there=True),
            "~ service web",
            "put back: changed by hand",
        ),
        (
            told(Act.REFRESH, "service:web", "service", because=["path:/etc/a", "package:b"]),
            "~ service web",
            "takes notice: /etc/a and package b changed",
        ),
        (told(Act.REFRESH, "service:web", "service"), "~ service web", "takes notice: a file changed"),
        (told(Act.CONFIRM), "= file /etc/motd", "is so; the journal learns it"),
        (told(Act.REMOVE), "- file /etc/motd", "no longer declared"),
        (told(Act.RESTORE), "- file /etc/motd", "no longer declared: what was there before comes back"),
        (told(Act.RELEASE), "= file /etc/motd", "no longer declared, and as it was before the mesh"),
        (
            told(Act.LEAVE, was_there=True),
            "= file /etc/motd",
            "no longer declared, and stays: edited by hand",
        ),
        (told(Act.SWEEP), "- file /etc/motd", "came along with something that is gone"),
        (
            told(Act.MAKE, outcome=Outcome.FAILED, why="No space left"),
            "! file /etc/motd",
            "failed: No space left",
        ),
        (
            told(Act.SWEEP, outcome=Outcome.STILL_NEEDED, why="/srv is not empty"),
            "= file /etc/motd",
            "stays, since it is still needed: /srv is not empty",
        ),
        (
            told(Act.REMOVE, outcome=Outcome.LEFT, why="/srv is not empty"),
            "= file /etc/motd",
            "stays, and is the mesh's no more: /srv is not empty",
        ),
        (told(Act.MAKE, outcome=Outcome.DONE, notes=["a note", "more"]), "+ file /etc/motd", "a note; more"),
        (told(Act.REMOVE, outcome=Outcome.DONE), "- file /etc/motd", "no longer declared"),
    ],
)
def test_each_act_and_each_outcome_has_its_words(one: Told, first: str, phrase: str) -> None:
    assert action_cells(one) == (first, phrase, "")
    assert action_cells(evolve(one, modules=["a", "b"]))[2] == "for a and b"


@pytest.mark.parametrize("act", Act)
@pytest.mark.parametrize("outcome", [None, *Outcome])
def test_no_act_is_without_words(act: Act, outcome: Outcome | None) -> None:
    first, _, _ = action_cells(told(act, outcome=outcome, why="why"))
    assert first[1:] == " file /etc/motd"
    counted = summary([told(act, outcome=outcome, why="why")], [], [], generation=1)
    confirmed = act is Act.CONFIRM and outcome is not Outcome.FAILED
    needed_on = act is Act.SWEEP and outcome is Outcome.STILL_NEEDED
    assert counted.startswith("nothing to do") == (confirmed or needed_on), "nobody wants to hear of these"


def test_the_facts_that_change() -> None:
    then: dict[str, Fact] = {"mode": "0644", "owner": "root", "sha256": "a", "running": False}
    now: dict[str, Fact] = {"mode": "0600", "owner": "root", "sha256": "b", "running": True, "new": 1}
    was, will = State(facts=then), State(facts=now)
    assert changes(was, will) == ("mode 0644 -> 0600", "running no -> yes")
    assert changes(None, will) == changes(was, None) == ()


def test_the_sum() -> None:
    made = [told(Act.MAKE, outcome=Outcome.DONE)] * 5
    more = [told(Act.PUT_BACK, outcome=Outcome.DONE), told(Act.MAKE, outcome=Outcome.FAILED, why="x")]
    checks = [CheckTold(module="web", kind="tcp", passed=True, detail="")] * 2
    assert summary([*made, *more], [], checks, generation=43) == (
        "5 made, 1 put back, 1 failed; web: 2 of 2 checks pass"
    )
    assert summary([], [], [], generation=43) == "nothing to do: everything is as generation 43 says"
    confirm = told(Act.CONFIRM, outcome=Outcome.DONE)
    assert summary([confirm], [], [], generation=43).startswith("nothing to do")


def test_the_sum_of_what_would_be_done() -> None:
    dry = [told(Act.MAKE), told(Act.REMOVE), told(Act.SWEEP)]
    assert summary(dry, [], [], generation=43, dry=True) == (
        "1 to make, 1 to remove, 1 to go along, if nothing else needs it; nothing was changed: --dry-run"
    )
    nothing = summary([], [], [], generation=43, dry=True)
    assert nothing == "nothing to do: everything is as generation 43 says"


def test_what_was_not_touched_and_what_was_left_out() -> None:
    unknown = Untouched(identity="thing:x", kind="thing", modules=["web"], why="no such kind")
    assert untouched_cells(unknown) == ("! thing x", "not touched: no such kind", "for web")
    away = [
        Untouched(identity=f"{kind}:{name}", kind=kind, why="", elsewhere=True)
        for kind, name in [
            ("service", "a"),
            ("package", "b"),
            ("package", "c"),
            ("service", "d"),
            ("package", "e"),
        ]
    ]
    assert left_out(away) == "3 packages and 2 services are only for a running machine: left out"
    assert left_out(away[:1]) == "1 service is only for a running machine: left out"
    assert left_out([unknown]) is None
    assert summary([], [unknown, *away], [], generation=2) == "1 not touched"
    assert summary([], away, [], generation=2) == "nothing to do: the rest is as generation 2 says"


def test_checks() -> None:
    checks = [
        CheckTold(module="web", kind="tcp", passed=True, detail="it answers"),
        CheckTold(module="db", kind="tcp", passed=True, detail="it answers"),
        CheckTold(module="web", kind="http", passed=False, detail="500"),
    ]
    assert health(checks) == ("web: 1 of 2 checks pass", "db: 1 of 1 check passes")
    assert check_cells(checks[2]) == ("! check http", "does not pass: 500", "for web")


@pytest.mark.parametrize(
    ("why", "cause", "would_do", "data"),
    [
        (
            ForAnotherNode(node="nas", this="pi"),
            "it is for the node nas, and this machine is pi",
            f"`mesh declare pi` says what this one is to be; {ANEW}",
            {"code": "for-another-node", "node": "nas", "this": "pi"},
        ),
        (
            OlderGeneration(generation=41, taken=43),
            "it is of generation 41, and 43 was taken before",
            "one of generation 44 or newer would be taken",
            {"code": "older-generation", "generation": 41, "taken": 43},
        ),
        (
            SameGeneration(generation=43),
            "another declaration of generation 43 was taken before",
            "one of generation 44 or newer would be taken",
            {"code": "same-generation", "generation": 43},
        ),
        (
            EmptyWithoutWord(generation=43),
            "generation 43 says nothing at all, and not that this is meant",
            'if the machine is to give everything back, it has to say "empty": true',
            {"code": "empty-without-word", "generation": 43},
        ),
        (
            TooManyRemovals(generation=43, owned=8, most=1, going=("path:/a", "package:b")),
            "it takes off 2 of the 8 things that the mesh has here: /a, package b",
            'at most 1 go at once; if all are to go, it has to say "allow_removals": true',
            {
                "code": "too-many-removals",
                "generation": 43,
                "owned": 8,
                "most": 1,
                "going": ["path:/a", "package:b"],
            },
        ),
    ],
)
def test_why_a_declaration_is_not_taken(
    why: NotTaken, cause: str, would_do: str, data: dict[str, Any]
) -> None:
    assert not_taken(why) == (cause, would_do)
    assert not_taken_to_data(why) == data


def test_what_is_owned() -> None:
    assert thing("package:a:b", "package") == "package a:b"
    assert before("file", None) == "nothing was there before"
    there = State(facts={"type": "file", "mode": "0644", "sha256": "x"})
    assert before("file", there) == "a file was there before (mode 0644)"
    assert before("package", State(facts={"installed": True})) == "a package was there before (installed yes)"
    assert reason("declared", ["a", "b"], in_flight=False) == "declared by a and b"
    assert reason("came-along", [], in_flight=True) == "came along with something; not finished"
    assert reason("going", [], in_flight=False) == "no longer declared, and not off yet"
    assert forgotten(["path:/a"]) == "/a is no longer the mesh's, and stays as it is"
    assert forgotten(["path:/a", "package:b"]) == (
        "/a, package b are no longer the mesh's, and stay as they are"
    )


def test_an_action_is_read_from_plain_data() -> None:
    data = {
        "action": "make",
        "identity": "path:/a",
        "kind": "file",
        "modules": ["web"],
        "because": [],
        "changes": [],
        "was_there": False,
    }
    assert told_from_data(data) == told(Act.MAKE, "path:/a", modules=["web"])
    failed = told_from_data(data | {"outcome": "failed", "why": "full"})
    assert (failed.outcome, failed.why) == (Outcome.FAILED, "full")
    assert told_from_data(data | {"outcome": "done", "notes": ["n"]}).notes == ("n",)
