"""Commands that change the mesh: what is told, what is refused, and what is recorded.

"A change that would leave a node refused that was not, or that moves an answer from one node to another,
lists what would happen to whom and is refused with exit 3 and nothing written, unless `--anyway`."
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from mesh_cli import wiring
from tests.integration.cli.program import (
    EXAMPLES,
    MESH,
    events,
    exported,
    mesh,
    node_entry,
    nothing_written,
    ok,
    rows,
    written,
)

SECOND_POSTGRES = {
    "format": 1,
    "nodes": [{"name": "vps", "capabilities": {"systemd": True}}, {"name": "pi", "pins": {}}],
}
"""A third machine that could run postgres as well, and pi without its pin: nas is the only one to offer."""


def database_of(store: Path, node: str) -> tuple[str, str]:
    """Where a node takes its database from, in the plan."""
    entry = ok("plan", node, "--json", "--store", store).json["nodes"][node]
    (answer,) = [answer for answer in entry["answers"] if answer["provision"] == "database"]
    return answer["node"], answer["module"]


@pytest.fixture
def third(store: Path) -> Path:
    """The example with a third machine, and no pin."""
    ok("import", "-", stdin=json.dumps(SECOND_POSTGRES))
    return store


def test_unassigning_what_others_take_from_is_refused(third: Path) -> None:
    with nothing_written(third):
        ran = mesh("unassign", "nas", "postgres")
        assert ran.code == 3
        assert ran.err.startswith("refused: mesh unassign nas postgres\n  1 node would be refused: pi\n")
        assert "web on pi needs 'database' (scope mesh), and no node runs a provider" in ran.err
        assert "pi -> web (assigned) -> requires database" in ran.err
        assert ran.err.endswith("\nnothing was recorded; --anyway records it all the same\n")
        error = mesh("unassign", "nas", "postgres", "--json").error
        assert error["code"] == "would-refuse-or-move"
        assert error["moves"] == []
        (refusal,) = error["refused"]
        assert refusal["node"] == "pi"
        assert [problem["code"] for problem in refusal["problems"]] == ["no-provider"]


def test_anyway_records_it_and_the_plan_says_so(third: Path) -> None:
    ran = mesh("unassign", "nas", "postgres", "--anyway")
    assert (ran.code, ran.err) == (0, "")
    assert "refused now: pi (`mesh plan` says why)" in ran.out
    assert node_entry(third, "nas")["assign"] == []
    assert mesh("plan").code == 3
    assert events(third)[0]["command"] == "mesh unassign nas postgres --anyway"
    ran = ok("assign", "vps", "postgres")
    assert "no longer refused: pi" in ran.out


def test_removing_a_node_that_others_take_from_is_refused(store: Path) -> None:
    with nothing_written(store):
        ran = mesh("node", "remove", "nas")
        assert ran.code == 3
        assert "1 node would be refused: pi" in ran.err
        assert "the pin of pi for 'database' at nas would go with it" in ran.err


def test_removing_a_node_takes_everything_of_it_and_every_pin_at_it(third: Path) -> None:
    """Promised: "removing a node takes its assignments, reports and pins with it, pins *at* it included
    (count rows in the test, not a join)."
    """
    ok("pin", "pi", "database", "nas/postgres")
    ok("pin", "vps", "database", "nas")
    assert {row[0] for row in rows(third)["pins"]} == {"pi", "vps"}
    ran = ok("node", "remove", "nas", "--anyway")
    assert "the pin of pi for 'database' went with it" in ran.out
    assert "the pin of vps for 'database' went with it" in ran.out
    after = rows(third)
    assert after["pins"] == []
    assert {row[0] for row in after["assignments"]} == {"pi"}
    assert {row[0] for row in after["capabilities"]} == {"vps"}
    assert {row[0] for row in after["nodes"]} == {"pi", "vps"}
    ok("node", "add", "nas")
    assert node_entry(third, "nas") == {"name": "nas", "assign": [], "pins": {}}, "and brings nothing back"


def test_an_answer_that_would_move_is_told_with_from_where_to_where(third: Path) -> None:
    """Part 8: a change that would move one "says who moves from where to where, and is refused"."""
    ok("assign", "vps", "postgres", "--keep")
    with nothing_written(third):
        ran = mesh("node", "remove", "nas")
        assert ran.code == 3
        assert "1 answer would move to another node or module:" in ran.err
        assert "pi takes 'database' from vps (postgres) instead of nas (postgres)" in ran.err
        (move,) = mesh("node", "remove", "nas", "--json").error["moves"]
        assert move == {
            "node": "pi",
            "provision": "database",
            "from": {"node": "nas", "module": "postgres"},
            "to": {"node": "vps", "module": "postgres"},
        }
    ran = ok("node", "remove", "nas", "--anyway")
    assert "pi takes 'database' from vps (postgres) instead of nas (postgres)" in ran.out
    assert database_of(third, "pi") == ("vps", "postgres")


def test_a_document_that_moves_a_provider_is_refused_as_one_change(third: Path) -> None:
    """Neither before nor after is anybody refused; somebody's data would be elsewhere all the same."""
    moved = {"format": 1, "nodes": [{"name": "nas", "assign": []}, {"name": "vps", "assign": ["postgres"]}]}
    with nothing_written(third):
        ran = mesh("import", "-", stdin=json.dumps(moved))
        assert ran.code == 3
        assert "pi takes 'database' from vps (postgres) instead of nas (postgres)" in ran.err
    ok("import", "-", "--anyway", stdin=json.dumps(moved))
    assert database_of(third, "pi") == ("vps", "postgres")


def test_another_module_on_the_same_node_is_a_move_too(third: Path, folder: Path) -> None:
    database = [{"name": "database", "scope": "mesh"}]
    written(folder, "mariadb.json", {"name": "mariadb", "version": "11", "provides": database})
    ok("module", "add", "mariadb.json")
    swapped = {"format": 1, "nodes": [{"name": "nas", "assign": ["mariadb"]}]}
    with nothing_written(third):
        ran = mesh("import", "-", stdin=json.dumps(swapped))
        assert ran.code == 3
        assert "pi takes 'database' from nas (mariadb) instead of nas (postgres)" in ran.err


def test_a_manifest_that_undoes_a_pull_can_move_an_answer(empty: Path, folder: Path) -> None:
    """Part 8 names it: "a manifest that un-forces a pull"."""
    mail = {"name": "mail", "scope": "mesh"}
    document = {
        "format": 1,
        "modules": [
            {"name": "postfix", "version": "3", "provides": ["sendmail", mail]},
            {"name": "cron", "version": "1", "requires": ["sendmail"]},
            {"name": "shop", "version": "2", "requires": ["mail"]},
        ],
        "nodes": [{"name": "nas", "assign": ["cron"]}, {"name": "vps", "assign": ["shop"]}],
    }
    ok("import", "-", stdin=json.dumps(document))
    written(folder, "exim.json", {"name": "exim", "version": "4", "provides": ["sendmail"]})
    with nothing_written(empty):
        error = mesh("module", "add", "exim.json", "--json").error
        assert {refusal["node"] for refusal in error["refused"]} == {"nas", "vps"}
    ran = ok("module", "add", "exim.json", "--keep")
    assert "postfix is assigned to nas (kept as it was)" in ran.out
    assert mesh("plan").code == 0


def test_pinning_elsewhere_is_the_move_and_only_says_so(third: Path) -> None:
    """Part 8: "a change that *is* the move (pinning elsewhere) only says so"."""
    ok("assign", "vps", "postgres", "--keep")
    ran = ok("pin", "pi", "database", "vps")
    assert "pi takes 'database' from vps (postgres) instead of nas (postgres)" in ran.out
    assert database_of(third, "pi") == ("vps", "postgres")
    said = ok("pin", "pi", "database", "nas", "--json").json
    assert said["moves"][0]["to"] == {"node": "nas", "module": "postgres"}
    assert said["refused"] == []


@pytest.mark.parametrize(
    ("provision", "code", "said"),
    [
        ("shell", "not-mesh-scoped", "'shell' has scope node: it is answered on pi itself"),
        ("databse", "no-such-provision", "near: database"),
        ("postgres", "no-such-provision", "'postgres' is a module; it provides database"),
        ("zzz", "no-such-provision", "mesh-scoped are: database"),
    ],
)
def test_a_pin_of_a_name_that_is_not_mesh_scoped_is_refused(
    store: Path, provision: str, code: str, said: str
) -> None:
    with nothing_written(store):
        for more in ([], ["--anyway"]):
            ran = mesh("pin", "pi", provision, "nas", *more)
            assert ran.code == 3
            assert ran.err.startswith("refused: ")
            assert said in ran.err
        assert mesh("pin", "pi", provision, "nas", "--json").error["code"] == code


def test_a_pin_that_nothing_answers_is_refused(third: Path) -> None:
    with nothing_written(third):
        for target, said in (
            ("vps", "vps does not provide it"),
            ("nas/web", "web on nas does not provide it"),
        ):
            ran = mesh("pin", "pi", "database", target)
            assert ran.code == 3
            assert said in ran.err
            assert re.search(r"nas .*provides it, and the mesh does not fall back", ran.err)


def test_unpinning_what_a_pin_decided_is_refused(third: Path) -> None:
    ok("assign", "vps", "postgres", "--keep")
    with nothing_written(third):
        ran = mesh("unpin", "pi", "database")
        assert ran.code == 3
        assert "2 nodes provide it: nas (postgres), vps (postgres)" in ran.err


def test_a_report_that_takes_a_capability_away_is_refused_and_one_that_brings_it_mends(store: Path) -> None:
    with nothing_written(store):
        ran = mesh("node", "report", "nas", "-", stdin='{"systemd": {"present": false, "detail": "sysv"}}')
        assert ran.code == 3
        assert "postgres on nas needs 'systemd', which nas reported absent" in ran.err
    ok("node", "report", "nas", "-", "--anyway", stdin="{}")
    assert node_entry(store, "nas")["capabilities"] == {}
    assert "which nas did not report" in mesh("plan", "nas").out
    ran = ok("node", "report", "nas", "-", stdin='{"systemd": true}')
    assert "no longer refused: nas" in ran.out
    assert "capabilities" not in node_entry(store, "pi"), "one that never reported has none"


def test_a_second_provider_is_refused_and_keep_pins_what_stands(third: Path) -> None:
    """Promised: "`assign --keep` [...] keep what stands: in the same transaction they pin the answers"."""
    with nothing_written(third):
        ran = mesh("assign", "vps", "postgres")
        assert ran.code == 3
        assert "  fix: mesh assign vps postgres --keep     (pins and assigns what stands now)" in ran.err
    before = len(events(third))
    ran = ok("assign", "vps", "postgres", "--keep")
    assert ran.out == "postgres is assigned to vps\npi takes 'database' from nas (kept as it was)\n"
    assert database_of(third, "pi") == ("nas", "postgres")
    assert node_entry(third, "pi")["pins"] == {"database": "nas"}
    newest, *older = events(third)
    assert len(older) == before, "one command is one event"
    assert newest["command"] == "mesh assign vps postgres --keep"
    assert newest["changes"] == [
        {"change": "assign", "node": "vps", "module": "postgres"},
        {"change": "pin", "node": "pi", "provision": "database", "from": "nas"},
    ]
    assert mesh("plan").code == 0


def test_keep_pins_at_the_module_where_the_node_would_offer_twice(third: Path, folder: Path) -> None:
    database = [{"name": "database", "scope": "mesh"}]
    written(folder, "mariadb.json", {"name": "mariadb", "version": "11", "provides": database})
    ok("module", "add", "mariadb.json")
    assert mesh("assign", "nas", "mariadb").code == 3
    ran = ok("assign", "nas", "mariadb", "--keep")
    assert "pi takes 'database' from nas/postgres (kept as it was)" in ran.out
    assert database_of(third, "pi") == ("nas", "postgres")


def test_a_new_shell_is_refused_and_keep_assigns_the_one_that_was_pulled_in(
    store: Path, folder: Path
) -> None:
    """Promised for this case: "a new `bash` where every machine had `zsh` pulled in."""
    written(folder, "bash.toml", 'name = "bash"\nversion = "5.2"\nprovides = ["shell"]\n')
    with nothing_written(store):
        ran = mesh("module", "add", "bash.toml")
        assert ran.code == 3
        assert "web on pi needs 'shell', which bash and zsh provide, and none of them is on pi" in ran.err
    before = len(events(store))
    ran = ok("module", "add", "bash.toml", "--keep")
    assert ran.out == "bash 5.2 is in the catalogue\nzsh is assigned to pi (kept as it was)\n"
    assert node_entry(store, "pi")["assign"] == ["web", "zsh"]
    assert len(events(store)) == before + 1


def test_keep_changes_nothing_else_where_there_is_nothing_to_keep(store: Path) -> None:
    ok("node", "add", "vps")
    ran = ok("assign", "vps", "zsh", "--keep")
    assert ran.out == "zsh is assigned to vps\n"
    assert len(events(store)[0]["changes"]) == 1


def test_of_very_many_nodes_the_first_are_explained_and_all_are_counted(store: Path) -> None:
    nodes = [{"name": f"n{number}", "assign": ["web"]} for number in range(100)]
    ok("import", "-", stdin=json.dumps({"format": 1, "nodes": nodes}))
    with nothing_written(store):
        ran = mesh("node", "remove", "nas")
        assert ran.code == 3
        assert "  101 nodes would be refused: n0, n1, n10, n11, n12 and 96 more\n" in ran.err
        assert "  only the first 10 are explained; --json has all\n" in ran.err
        assert len(ran.err.splitlines()) < 20
        assert len(mesh("node", "remove", "nas", "--json").error["refused"]) == 101


def test_keep_does_not_hide_what_it_cannot_keep(third: Path) -> None:
    ok("node", "report", "vps", "-", stdin="{}")
    with nothing_written(third):
        ran = mesh("assign", "vps", "postgres", "--keep")
        assert ran.code == 3
        assert "postgres on vps needs 'systemd', which vps did not report" in ran.err
        assert "--keep  " not in ran.err, "what was said already is no fix"


def test_every_way_out_of_a_refused_change_works_when_pasted(empty: Path, folder: Path) -> None:
    """What `fix:` names in the refusal of a change leads to that change."""
    ok("import", EXAMPLES / "homelab" / "mesh.toml", "--anyway")
    ok("assign", "vps", "postfix")
    copy, tried = folder / "copy.db", []
    for line in (
        f"mesh module add {EXAMPLES}/homelab/modules/bash.toml",
        "mesh assign vps samba",
        "mesh unassign nas samba",
        "mesh assign vps nullmailer",
        "mesh unassign vps postfix",
        "mesh unpin pi database",
        "mesh unassign nas postgres",
    ):
        ran = mesh(*shlex.split(line)[1:])
        assert ran.code == 3
        for fix, again in fixes_in(ran.err):
            copy.unlink(missing_ok=True)
            ok("backup", copy)
            for said in [fix, line] if again else [fix]:
                done = mesh(*shlex.split(said)[1:], "--store", copy)
                assert done.code == 0, (line, fix, done.err)
            assert mesh("plan", "--store", copy).code == 0
            tried.append(fix)
    assert "mesh assign vps samba --keep" in tried
    assert "mesh pin pi database laptop" in tried


def fixes_in(told: str) -> list[tuple[str, bool]]:
    """The commands behind `fix:`, and whether the refused one is to be said again after them."""
    found: list[tuple[str, bool]] = []
    for line in re.findall(r"^ *fix: (.*)$", told, re.MULTILINE):
        commands = [part.strip() for part in re.split(r" {5}or: | {5}", line)]
        again = "and then this again" in commands
        found += [(command, again) for command in commands if command.startswith("mesh ")]
    return found


def test_re_adding_the_same_manifest_changes_nothing_and_says_so(store: Path, folder: Path) -> None:
    """Part 11: "Re-adding the same manifest changes nothing and says so."""
    written(folder, "zsh.json", {**MESH["modules"][0], "requires": []})
    written(
        folder,
        "zsh.toml",
        'version = "5.9"\nname = "zsh"\nresources = [{name = "zsh", kind = "package"}]\n'
        'provides = [{name = "shell", scope = "node"}]\n',
    )
    with nothing_written(store):
        for name in ("zsh.json", "zsh.toml"):
            for more in ([], ["--keep"], ["--anyway"]):
                assert ok("module", "add", name, *more).out == "nothing to change: the mesh is so already\n"
            assert ok("module", "add", name, "--json").json["event"] is None
    written(folder, "nano.toml", 'name = "nano"\nversion = "7"\n')
    ran = ok("module", "add", "zsh.toml", "nano.toml")
    assert ran.out == "nano 7 is in the catalogue\nnothing to change in zsh: it is so already\n"
    assert [change["module"]["name"] for change in events(store)[0]["changes"]] == ["nano"]


@pytest.mark.parametrize(
    "line",
    [
        "assign pi web",
        "assign pi web web",
        "pin pi database nas",
        "node report nas -",
        "import -",
    ],
)
def test_what_is_so_already_is_no_event(store: Path, line: str) -> None:
    given = json.dumps(MESH["nodes"][0]["capabilities"] if "report" in line else MESH)
    with nothing_written(store):
        ran = ok(*line.split(), stdin=given)
        assert ran.out == "nothing to change: the mesh is so already\n"
        said = ok(*line.split(), "--json", stdin=given).json
        assert (said["event"], said["changes"]) == (None, [])


COMMANDS: list[tuple[str, list[dict[str, Any]]]] = [
    ("node add tv car", [{"change": "put-node"}, {"change": "put-node"}]),
    ("assign tv zsh nano", [{"change": "assign", "module": "zsh"}, {"change": "assign", "module": "nano"}]),
    ("assign tv zsh web --anyway", [{"change": "assign", "module": "web"}]),
    ("unassign tv zsh nano", [{"change": "unassign"}, {"change": "unassign"}]),
    ("unassign tv web", [{"change": "unassign", "node": "tv", "module": "web"}]),
    ("pin tv database nas", [{"change": "pin", "node": "tv", "provision": "database", "from": "nas"}]),
    ("unpin tv database", [{"change": "unpin", "node": "tv", "provision": "database"}]),
    ("node report tv report.json", [{"change": "report", "node": "tv", "capabilities": {"hdmi": True}}]),
    ("module remove nano", [{"change": "drop-module", "module": "nano"}]),
    ("node remove tv", [{"change": "drop-node", "node": "tv"}]),
]


def test_one_command_is_one_event_with_what_it_did(store: Path, folder: Path) -> None:
    """Part 11: "What one command did is one event."""
    written(folder, "report.json", {"hdmi": True})
    written(folder, "nano.toml", 'name = "nano"\nversion = "7"\n')
    ok("module", "add", "nano.toml")
    number = len(events(store))
    for line, expected in COMMANDS:
        as_json = ok(*line.split(), "--json").json
        number += 1
        newest, *older = events(store)
        assert (as_json["event"], newest["number"], len(older)) == (number, number, number - 1)
        assert as_json["changes"] == newest["changes"]
        assert newest["command"] == f"mesh {line}"
        assert len(newest["changes"]) == len(expected)
        for change, parts in zip(newest["changes"], expected, strict=True):
            assert parts.items() <= change.items()


def test_history_says_who_did_what_when_the_newest_first(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUDO_USER", "ann\x1b[31m")
    ok("node", "add", "tv")
    head, first, second = ok("history").out.splitlines()
    assert head.split() == ["NUMBER", "WHEN", "WHO", "COMMAND"]
    assert re.fullmatch(r"2 +\d+ s ago +ann\\x1b\[31m +mesh node add tv", first)
    assert second.endswith("mesh import -")
    assert len(ok("history", "-n", 1).out.splitlines()) == 2
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", events(store)[0]["at"])


def test_every_manifest_is_kept_and_one_is_current(store: Path, folder: Path) -> None:
    for version in ("1.5.0", "1.6.0", "1.4.0"):
        written(folder, "web.json", {**MESH["modules"][2], "version": version})
        ok("module", "add", "web.json")
    recorded = ok("module", "show", "web", "--json").json["recorded"]
    assert [(entry["version"], entry["current"]) for entry in recorded] == [
        ("1.4.0", True),
        ("1.5.0", False),
        ("1.6.0", False),
    ]
    assert ok("module", "show", "web").out.count("(current)") == 1


def test_a_module_in_use_cannot_be_forgotten_whatever_one_says(store: Path) -> None:
    """Promised: "a module that is assigned to, or last declared on, a node cannot be forgotten."""
    ok("node", "add", "vps")
    with wiring.opened_store(store) as opened, opened.writing() as session:
        session.declare("vps", ["zsh"])
    with nothing_written(store):
        for more in ([], ["--anyway"]):
            ran = mesh("module", "remove", "web", *more)
            assert ran.code == 3
            assert ran.err == (
                "refused: web is in use, and cannot be forgotten\n  assigned to pi: mesh unassign pi web\n"
            )
        ran = mesh("module", "remove", "zsh")
        assert ran.code == 3, "pi has it pulled in"
        ran = mesh("module", "remove", "zsh", "--anyway")
        assert (ran.code, ran.err.splitlines()[1]) == (3, "  last declared on vps")
        error = mesh("module", "remove", "zsh", "--anyway", "--json").error
        assert (error["code"], error["declared_on"]) == ("module-in-use", ["vps"])


def test_adding_nodes_is_all_or_nothing(store: Path) -> None:
    with nothing_written(store):
        ran = mesh("node", "add", "tv", "nas", "car")
        assert (ran.code, ran.err) == (1, "there is a node 'nas' already\n")


def test_a_module_that_is_not_there_is_told_even_where_it_is_recorded(store: Path) -> None:
    ran = mesh("assign", "pi", "zhs", "--anyway")
    assert (ran.code, ran.err) == (0, "there is no module 'zhs'; near: zsh\n")
    ran = mesh("assign", "pi", "zzh")
    assert ran.code == 0, "pi was refused before, so nothing gets worse"
    assert ran.err == "there is no module 'zzh'; near: zsh\n"
    assert exported(store)["nodes"][1]["assign"] == ["web", "zhs", "zzh"]
