"""`--keep`, and the other ways out that a refused change names: what stands goes on standing."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from tests.integration.cli.program import (
    EXAMPLES,
    database_of,
    events,
    mesh,
    node_entry,
    nothing_written,
    ok,
    written,
)


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
        as_data = mesh(*shlex.split(line)[1:], "--json").error["fixes"]
        assert [(fix["command"], fix["again"]) for fix in as_data] == fixes_in(ran.err)
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
