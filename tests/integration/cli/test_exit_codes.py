"""The exit codes, and what goes where: data to stdout, messages to stderr, codes into `--json`.

"JSON output carries codes, never only prose." A failed command has one clear sentence on stderr, and
nothing on stdout that could be taken for data.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from mesh_cli import wiring
from mesh_cli.exits import Exit
from tests.integration.cli.program import (
    EXAMPLES,
    ROOT,
    environment,
    events,
    mesh,
    nothing_written,
    ok,
    started,
    written,
)

REFUSED = EXAMPLES / "refusals" / "cycle.toml"

USAGE = [
    ("nod", "No such command 'nod'. Did you mean 'node'?"),
    ("node ad", "No such command 'ad'. Did you mean 'add'?"),
    ("plan --fil x", "No such option: --fil"),
    ("plan --anyway", "No such option: --anyway"),
    ("-x plan", "No such option: -x"),
    ("node add -x", "No such option: -x"),
    ("plan pi nas", "unexpected extra argument"),
    ("pin pi database", "Missing argument 'FROM'"),
    ("assign pi", "Missing argument 'MODULE'"),
    ("plan --file", "requires an argument"),
    ("graph --format png", "'png' is not one of 'text', 'mermaid', 'dot', 'json'"),
    ("history --limit 0", "greater than or equal to 1"),
    ("history --limit x", "valid integer"),
    ("plan --json=yes", "does not take a value"),
    ("node add Web_1", "'Web_1' is no node name: 1 to 63 of a-z, 0-9 and '-'"),
    ("node show -- -x", "'-x' is no node name"),
    ("assign pi Zsh", "'zsh' would do"),
    ("module show a/b", "'a/b' is no module name"),
    ("pin pi Data nas", "'Data' is no provision name"),
    ("pin pi database nas/", "'' is no module name"),
    ("pin pi database /postgres", "'' is no node name"),
    ("pin pi database nas/a/b", "'a/b' is no module name"),
    ("unpin pi :x", "':x' is no provision name"),
    ("plan --file mesh.yaml", "its name ends with neither .json nor .toml"),
    ("plan --file mesh.json --store x.db", "--file and --store are two meshes; give one"),
    ("graph --json --format dot", "--json and --format dot are two formats; give one"),
    ("module add - -", "- is standard input, which can be read once"),
    ("module add zsh.json zsh.json", "two of the files are manifests of 'zsh'"),
]

FAILED = [
    ("init", "exists", "is there already, and was left as it is"),
    ("plan pu", "no-such-node", "there is no node 'pu'; there are nas, pi"),
    ("graph pu", "no-such-node", "there are nas, pi"),
    ("node show atlantis", "no-such-node", "there is no node 'atlantis'; there are nas, pi"),
    ("node remove nass", "no-such-node", "near: nas"),
    ("node add nas", "exists", "there is a node 'nas' already"),
    ("node report pu report.json", "no-such-node", "there are nas, pi"),
    ("module show postgre", "no-such-module", "there is no module 'postgre'; near: postgres"),
    ("module remove postgre", "no-such-module", "near: postgres"),
    ("assign pu web", "no-such-node", "there are nas, pi"),
    ("unassign pi wep", "not-assigned", "wep is not assigned to pi; near: web"),
    ("unassign pi zsh", "not-assigned", "because of another: pi -> web (assigned) -> requires shell -> zsh"),
    ("pin pi database nass", "no-such-node", "near: nas"),
    ("unpin nas database", "not-pinned", "it is pinned for nothing"),
    ("unpin pi shell", "not-pinned", "it is pinned for database"),
    ("plan --file nowhere.json", "unreadable-file", "nowhere.json cannot be read: No such file"),
    ("plan --file .", "unreadable-file", ". cannot be read: Is a directory"),
    ("import nowhere.toml", "unreadable-file", "No such file"),
    ("module add nowhere.toml", "unreadable-file", "No such file"),
    ("node report pi nowhere.json", "unreadable-file", "No such file"),
    ("plan --file report.json", "malformed", "report.json is refused, with 2 faults"),
    ("export report.json", "exists", "report.json is there already, and was left as it is"),
    ("export no/where.json", "unwritable-file", "no/where.json cannot be written: No such file"),
    ("backup report.json", "exists", "report.json is there already"),
]

CHANGES_REFUSED = [
    ("assign pi nothing", "would-refuse-or-move", "no module in the catalogue has that name"),
    ("unassign nas postgres", "would-refuse-or-move", "1 node would be refused: pi"),
    ("unassign nas postgres web", "not-assigned", "web is not assigned to nas"),
    ("pin pi shell nas", "not-mesh-scoped", "'shell' has scope node"),
    ("module remove web", "module-in-use", "mesh unassign pi web"),
]


@pytest.fixture(autouse=True)
def files(folder: Path) -> None:
    written(folder, "report.json", {"systemd": True})
    written(folder, "mesh.yaml", "format: 1")
    written(folder, "zsh.json", {"name": "zsh", "version": "5.9", "provides": ["shell"]})


@pytest.mark.parametrize(("line", "said"), USAGE)
def test_wrong_usage_ends_with_64(store: Path, line: str, said: str) -> None:
    with nothing_written(store):
        ran = mesh(*line.split())
        assert ran.code == 64
        assert said in ran.err
        assert not ran.out or "--json" in line
        first, *rest = line.split()
        as_json = mesh(first, "--json", *rest)
        assert as_json.code == 64
        assert as_json.error["code"]


@pytest.mark.parametrize(("line", "code", "said"), FAILED)
def test_what_failed_ends_with_1(store: Path, line: str, code: str, said: str) -> None:
    with nothing_written(store):
        ran = mesh(*line.split())
        assert ran.code == 1
        assert said in ran.err
        assert not ran.out
        as_json = mesh(*line.split(), "--json")
        assert as_json.code == 1
        assert as_json.error["code"] == code
        assert said in as_json.error["message"]
        assert as_json.err == ran.err


def test_a_plan_with_a_refused_node_ends_with_3_and_is_data_all_the_same() -> None:
    for line in (["plan"], ["plan", "nas"]):
        ran = mesh(*line, "--file", REFUSED)
        assert ran.code == 3
        assert "refused: " in ran.out
        assert not ran.err
        as_json = mesh(*line, "--file", REFUSED, "--json")
        assert as_json.code == 3
        assert as_json.json["nodes"]["nas"]["status"] == "refused"
    ran = mesh("plan", "pi", "--file", REFUSED)
    assert ran.code == 0, "pi is planned, whatever is wrong with nas"


@pytest.mark.parametrize(("line", "code", "said"), CHANGES_REFUSED[:2] + CHANGES_REFUSED[3:])
def test_a_change_that_is_refused_ends_with_3(store: Path, line: str, code: str, said: str) -> None:
    with nothing_written(store):
        ran = mesh(*line.split())
        assert ran.code == 3
        assert ran.err.startswith("refused: ")
        assert said in ran.err
        assert not ran.out
        as_json = mesh(*line.split(), "--json")
        assert as_json.code == 3
        assert as_json.error["code"] == code


def test_pending_changes_end_with_2_where_one_asks(store: Path) -> None:
    assert mesh("plan").code == 0
    for more in ([], ["--json"]):
        assert mesh("plan", "--detailed-exitcode", *more).code == 2
        assert mesh("plan", "pi", "--detailed-exitcode", *more).code == 2
        assert mesh("plan", "--detailed-exitcode", "--file", REFUSED, *more).code == 3
    ok("node", "add", "tv")
    with wiring.opened_store(store) as opened, opened.writing() as session:
        session.declare("nas", ["postgres"])
        session.declare("pi", ["web", "zsh"])
    for more in ([], ["--json"]):
        assert mesh("plan", "--detailed-exitcode", *more).code == 0, "everything was declared"


def test_a_store_out_of_reach_ends_with_5(folder: Path) -> None:
    for line in ("plan", "node list", "module list", "history", "export", "lint", "graph", "assign pi web"):
        ran = mesh(*line.split())
        assert ran.code == 5
        assert "there is no store at " in ran.err
        assert "; `mesh init` makes one" in ran.err
        as_json = mesh(*line.split(), "--json")
        assert (as_json.code, as_json.error["code"]) == (5, "no-store")
    ran = mesh("plan", "--store", folder / "my store.db")
    assert f"`mesh init --store '{folder}/my store.db'` makes one" in ran.err
    assert not list(folder.glob("*.db")), "looking for a store makes none"


def test_the_codes_are_those_of_the_table() -> None:
    assert [int(code) for code in Exit] == [0, 1, 2, 3, 4, 5, 64, 130]


def test_ctrl_c_ends_with_130_and_says_that_nothing_was_recorded(store: Path, folder: Path) -> None:
    os.mkfifo(folder / "slow.json")
    with nothing_written(store):
        # A pipe opens for writing when somebody reads from it: then it is in the middle of the command.
        with started("import", "slow.json") as running, (folder / "slow.json").open("wb"):
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=30)
        assert running.returncode == 130
        assert err.decode() == "interrupted; nothing was recorded\n"
        assert not out


SLOW = "import os, signal; [os.kill(os.getpid(), signal.SIGINT) for _ in range(2)]"


@pytest.mark.parametrize("line", ["plan", "plan --json", "--help"])
def test_ctrl_c_while_the_program_is_being_loaded_shows_no_traceback(folder: Path, line: str) -> None:
    """Most of a short command is loading typer: here one that somebody has no patience with."""
    written(folder, "typer.py", SLOW)
    env = environment(PYTHONPATH=os.pathsep.join([str(folder), str(ROOT)]))
    with started(*line.split(), env=env) as running:
        out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (130, b"", b"interrupted\n")


def test_ctrl_c_after_the_record_says_that_it_was_recorded(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("mesh_cli.recording.say", interrupted)
    ran = mesh("node", "add", "tv")
    assert ran.code == 130
    assert ran.err == "interrupted; it was recorded all the same, as number 2\n"
    assert events(store)[0]["number"] == 2
