"""`mesh-host apply --dry-run`: the actions with what they change of files; and no trace."""

from __future__ import annotations

from pathlib import Path

from mesh_adapters.host.journal import Journal
from tests.integration.host.cli.program import JOURNAL, declared, file, host, tree, well


def dry(root: Path, stdin: bytes, *more: str) -> list[str]:
    return well("apply", "-", "--dry-run", "--root", root, *more, stdin=stdin).out.splitlines()


def test_on_a_fresh_root_it_leaves_no_trace(root: Path) -> None:
    assert dry(root, declared(1, file("/etc/motd", "a\nb\n"))) == [
        "+ file /etc/motd  for web",
        "    --- /etc/motd (there)",
        "    +++ /etc/motd (declared)",
        "    @@ -0,0 +1,2 @@",
        "    +a",
        "    +b",
        "1 to make; nothing was changed: --dry-run",
    ]
    assert tree(root) == {}
    gone = root / "gone"
    dry(gone, declared(1, file("/etc/motd")))
    assert not gone.exists()


def test_on_a_machine_with_a_journal_it_changes_nothing(root: Path) -> None:
    first, second = (
        declared(1, file("/etc/motd", "a\n"), file("/etc/b")),
        declared(2, file("/etc/motd", "b\n")),
    )
    well("apply", "-", "--root", root, stdin=first)
    before = tree(root)
    assert dry(root, second) == [
        "- file /etc/b     no longer declared",
        "    --- /etc/b (there)",
        "    +++ /etc/b (declared)",
        "    @@ -1 +0,0 @@",
        "    -ours",
        "~ file /etc/motd  for web",
        "    --- /etc/motd (there)",
        "    +++ /etc/motd (declared)",
        "    @@ -1 +1 @@",
        "    -a",
        "    +b",
        "1 to remove, 1 to change; nothing was changed: --dry-run",
    ]
    assert tree(root) == before
    assert dry(root, first) == ["nothing to do: everything is as generation 1 says"]


def test_what_comes_back_is_shown(root: Path) -> None:
    (root / "etc").mkdir()
    (root / "etc/motd").write_text("theirs\n")
    well("apply", "-", "--root", root, stdin=declared(1, file("/etc/motd")))
    assert dry(root, declared(2, empty=True))[-3:-1] == ["    -ours", "    +theirs"]


def test_a_change_of_the_mode_alone_has_no_lines(root: Path) -> None:
    well("apply", "-", "--root", root, stdin=declared(1, file("/etc/a")))
    lines = dry(root, declared(2, file("/etc/a", mode="0600")))
    assert lines[0] == "~ file /etc/a  mode 0644 -> 0600   for web"
    assert len(lines) == 2


def test_what_not_everybody_may_read_is_not_shown_unless_asked(root: Path) -> None:
    secret = declared(1, file("/etc/secret", "hush\n", mode="0640"))
    hidden = "    not everybody may read it: --diff shows its content"
    assert dry(root, secret)[1] == hidden
    assert "    +hush" in dry(root, secret, "--diff")
    data = well("apply", "-", "--dry-run", "--json", "--root", root, stdin=secret).json
    assert data["actions"][0]["difference"] == {"what": "private"}
    # It was not open before, and would be now: what is there is a secret still.
    (root / "etc").mkdir()
    (root / "etc/secret").write_text("old hush\n")
    (root / "etc/secret").chmod(0o600)
    assert dry(root, declared(1, file("/etc/secret", "open\n")))[1] == hidden


def test_what_is_no_text_and_what_is_large_is_said_so(root: Path) -> None:
    (root / "etc").mkdir()
    (root / "etc/a").write_bytes(b"\xff\xfe")
    (root / "etc/b").write_bytes(b"x" * 200_000)
    (root / "etc/c").write_bytes(b"nul \0")
    (root / "etc/l").symlink_to("a")
    for path in (root / "etc").iterdir():
        if not path.is_symlink():
            path.chmod(0o644)
    lines = dry(root, declared(1, *(file(f"/etc/{name}") for name in "abcl")))
    assert [line for line in lines if "not shown" in line] == [
        "    its content is no text, and not shown",
        "    its content is large, and not shown",
        "    its content is no text, and not shown",
    ]
    assert lines[-2] == "    +ours"


def test_what_a_terminal_would_act_on_is_shown_instead(root: Path) -> None:
    lines = dry(root, declared(1, file("/etc/motd", "\x1b[31mred\n")))
    assert lines[4] == "    +\\x1b[31mred"


def test_json_is_the_plan_with_differences(root: Path) -> None:
    data = well(
        "apply", "-", "--dry-run", "--json", "--root", root, stdin=declared(7, file("/a", "x\n"))
    ).json
    assert (data["node"], data["generation"], data["dry_run"], data["troubles"]) == ("pi", 7, True, [])
    (action,) = data["actions"]
    assert action["action"] == "make"
    assert "outcome" not in action
    assert action["difference"] == {
        "what": "text",
        "lines": ["--- /a (there)", "+++ /a (declared)", "@@ -0,0 +1 @@", "+x"],
    }


def test_a_question_may_be_asked_while_a_run_is_at_work(root: Path) -> None:
    first = declared(1, file("/etc/motd"))
    well("apply", "-", "--root", root, stdin=first)
    journal = Journal.open(root / JOURNAL)
    try:
        assert dry(root, first) == ["nothing to do: everything is as generation 1 says"]
        assert well("status", "--root", root, "--json").json["generation"] == 1
        assert len(well("owned", "--root", root, "--json").json["owned"]) == 2
        ran = host("apply", "-", "--root", root, "--json", stdin=first)
        assert (ran.code, ran.error["code"]) == (5, "journal-busy")
        ran = host("forget", "/etc/motd", "--root", root, "--json")
        assert (ran.code, ran.error["code"]) == (5, "journal-busy")
        ran = host("forget", "--everything", "--root", root, "--json")
        assert (ran.code, ran.error["code"]) == (5, "journal-busy")
    finally:
        journal.close()


def test_diff_alone_is_wrong_usage(root: Path) -> None:
    ran = host("apply", "-", "--diff", "--root", root, stdin=declared(1, file("/a")))
    assert ran.code == 64
    assert tree(root) == {}
