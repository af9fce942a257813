"""`mesh-host apply`: what it does, what it says, and how it ends."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mesh_adapters.host import applying
from mesh_adapters.host.checking import Checked
from tests.integration.host.cli.program import declared, file, host, named, on_the_machine, tree, well

MOTD = file("/etc/motd", "hello\n")
DONE = "1 made\n"
IN_THE_WAY = "there is a directory at /etc/motd; move it away, and apply again"


def test_it_makes_what_is_declared_and_says_each_in_one_line(root: Path) -> None:
    (root / "etc").mkdir()
    (root / "etc/motd").write_text("before\n")
    (root / "etc/same").write_text("ours\n")
    (root / "etc/same").chmod(0o644)
    ran = well("apply", "-", "--root", root, stdin=declared(43, MOTD, file("/etc/same"), file("/srv/a")))
    assert ran.out.splitlines() == [
        "+ file /etc/motd  what was there is remembered   for web",
        "= file /etc/same  was so before, and stays when the mesh lets go   for web",
        "+ file /srv/a     for web",
        "2 made, 1 found as it is to be",
    ]
    assert (root / "etc/motd").read_text() == "hello\n"


def test_a_second_apply_changes_nothing_and_says_so(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "pi.json"
    path.write_bytes(declared(43, MOTD))
    assert well("apply", path, "--root", root).out == f"+ file /etc/motd  for web\n{DONE}"
    before = on_the_machine(root)
    again = well("apply", path, "--root", root)
    assert again.out == "nothing to do: everything is as generation 43 says\n"
    assert on_the_machine(root) == before
    assert well("apply", path, "--root", root, "--json").json == {
        "format": 1,
        "node": "pi",
        "generation": 43,
        "state": "applied",
        "actions": [],
        "troubles": [],
        "checks": [],
        "changed": False,
    }


def test_a_newer_generation_of_the_same_changes_nothing_either(root: Path) -> None:
    well("apply", "-", "--root", root, stdin=declared(43, MOTD))
    ran = well("apply", "-", "--root", root, stdin=declared(44, MOTD))
    assert ran.out == "nothing to do: everything is as generation 44 says\n"


def test_what_is_no_longer_declared_goes_and_what_was_there_comes_back(root: Path) -> None:
    (root / "etc").mkdir(mode=0o755)
    (root / "etc/motd").write_text("before\n")
    (root / "etc/motd").chmod(0o640)
    before = on_the_machine(root)
    well("apply", "-", "--root", root, stdin=declared(1, MOTD, file("/srv/deep/a")))
    ran = well("apply", "-", "--root", root, stdin=declared(2, empty=True))
    assert ran.out.splitlines() == [
        "- file /srv/deep/a     no longer declared",
        "- file /etc/motd       no longer declared: what was there before comes back",
        "- directory /srv/deep  came along with something that is gone",
        "- directory /srv       came along with something that is gone",
        "3 removed, 1 given back",
    ]
    assert on_the_machine(root) == before


def test_an_edit_is_put_back_and_told(root: Path) -> None:
    stdin = declared(43, MOTD)
    well("apply", "-", "--root", root, stdin=stdin)
    (root / "etc/motd").write_text("mine\n")
    ran = well("apply", "-", "--root", root, stdin=stdin)
    assert ran.out == "~ file /etc/motd  put back: edited by hand   for web\n1 put back\n"
    assert (root / "etc/motd").read_text() == "hello\n"


def test_an_edit_of_what_is_no_longer_declared_is_left_and_told(root: Path) -> None:
    well("apply", "-", "--root", root, stdin=declared(43, MOTD))
    (root / "etc/motd").write_text("mine\n")
    ran = well("apply", "-", "--root", root, stdin=declared(44, empty=True))
    assert ran.out.splitlines()[0] == "= file /etc/motd  no longer declared, and stays: edited by hand"
    assert (root / "etc/motd").read_text() == "mine\n"


def test_what_fails_is_told_in_its_own_words_and_the_rest_is_done(root: Path) -> None:
    (root / "etc/motd").mkdir(parents=True)
    ran = host("apply", "-", "--root", root, stdin=declared(43, MOTD, file("/etc/a"), named("thing", "x")))
    assert ran.code == 4
    assert ran.out.splitlines()[1:] == [
        f"! file /etc/motd  failed: {IN_THE_WAY}   for web",
        "+ file /etc/a     for web",
        "1 made, 1 not touched, 1 failed",
    ]
    assert ran.out.startswith("! thing x         not touched: this host knows no kind 'thing'")
    (root / "etc/motd").rmdir()
    stdin = declared(44, MOTD, file("/etc/a"))
    assert well("apply", "-", "--root", root, stdin=stdin).out == f"+ file /etc/motd  for web\n{DONE}"


def test_json_says_the_same_with_codes(root: Path) -> None:
    (root / "etc/motd").mkdir(parents=True)
    ran = host("apply", "-", "--root", root, "--json", stdin=declared(43, MOTD, file("/etc/a")))
    assert ran.code == 4
    common = {"kind": "file", "modules": ["web"], "because": []}
    failed, made = ran.json["actions"]
    assert failed.pop("changes"), "what is there is another thing"
    assert failed == common | {
        "action": "make",
        "identity": "path:/etc/motd",
        "was_there": True,
        "outcome": "failed",
        "why": IN_THE_WAY,
    }
    assert made == common | {
        "action": "make",
        "identity": "path:/etc/a",
        "changes": [],
        "was_there": False,
        "outcome": "done",
    }
    assert (ran.json["state"], ran.json["changed"]) == ("failed", True)


def test_what_is_for_a_running_machine_only_is_left_out_and_nothing_is_wrong(root: Path) -> None:
    away = [named("package", name) for name in ("a", "b", "c")] + [named("service", n) for n in ("d", "e")]
    stdin = declared(43, *away, MOTD)
    left_out = "3 packages and 2 services are only for a running machine: left out"
    ran = well("apply", "-", "--root", root, stdin=stdin)
    assert ran.out.splitlines() == ["+ file /etc/motd  for web", left_out, "1 made"]
    again = well("apply", "-", "--root", root, stdin=stdin).out.splitlines()
    assert again == [left_out, "nothing to do: the rest is as generation 43 says"]
    troubles = well("apply", "-", "--root", root, "--json", stdin=stdin).json["troubles"]
    assert [trouble["elsewhere"] for trouble in troubles] == [True] * 5


def test_a_check_that_does_not_pass_ends_with_4(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def checked(*passed: bool) -> None:
        found = [Checked(module="web", kind="tcp", passed=p, detail="port 80: refused") for p in passed]
        monkeypatch.setattr(applying, "run_checks", lambda _asked, _machine: tuple(found))

    checked(True, False)
    stdin = declared(43, MOTD)
    ran = host("apply", "-", "--root", root, stdin=stdin)
    assert ran.code == 4
    assert ran.out.splitlines()[1:] == [
        "! check tcp       does not pass: port 80: refused   for web",
        "1 made; web: 1 of 2 checks pass",
    ]
    ran = host("apply", "-", "--root", root, stdin=stdin)
    assert ran.code == 4, "also where nothing else is to be done"
    assert well("status", "--root", root, "--json").json["checks"][1]["passed"] is False
    checked(True, True)
    ran = well("apply", "-", "--root", root, stdin=stdin)
    assert ran.out.endswith("nothing to do: everything is as generation 43 says; web: 2 of 2 checks pass\n")
    assert [c["passed"] for c in well("status", "--root", root, "--json").json["checks"]] == [True, True]


REFUSED: list[tuple[bytes, str, Sequence[str]]] = [
    (declared(42, MOTD), "older-generation", ["generation 42, and 43 was taken before", "44 or newer"]),
    (declared(43, file("/etc/b")), "same-generation", ["another declaration of generation 43"]),
    (declared(44, MOTD, node="nas"), "for-another-node", ["the node nas, and this machine is pi"]),
    (declared(44), "empty-without-word", ["says nothing at all", '"empty": true']),
    (declared(44, MOTD), "too-many-removals", ["takes off 6 of the 7 things", '"allow_removals": true']),
]


@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
@pytest.mark.parametrize(("stdin", "code", "said"), REFUSED, ids=[code for _, code, _ in REFUSED])
def test_what_is_not_taken_changes_nothing_and_says_why(
    root: Path, stdin: bytes, code: str, said: Sequence[str], dry: list[str]
) -> None:
    well("apply", "-", "--root", root, stdin=declared(43, MOTD, *(file(f"/etc/{n}") for n in range(6))))
    before = tree(root)
    ran = host("apply", "-", "--root", root, *dry, stdin=stdin)
    assert ran.code == 3
    assert not ran.out
    assert ran.err.startswith("refused: ")
    assert ran.err.endswith("nothing was changed\n")
    for words in said:
        assert words in ran.err
    told = host("apply", "-", "--root", root, "--json", *dry, stdin=stdin)
    assert (told.code, told.error["code"]) == (3, code)
    assert on_the_machine(root) == {p: w for p, w in before.items() if not p.startswith("var")}
    assert well("status", "--root", root, "--json").json["generation"] == 43


def test_many_may_go_with_the_word_for_it(root: Path) -> None:
    well("apply", "-", "--root", root, stdin=declared(43, MOTD, *(file(f"/etc/{n}") for n in range(6))))
    ran = well("apply", "-", "--root", root, stdin=declared(44, MOTD, allow_removals=True))
    assert ran.out.splitlines()[-1] == "6 removed"


def test_a_reason_that_is_the_same_is_said_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mesh_adapters.host.kind import Failed
    from mesh_adapters.host.kinds.file import File

    monkeypatch.setattr(File, "fetch", lambda *_: Failed(why="the disk is full"), raising=False)
    ran = host("apply", "-", "--root", root, stdin=declared(43, MOTD, file("/etc/other")))
    assert ran.code == 4
    first, second, _ = ran.out.splitlines()
    assert "the disk is full" in first
    assert second == "! file /etc/other  failed for the same reason   for web"


def test_a_root_that_is_not_there_is_made(tmp_path: Path) -> None:
    root = tmp_path / "not" / "there"
    well("apply", "-", "--root", root, stdin=declared(1, MOTD))
    assert (root / "etc/motd").read_text() == "hello\n"
    assert sorted(path.name for path in root.iterdir()) == ["etc", "var"]


def test_links_in_the_root_lead_nowhere_else(root: Path, tmp_path: Path) -> None:
    (root / "etc").symlink_to(tmp_path)
    ran = host("apply", "-", "--root", root, stdin=declared(1, MOTD))
    assert ran.code in (0, 4)
    assert not (tmp_path / "motd").exists()
