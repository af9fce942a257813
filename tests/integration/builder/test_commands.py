"""`mesh builder ...`, `mesh-builder join` and `leave`: one sentence, the right exit code, nothing written."""

from __future__ import annotations

import fcntl
import json
import re
import shlex
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.broker.credential import Role, read_credential, to_address
from mesh_adapters.broker.opening import open_builder
from mesh_adapters.broker.principals import account_of, account_of_builder
from mesh_core.ports import BrokerOutage
from tests.integration.builder.shop import Shop, builder
from tests.integration.cli.program import Ran, mesh, nothing_written, ok
from tests.integration.host.cli.program import host, tree

PLACE = Role.BUILDER.place
ANYWHERE = "--without-sandbox"
"""What is refused is not refused for want of bubblewrap: these tests need none."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "machine"
    made.mkdir()
    return made


def invited(shop: Shop, file: Path, name: str = "temp") -> Path:
    ran = mesh("builder", "invite", name, "--admin", shop.plane.admin, "--out", file)
    assert ran.code == 0, ran.err
    return file


def revoked(shop: Shop, name: str = "temp") -> Ran:
    return mesh("builder", "revoke", name, "--admin", shop.plane.admin, "--json")


def names() -> list[str]:
    return [one["builder"] for one in ok("builder", "list", "--json").json["builders"]]


# The control plane.


def test_an_invitation_lets_one_builder_in_and_a_revoked_one_is_out(shop: Shop, tmp_path: Path) -> None:
    file = invited(shop, tmp_path / "temp.json")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    data = json.loads(file.read_text())
    assert (data["builder"], data["broker"]["account"]) == ("temp", "mesh.builder.temp")
    rights = [r"^$", r"^mesh\.built\-by\.temp$", r"^mesh\.requests$"]
    assert shop.plane.permissions("mesh.builder.temp") == [shop.plane.virtual_host, *rights]
    assert "temp" in names()
    first = to_address(read_credential(file, Role.BUILDER), tmp_path)
    with closing(open_builder(first, "temp")) as end:
        assert end.take(0) is None
        again = mesh("builder", "invite", "temp", "--admin", shop.plane.admin, "--out", "-")
        assert "the invitation before has ended" in again.err
        with pytest.raises(BrokerOutage):
            end.take(5)
    file.write_text(again.out)
    with closing(open_builder(to_address(read_credential(file, Role.BUILDER), tmp_path), "temp")) as end:
        assert end.take(0) is None
        ran = revoked(shop)
        assert ran.json == {
            "format": 1,
            "builder": "temp",
            "revoked": True,
            "forgotten": True,
            "queues": {"removed": True, "error": None},
        }
        with pytest.raises(BrokerOutage):
            end.take(5)
    assert "temp" not in names()
    assert "mesh.answers.temp" not in shop.plane.queues()
    ran = revoked(shop)
    assert (ran.code, ran.error["code"]) == (1, "no-such-account")
    assert revoked(shop, "smiht").error["near"] == ["smith"]


def test_a_node_and_a_builder_of_one_name_have_two_accounts() -> None:
    assert account_of("nas") != account_of_builder("nas")
    assert "mesh.control" not in (account_of("control"), account_of_builder("control"))


def test_setup_mends_what_builders_may_do(shop: Shop) -> None:
    shop.server.ctl("set_permissions", "-p", shop.plane.virtual_host, "mesh.builder.smith", ".*", ".*", ".*")
    ran = shop.plane.setup("--json")
    assert {"name": "mesh.builder.smith", "mended": ["rights"]} in ran.json["accounts"]
    assert ran.json["builders"] == ["mason", "smith"]
    assert shop.plane.permissions("mesh.builder.smith")[3] == r"^mesh\.requests$"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["invite", "Smith"], 64, "bad-name"),
        (["revoke", "no one"], 64, "bad-name"),
        (["invite", "temp", "--out", "no/such/folder.json"], 1, "unwritable-file"),
        (["invite", "temp", "--out", "mesh.db"], 1, "exists"),
        (["invite", "temp", "--reach", "http://x"], 64, "bad-address"),
        (["invite", "temp", "--broker", "amqp://127.0.0.1:1"], 5, "broker-no-answer"),
        (["invite", "temp", "--broker", "memory://x"], 1, "no-accounts"),
    ],
)
def test_what_is_not_understood_invites_nobody(shop: Shop, words: list[str], code: int, told: str) -> None:
    with nothing_written(shop.folder / "mesh.db"):
        ran = mesh("builder", *words, "--admin", shop.plane.admin, "--json")
    assert (ran.code, ran.error["code"]) == (code, told)
    assert len(ran.err.splitlines()) == 1
    assert account_of_builder("temp") not in shop.plane.accounts().names()


def test_the_control_plane_has_no_builders_account(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESH_BROKER_CREDENTIAL", "another.json")
    url = shop.plane.url.replace("//", "//mesh.builder.smith@")
    assert mesh("broker", "setup", "--admin", shop.plane.admin, "--broker", url).code == 1
    assert not Path("another.json").exists()


# The builder's machine.


def test_joining_and_leaving(shop: Shop, tmp_path: Path, root: Path) -> None:
    file = invited(shop, tmp_path / "temp.json")
    content = file.read_bytes()
    ran = builder("join", file, "--root", root)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        f"this is the builder temp now; its credential is {root / PLACE}",
        f"{file} was removed: an invitation serves once",
        f"next: mesh-builder run --root {root} --registry oci:/FOLDER",
    ]
    assert (root / PLACE).read_bytes() == content
    assert stat.S_IMODE((root / PLACE).stat().st_mode) == 0o600
    assert not file.exists()
    other = invited(shop, tmp_path / "other.json", "smith-2")
    ran = builder("join", other, "--root", root, "--json")
    assert (ran.code, ran.error["code"]) == (3, "another-builder")
    assert revoked(shop, "smith-2").code == revoked(shop).code == 0
    assert builder("leave", "--root", root, "--json").json == {"format": 1, "left": True}
    assert not (root / PLACE).exists()
    assert builder("leave", "--root", root).out == "there is no builder here; nothing to leave\n"
    ran = builder("join", other, "--root", root, "--json")
    assert (ran.code, ran.error["code"]) == (5, "broker-credentials")
    assert "its builder was shut out" in ran.err
    assert other.exists()
    assert not (root / PLACE).exists()


def test_each_program_says_which_one_takes_an_invitation(shop: Shop, tmp_path: Path, root: Path) -> None:
    file = invited(shop, tmp_path / "temp.json")
    ran = host("join", file, "--root", root, "--json")
    assert (ran.code, ran.error["code"]) == (1, "bad-invitation")
    assert ran.err == f"{file} is for the builder temp: `mesh-builder join` takes it\n"
    data = json.loads(file.read_text())
    data["node"] = data.pop("builder")
    file.write_text(json.dumps(data))
    ran = builder("join", file, "--root", root)
    assert (ran.code, ran.err) == (1, f"{file} is for the node temp: `mesh-host join` takes it\n")
    assert tree(root) == {}
    assert file.exists()
    revoked(shop)


@pytest.mark.parametrize(
    ("words", "config", "code", "told"),
    [
        ([], "", 5, "no-registry"),
        (["--registry", "http://x"], "", 64, "bad-registry"),
        ([], 'registry = "oci:relative"', 1, "bad-registry"),
        ([], "registry = 1", 1, "bad-config"),
        ([], "colour = 1", 1, "bad-config"),
        ([], "registry =", 1, "bad-config"),
        (["--registry", "oci:/srv/x"], 'allow_container = "yes"', 1, "bad-config"),
        (["--registry", "oci:/srv/x"], 'git_credentials = "missing"', 1, "unfit-builder"),
        (["--registry", "oci:/srv/x"], 'registry_credentials = "builder.toml"', 1, "unfit-builder"),
        (["--registry", "oci:/srv/x", ANYWHERE], "", 5, "no-credential"),
        (["--registry", "oci:/srv/x", ANYWHERE, "--state", "/dev/null/x"], "", 5, "unwritable-state"),
        (["--register", "oci:/srv/x"], "", 64, "usage"),
    ],
)
def test_what_would_not_work_is_told_in_a_sentence(
    root: Path, words: list[str], config: str, code: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = root / "etc/mesh-builder/builder.toml"
    place.parent.mkdir(parents=True)
    place.write_text(config)
    ran = builder("run", "--root", root, "--once", "--json", *words)
    assert (ran.code, ran.error["code"]) == (code, told), ran
    assert "Traceback" not in ran.err
    assert not (root / PLACE).exists()


def test_what_is_named_already_need_not_be_said_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mesh_cli.builder.wiring import places_under, yet_to_say

    found = places_under(root)
    assert yet_to_say(found) == " --registry oci:/FOLDER"
    with monkeypatch.context() as patched:
        patched.setenv("MESH_BUILDER_REGISTRY", "oci:/a")
        assert yet_to_say(found) == ""
    found.config.parent.mkdir(parents=True)
    found.config.write_text('registry = "oci:/a"\n')
    assert yet_to_say(found) == ""


def test_a_flag_beats_a_variable_beats_the_file(root: Path) -> None:
    from mesh_cli.builder.settings import from_text, places, settings, to_text

    found = places(root, PLACE, privileged=True)
    found.config.parent.mkdir(parents=True)
    found.config.write_text('registry = "oci:/a"\ngit_identity = "key"\nallow_container = true\n')
    variables = {"MESH_BUILDER_REGISTRY": "oci:/b", "MESH_BUILDER_ALLOW_CONTAINER": "no"}

    def registry(flags: dict[str, Any], variables: dict[str, str]) -> str:
        return settings(found, flags, variables).registry

    assert registry({}, {}) == "oci:/a"
    assert registry({}, variables) == "oci:/b"
    assert registry({"registry": "oci:/c"}, variables) == "oci:/c"
    told = settings(found, {}, variables)
    assert (told.allow_container, settings(found, {}, {}).allow_container) == (False, True)
    assert told.path("git_identity") == found.config.parent / "key"
    assert from_text(to_text(told)) == told


def test_without_bubblewrap_it_does_not_start_unless_it_is_told_to(
    shop: Shop, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: without it a clear warning and, unless told otherwise, a refusal."""
    monkeypatch.setattr("mesh_adapters.build.sandbox.shutil.which", lambda *_, **__: None)
    words = ["run", "--root", root, "--registry", "oci:/srv/x", "--once"]
    monkeypatch.setattr("mesh_cli.builder.wiring._lacking", lambda *_: ())
    ran = builder(*words, "--json")
    assert (ran.code, ran.error["code"]) == (1, "no-sandbox")
    assert "--without-sandbox" in ran.err
    assert tree(root) == {}
    ran = builder(*words, "--without-sandbox")
    assert ran.code == 5
    assert ran.err.startswith("WARNING: commands of builds are not shut in")
    assert "has joined a mesh" in ran.err


def test_one_builder_alone_works_in_a_folder(shop: Shop, tmp_path: Path) -> None:
    words = ["run", "--root", shop.root("smith"), "--registry", "oci:/srv/x", "--once", "--state", tmp_path]
    with (tmp_path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ran = builder(*words, "--json")
    assert (ran.code, ran.error["code"]) == (5, "builder-busy")
    assert builder(*words).code == 0


@pytest.mark.parametrize("line", ["join", "leave", "run"])
def test_help_has_an_example_that_is_understood(line: str) -> None:
    ran = builder(line, "--help")
    assert (ran.code, ran.err) == (0, "")
    assert max(map(len, ran.out.splitlines())) <= 80
    assert re.search(r"^  --json ", ran.out, re.MULTILINE)
    (example,) = re.findall(r"^ +Example: (.*)$", ran.out, re.MULTILINE)
    program, *words = shlex.split(example)
    assert (program, words[0]) == ("mesh-builder", line)
    assert builder(*words, "--help").code == 0
    assert builder(*words, "--bogus").code == 64
