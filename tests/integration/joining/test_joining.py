"""`mesh-host join` and `leave`, under a root that stands for a machine."""

from __future__ import annotations

import errno
import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from mesh_adapters.broker.credential import Role, read_credential
from mesh_adapters.host.agent.saved import CAME, HOLDS
from tests.integration.cli.program import Ran, mesh, ok
from tests.integration.host.cli.program import JOURNAL, declared, file, host, on_the_machine, tree, well
from tests.integration.joining.conftest import Plane

PLACE = Role.NODE.place


def invited(plane: Plane, node: str = "pi") -> Path:
    """An invitation, in a file of its own."""
    path = plane.folder / f"{node}.invitation.json"
    path.unlink(missing_ok=True)
    assert mesh("node", "invite", node, "--admin", plane.admin).code == 0
    return path


def join(root: Path, path: Path, *words: object) -> Ran:
    ran = host("join", path, "--root", root, *words)
    if path.exists():
        assert json.loads(path.read_text())["broker"]["password"] not in ran.out + ran.err
    return ran


@pytest.fixture
def joined(ready: Plane, root: Path) -> Path:
    """A machine that is pi, with a file that was there before and one that was not."""
    (root / "etc").mkdir()
    (root / "etc/motd").write_text("before\n")
    assert join(root, invited(ready)).code == 0
    well("apply", "-", "--root", root, stdin=declared(43, file("/etc/motd"), file("/srv/a")))
    return root


# Joining.


def test_joining_keeps_the_credential_and_uses_the_invitation_up(ready: Plane, root: Path) -> None:
    path = invited(ready)
    content = path.read_bytes()
    ran = join(root, path)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"this machine is pi now; its credential is {root / PLACE}",
        f"{path} was removed: an invitation serves once",
        f"next: mesh-host run --root {root}",
    ]
    assert not path.exists()
    assert (root / PLACE).read_bytes() == content
    assert stat.S_IMODE((root / PLACE).stat().st_mode) == 0o600
    assert [name for name in tree(root) if not name.startswith("etc")] == [], "and there is no other trace"


def test_joining_tells_a_program_what_it_did(ready: Plane, root: Path) -> None:
    path = invited(ready)
    assert join(root, path, "--json").json == {
        "format": 1,
        "node": "pi",
        "credential": str(root / PLACE),
        "file_removed": True,
        "started": False,
        "key": None,
    }


def test_over_tls_with_a_certificate_of_ones_own(ready: Plane, root: Path) -> None:
    for ca, code in (("other", 5), ("ca", 0)):
        reach = f"amqps://localhost:{ready.server.tls_port}?ca={ready.server.folder / ca}.pem"
        out = ready.folder / f"{ca}.json"
        mesh("node", "invite", "pi", "--admin", ready.admin, "--out", out, "--reach", reach)
        ran = join(root, out)
        assert (ran.code, out.exists()) == (code, code != 0)
    assert read_credential(root / PLACE, Role.NODE).tls


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_an_invitation_that_others_may_use_is_refused(ready: Plane, root: Path, mode: int) -> None:
    path = invited(ready)
    path.chmod(mode)
    ran = join(root, path, "--json")
    assert (ran.code, ran.error["code"]) == (1, "bad-invitation")
    assert f"chmod 600 {path}" in ran.err
    assert path.exists()
    assert tree(root) == {}


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"format": 2}', "\xff"])
def test_what_is_no_invitation(folder: Path, root: Path, content: str) -> None:
    path = folder / "pi.invitation.json"
    path.write_text(content, "latin-1")
    path.chmod(0o600)
    assert host("join", path, "--root", root).code == 1
    assert host("join", folder / "missing.json", "--root", root).code == 1
    assert path.exists()
    assert tree(root) == {}


def away(plane: Plane, path: Path) -> None:
    data = json.loads(path.read_text())
    data["broker"]["port"] = 1
    path.write_text(json.dumps(data))


def ended(plane: Plane, path: Path) -> None:
    mesh("node", "invite", "pi", "--admin", plane.admin, "--out", plane.folder / "newer.json")


def shut_out(plane: Plane, path: Path) -> None:
    ok("node", "revoke", "pi", "--admin", plane.admin)


def without_queues(plane: Plane, path: Path) -> None:
    from mesh_cli.wiring_broker import opened_broker

    with opened_broker(None) as broker:
        broker.remove_node("pi")


@pytest.mark.parametrize(
    ("what", "code", "said"),
    [
        (away, "broker-no-answer", "is out of reach: nobody answers there (Connection refused)"),
        (ended, "broker-credentials", "this invitation was ended by a newer one"),
        (shut_out, "broker-credentials", "or its node was shut out"),
        (without_queues, "broker-queue-missing", "has no queue for pi; `mesh node invite pi` makes it"),
    ],
)
def test_a_broker_that_does_not_let_it_in_leaves_everything_as_it_was(
    ready: Plane, root: Path, what: Callable[[Plane, Path], None], code: str, said: str
) -> None:
    path = invited(ready)
    what(ready, path)
    ran = join(root, path, "--json")
    assert (ran.code, ran.error["code"]) == (5, code)
    assert said in ran.err
    assert ran.err.endswith("nothing was changed here; the invitation can be used again\n")
    assert path.exists()
    assert tree(root) == {}


def test_a_machine_is_one_node_until_it_leaves(ready: Plane, joined: Path) -> None:
    before = tree(joined)
    path = invited(ready, "nas")
    ran = join(joined, path, "--json")
    assert (ran.code, ran.error["code"]) == (3, "another-node")
    assert (ran.error["node"], ran.error["this"]) == ("nas", "pi")
    assert "mesh-host leave" in ran.err
    # By what it was told, too, where somebody took its credential away.
    (joined / PLACE).unlink()
    assert join(joined, path).code == 3
    assert path.exists()
    assert {**tree(joined), PLACE: before[PLACE]} == before
    well("leave", "--root", joined)
    assert join(joined, path).code == 0
    assert read_credential(joined / PLACE, Role.NODE).name == "nas"


def test_a_new_invitation_for_the_same_node_takes_the_place_of_the_old(ready: Plane, joined: Path) -> None:
    was = read_credential(joined / PLACE, Role.NODE)
    assert join(joined, invited(ready)).code == 0
    assert read_credential(joined / PLACE, Role.NODE) != was
    assert on_the_machine(joined)["etc/motd"] == (0o100644, b"ours\n")


def test_its_own_credential_is_no_invitation_that_goes(ready: Plane, joined: Path) -> None:
    ran = join(joined, joined / PLACE, "--json")
    assert (ran.code, ran.json["file_removed"]) == (0, False)
    assert (joined / PLACE).exists()


# Leaving.


def test_leaving_gives_everything_back(joined: Path) -> None:
    (joined / JOURNAL / HOLDS).write_text("{}")
    (joined / JOURNAL / CAME).write_text("{}")
    ran = well("leave", "--root", joined)
    aside = joined / JOURNAL / "put-aside-1"
    assert ran.out.splitlines()[-3:] == [
        "what the mesh had here was given back",
        f"the journal was put aside in {aside}",
        "this machine is no node any more, and can join anew",
    ]
    assert on_the_machine(joined).keys() == {"etc", "etc/motd", "etc/mesh-host"}
    assert (joined / "etc/motd").read_text() == "before\n"
    assert not (joined / PLACE).exists()
    left = {path.name for path in (joined / JOURNAL).iterdir()}
    assert left <= {"put-aside-1", "lock"}, "nothing of it is applied again"
    assert well("leave", "--root", joined).out == "this machine is no node; nothing to leave\n"


def test_leaving_tells_a_program_what_went(joined: Path) -> None:
    data = well("leave", "--root", joined, "--json").json
    assert (data["left"], data["kept"]) == (True, False)
    assert {action["identity"] for action in data["actions"]} >= {"path:/etc/motd", "path:/srv/a"}
    assert data["put_aside"] == str(joined / JOURNAL / "put-aside-1")


def test_leaving_may_leave_everything_as_it_is(joined: Path) -> None:
    before = on_the_machine(joined)
    ran = well("leave", "--keep", "--root", joined)
    assert ran.out.splitlines()[0] == "what the mesh had here stays as it is"
    after = on_the_machine(joined)
    assert after == {name: what for name, what in before.items() if name != PLACE}
    assert well("owned", "--root", joined).out == "the mesh has nothing on this machine\n"


def test_what_cannot_be_taken_off_keeps_the_machine_a_node(
    joined: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mesh_adapters.host.files import Files

    remove = Files.remove

    def busy(files: Files, path: str) -> None:
        if path == "/srv/a":
            raise OSError(errno.EBUSY, "Device or resource busy")
        remove(files, path)

    with monkeypatch.context() as patched:
        patched.setattr(Files, "remove", busy)
        ran = host("leave", "--root", joined, "--json")
    assert (ran.code, ran.error["code"]) == (4, "not-all-off")
    assert [failed["identity"] for failed in ran.error["failed"]] == ["path:/srv/a"]
    assert "could not be taken off: file /srv/a: " in ran.err
    assert (joined / PLACE).exists()
    assert (joined / "etc/motd").read_text() == "before\n", "the rest is off"
    well("leave", "--root", joined)
    assert not (joined / "srv").exists()
    assert not (joined / PLACE).exists()


def test_what_a_person_edited_since_is_left_and_told(joined: Path) -> None:
    (joined / "srv/a").write_text("mine\n")
    ran = well("leave", "--root", joined)
    assert "/srv/a" in ran.out
    assert (joined / "srv/a").read_text() == "mine\n"
    assert not (joined / PLACE).exists()


def test_more_than_a_host_takes_off_by_itself_goes_too(ready: Plane, root: Path) -> None:
    assert join(root, invited(ready)).code == 0
    files = [file(f"/srv/{number}") for number in range(20)]
    well("apply", "-", "--root", root, stdin=declared(1, *files))
    well("leave", "--root", root)
    assert not (root / "srv").exists()


def test_a_machine_that_was_told_nothing_yet_leaves(ready: Plane, root: Path) -> None:
    assert join(root, invited(ready)).code == 0
    ran = well("leave", "--root", root)
    assert ran.out.splitlines()[-1] == "this machine is no node any more, and can join anew"
    assert not (root / PLACE).exists()


def test_a_damaged_journal_keeps_it_until_somebody_says_keep(joined: Path) -> None:
    (joined / JOURNAL / "journal.db").write_bytes(b"no database" * 99)
    before = on_the_machine(joined)
    ran = host("leave", "--root", joined, "--json")
    assert (ran.code, ran.error["code"]) == (5, "journal")
    assert on_the_machine(joined) == before
    well("leave", "--keep", "--root", joined)
    assert not (joined / PLACE).exists()
    assert on_the_machine(joined).keys() == before.keys() - {PLACE}


def test_a_credential_that_cannot_be_read_keeps_nobody(joined: Path) -> None:
    (joined / PLACE).write_text("{")
    well("leave", "--root", joined)
    assert not (joined / PLACE).exists()
