"""Commands that change the mesh: what is told, what is refused, and what is recorded.

"A change that would leave a node refused that was not, or that moves an answer from one node to another,
lists what would happen to whom and is refused with exit 3 and nothing written, unless `--anyway`."
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mesh_cli import wiring
from tests.integration.cli.program import (
    database_of,
    events,
    exported,
    mesh,
    node_entry,
    nothing_written,
    ok,
    rows,
    written,
)


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


def test_what_a_machine_did_not_say_can_be_reported_first(store: Path) -> None:
    """No command mends that for sure: only a person knows what the machine has."""
    ok("node", "add", "vps")
    report = "  if vps has 'systemd', report it first: mesh node report vps FILE\n"
    again = json.dumps({"format": 1, "nodes": [{"name": "vps", "assign": ["postgres"]}]})
    with nothing_written(store):
        for line in ("assign vps postgres", "import -"):
            ran = mesh(*line.split(), stdin=again)
            assert ran.code == 3
            assert "fix: " not in ran.err
            assert ran.err.endswith(f"\n{report}nothing was recorded; --anyway records it all the same\n")
            assert mesh(*line.split(), "--json", stdin=again).error["fixes"] == []
    ok("node", "report", "vps", "-", stdin='{"gpu": true}')
    assert report in mesh("assign", "vps", "postgres").err, "the other report said nothing of it"
    with nothing_written(store):
        assert report not in mesh("node", "report", "nas", "-", stdin="{}").err, "that is the change itself"
    ok("node", "report", "vps", "-", stdin='{"systemd": false}')
    assert report not in mesh("assign", "vps", "postgres").err, "that it lacks it was reported"
    ok("node", "report", "vps", "-", stdin='{"systemd": true}')
    ok("assign", "vps", "postgres")


def test_of_many_machines_that_did_not_say_the_first_are_named(store: Path) -> None:
    nodes = [{"name": f"n{number}"} for number in range(5)]
    ok("import", "-", stdin=json.dumps({"format": 1, "nodes": nodes}))
    zsh = {"name": "zsh", "version": "5.9", "provides": ["shell"], "capabilities": ["tty", "gpu"]}
    given = {"format": 1, "modules": [zsh], "nodes": [{**node, "assign": ["zsh"]} for node in nodes]}
    ran = mesh("import", "-", stdin=json.dumps(given))
    *_, first, _, _, left, _ = ran.err.splitlines()
    assert first == "  if n0 has 'gpu' and 'tty', report it first: mesh node report n0 FILE"
    assert left == "  and the same of 3 more nodes"


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
