"""The examples tell the truth: what they say is refused is refused, and every fix works when pasted.

"Each refusal example explains itself and its fix works when pasted."
"""

from __future__ import annotations

import re
import shlex
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mesh_core import mesh_from_data
from mesh_core.problems import Problem
from mesh_core.testing import resolve_literally
from tests.integration.cli.program import EXAMPLES, Ran, mesh, ok, rows

REFUSALS = sorted((EXAMPLES / "refusals").glob("*.toml"))
IDS = [path.stem for path in REFUSALS]
HOMELAB = EXAMPLES / "homelab"


def said(path: Path, what: str) -> list[str]:
    """What the comment at the head of an example says: its `refused:` and `fix:` lines."""
    return re.findall(rf"^# {what}: (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)


def problems(ran: Ran) -> dict[str, list[dict[str, Any]]]:
    """By node, the problems in what `mesh plan --json` printed."""
    nodes = ran.json["nodes"]
    return {name: node["problems"] for name, node in nodes.items() if node["status"] == "refused"}


def fixes(printed: str) -> list[str]:
    """Every command that a plan names as a fix."""
    lines = re.findall(r"^ *fix: (.*)$", printed, re.MULTILINE)
    return [command for line in lines for command in re.split(r" {5}or: ", line)]


def pasted(command: str, store: Path) -> Ran:
    program, *words = shlex.split(command)
    assert program == "mesh"
    return mesh(*words, "--store", store)


def test_there_is_an_example_of_every_problem() -> None:
    codes = {
        code for path in REFUSALS for line in said(path, "refused") for code in re.findall(r"\((.*)\)", line)
    }
    assert codes == {problem.code for problem in Problem.__args__}


@pytest.mark.parametrize("path", REFUSALS, ids=IDS)
def test_exactly_what_it_says_is_refused(path: Path) -> None:
    found = problems(mesh("plan", "--file", path, "--json"))
    assert sorted(said(path, "refused")) == sorted(
        f"{node} ({problem['code']})" for node, all_of in found.items() for problem in all_of
    )
    assert found
    document = tomllib.loads(path.read_text(encoding="utf-8"))
    assert mesh("plan", "--file", path, "--json").json == resolve_literally(document)
    assert len(document["nodes"]) <= 3


@pytest.mark.parametrize("path", REFUSALS, ids=IDS)
def test_it_explains_itself(path: Path) -> None:
    """Part 6: a sentence "names the node, the chain from the assignment to the need, what was looked for and
    where, and ends with commands that are known to work".
    """
    ran = mesh("plan", "--file", path)
    assert ran.code == 3
    assert not ran.err
    for node, all_of in problems(mesh("plan", "--file", path, "--json")).items():
        alone = mesh("plan", node, "--file", path).out
        assert alone.startswith(node)
        headlines = re.findall(r"refused: (.*)", alone)
        assert len(headlines) == len(all_of)
        assert all(re.search(rf"\b{node}\b", headline) for headline in headlines)
        assert fixes(alone)
        for problem in all_of:
            for name in (
                problem.get(key) for key in ("module", "provision", "capability", "claim", "resource")
            ):
                assert name is None or name in alone
    assert fixes(ran.out)


@pytest.mark.parametrize("path", REFUSALS, ids=IDS)
def test_every_fix_works_when_pasted(empty: Path, folder: Path, path: Path) -> None:
    """The document's own fix, and every one that the program prints: exit 0, and that problem is gone."""
    ok("import", path, "--anyway")
    before = problems(mesh("plan", "--json"))
    (own,) = said(path, "fix")
    printed = {node: fixes(mesh("plan", node).out) for node in before}
    assert set(fixes(mesh("plan").out)) <= {fix for all_of in printed.values() for fix in all_of}
    for node, commands in printed.items():
        for command in {*commands, own}:
            shutil.copyfile(empty, folder / "copy.db")
            ran = pasted(command, folder / "copy.db")
            assert (ran.code, ran.err) == (0, ""), command
            after = problems(mesh("plan", "--json", "--store", "copy.db"))
            if command in commands:
                assert node not in after, command
            assert all(problem in before.get(name, []) for name, left in after.items() for problem in left)
    pasted(own, empty)
    assert mesh("plan").code == 0, "after the document's own fix nobody is refused"


@pytest.mark.parametrize("path", REFUSALS, ids=IDS)
def test_its_own_fix_is_among_those_that_are_printed(path: Path) -> None:
    (own,) = said(path, "fix")
    assert own in fixes(mesh("plan", "--file", path).out)


def test_the_table_of_examples_says_the_same() -> None:
    table = (EXAMPLES / "refusals" / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| \[`(.*?)`\]\((.*?)\) \| (.*?) \| .* \| `(.*?)` \|$", table, re.MULTILINE)
    assert sorted(name for name, *_ in lines) == IDS
    for name, target, nodes, fix in lines:
        path = EXAMPLES / "refusals" / target
        assert path.stem == name
        assert nodes.split(", ") == [line.split()[0] for line in said(path, "refused")]
        assert [fix] == said(path, "fix")


def test_the_homelab_shows_one_refusal_and_its_fix_mends_it(empty: Path) -> None:
    ran = mesh("plan", "--file", HOMELAB / "mesh.toml")
    assert ran.code == 3
    assert ran.out.splitlines()[-1].endswith("1 node refused.")
    assert fixes(ran.out) == ["mesh assign vps postfix"]
    for fragment in (
        "pi      refused: nullmailer on pi needs 'mail' (scope mesh), and no node runs a provider",
        "pi -> links (assigned) -> requires sendmail -> nullmailer -> requires mail",
        "takes website from every: pi (links) at 10.77.0.4 (unsettled)",
        "takes backup-target from nas (backup-store) at 10.77.0.3   the only one that offers it",
        "pulled in: i3 requires display-server (and 2 more)",
        "2 nodes take from it: attic, vps",
    ):
        assert fragment in ran.out
    assert mesh("import", HOMELAB / "mesh.toml").code == 3
    assert rows(empty)["nodes"] == []
    ok("import", HOMELAB / "mesh.toml", "--anyway")
    ran = ok("assign", "vps", "postfix")
    assert ran.out == "postfix is assigned to vps\n  no longer refused: pi\n"
    planned = ok("plan").out
    assert "unsettled" not in planned
    assert "takes database from nas (postgres) at 10.77.0.3   pinned" in planned
    assert mesh("unpin", "pi", "database").code == 3, "the pin is needed"


def test_the_homelab_is_one_that_a_person_could_have() -> None:
    document = tomllib.loads((HOMELAB / "mesh.toml").read_text(encoding="utf-8"))
    mesh_from_data(document)
    assert len(document["nodes"]) >= 4
    assert len(document["modules"]) >= 20
    scopes = {p["scope"] for m in document["modules"] for p in m.get("provides", []) if isinstance(p, dict)}
    assert "mesh" in scopes
    assert any(node.get("pins") for node in document["nodes"])
    wanted = [r for m in document["modules"] for r in m.get("requires", []) if isinstance(r, dict)]
    assert any(requirement.get("from") == "every" for requirement in wanted)


def test_the_modules_beside_the_homelab_are_the_ones_in_it(empty: Path) -> None:
    ok("import", HOMELAB / "mesh.toml", "--anyway")
    for name in ("zsh", "ssh-server", "motd"):
        ran = ok("module", "add", HOMELAB / "modules" / f"{name}.toml")
        assert ran.out == "nothing to change: the mesh is so already\n"
    ok("assign", "vps", "postfix")
    for name in ("mpd", "apticron"):
        ok("module", "add", HOMELAB / "modules" / f"{name}.toml")
    with_what = {"pi mpd": 0, "attic mpd": 3, "nas apticron": 0, "vps apticron": 3}
    for line, code in with_what.items():
        assert mesh("assign", *line.split()).code == code, line
    bash = HOMELAB / "modules" / "bash.toml"
    refused = mesh("module", "add", bash)
    assert refused.code == 3
    assert "5 nodes would be refused: attic, laptop, nas, pi, vps" in refused.err
    ok("module", "add", bash, "--keep")
    ok("assign", "laptop", "bash")
    assert mesh("plan").code == 0


def test_every_command_in_the_readmes_of_the_examples_runs(
    empty: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every block of commands that begins a story, in its own store, in order."""
    (folder / "examples").symlink_to(EXAMPLES)
    blocks = 0
    for path in EXAMPLES.rglob("README.md"):
        for block in re.findall(
            r"^```\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
        ):
            lines = [shlex.split(line, comments=True) for line in block.splitlines()]
            if ["mesh", "init"] not in lines and "--file" not in block:
                continue  # a part of a story that is told in words
            blocks += 1
            monkeypatch.setenv("MESH_STORE", str(folder / f"{blocks}.db"))
            for words in lines:
                if words[:1] == ["mesh"]:
                    ran = mesh(*words[1:])
                    assert ran.code in ((0, 3) if words[1] == "plan" else (0,)), (words, ran.err)
    assert blocks >= 4
