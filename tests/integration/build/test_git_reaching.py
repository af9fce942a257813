"""How repositories are reached: nothing runs but git, nothing secret is told, and nothing is left half."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mesh_adapters.build.git import GitSettings, Repositories
from mesh_adapters.build.git_clone import Clone, place_of
from mesh_adapters.build.git_running import Git, Streams, run
from mesh_adapters.build.git_settings import Secrets, read_secrets, telling
from mesh_core.model.source import Commit, Newest, RepositoryAway, Source
from tests.integration.build.repositories import Repository


@pytest.fixture
def far(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "far")


@pytest.fixture
def near(tmp_path: Path) -> Repositories:
    return Repositories(tmp_path / "near")


def clone_at(tmp_path: Path, repository: str, seconds: float = 20) -> Clone:
    home = tmp_path / "near/home"
    home.mkdir(parents=True, exist_ok=True)
    git = Git(home=home, settings=GitSettings(), secrets=Secrets(), until=time.monotonic() + seconds)
    return Clone(repository=repository, place=place_of(tmp_path / "near", repository), git=git)


def away(near: Repositories, address: str) -> str:
    answer = near.look(Source(repository=address))
    assert isinstance(answer, RepositoryAway), answer
    assert "\n" not in answer.why
    return answer.why


@pytest.mark.parametrize(
    "address",
    [
        "ext::touch {marker}",
        "ext::sh -c touch% {marker}",
        "--upload-pack=touch {marker}",
        "-u touch {marker}",
        "fd::17",
        "ssh://-oProxyCommand=touch%20{marker}/x",
        "-oProxyCommand=touch {marker}@host:x",
        "/x; touch {marker}",
        "$(touch {marker})",
        "git://127.0.0.1/x",
        "http://127.0.0.1/x",
    ],
)
def test_an_address_that_no_value_lets_through_runs_nothing_in_git_either(
    address: str, tmp_path: Path
) -> None:
    marker = tmp_path / "ran"
    answer = clone_at(tmp_path, address.format(marker=marker)).update()
    assert isinstance(answer, RepositoryAway)
    assert not marker.exists()
    assert not list((tmp_path / "near").glob("*.git"))


def test_hooks_and_settings_of_a_repository_and_of_the_user_run_nothing(
    far: Repository, near: Repositories, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker, home = tmp_path / "ran", tmp_path / "user"
    home.mkdir()
    (home / "run").write_text(f"#!/bin/sh\ntouch {marker}\n")
    (home / "run").chmod(0o755)
    settings = f"[core]\n\thooksPath = {home}\n\tsshCommand = {home}/run\n\tpager = {home}/run\n"
    (home / ".gitconfig").write_text(f'{settings}[url "/none"]\n\tinsteadOf = "file://"\n')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(home / ".gitconfig"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_SSH", str(home / "run"))
    for name in ("reference-transaction", "post-checkout", "pre-auto-gc"):
        (home / name).write_text((home / "run").read_text())
        (home / name).chmod(0o755)
    commit = far.commit({"a": "1"})
    answer = near.look(Source(repository=far.address))
    assert isinstance(answer, Newest)
    assert answer.commit.id == commit
    assert away(near, "ssh://git@127.0.0.1:1/x")
    assert not marker.exists()


def test_git_is_told_nothing_of_our_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESH_BROKER_SECRET", "hidden")
    git = clone_at(tmp_path, "/x").git
    said = git.near(tmp_path, "-c", "alias.show-env=!env", "show-env").output.decode()
    assert "GIT_CONFIG_NOSYSTEM=1" in said
    assert "hidden" not in said
    assert "GIT_ALLOW_PROTOCOL=none" in said


def test_what_reads_a_clone_reaches_no_repository(
    far: Repository, near: Repositories, tmp_path: Path
) -> None:
    far.commit({"a": "content"})
    near.look(Source(repository=far.address))
    clone = clone_at(tmp_path, far.address)
    ran = clone.git.near(clone.place, "cat-file", "-p", "refs/heads/main:a")
    assert not ran.well
    assert b"content" not in ran.output


def test_a_host_that_listens_to_nobody(near: Repositories) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert "refused" in away(near, f"ssh://git@127.0.0.1:{port}/x.git")
    assert "127.0.0.1" in away(near, f"https://token123@127.0.0.1:{port}/x.git")
    assert "token123" not in away(near, f"https://token123@127.0.0.1:{port}/x.git")


def test_a_host_that_never_answers(tmp_path: Path) -> None:
    near = Repositories(tmp_path / "near", settings=GitSettings(seconds=0.5))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        said = away(near, f"https://127.0.0.1:{silent.getsockname()[1]}/x.git")
    assert "longer than 0.5 s" in said
    assert not list((tmp_path / "near").glob("*.git")) + list((tmp_path / "near").glob("*.new"))


def test_all_that_a_late_command_started_is_ended(tmp_path: Path) -> None:
    script = "trap '' TERM; sleep 60 & echo $!; wait; sleep 60"
    said = bytearray()
    until = time.monotonic() + 0.3
    ran = run(("/bin/sh", "-c", script), {"PATH": os.environ["PATH"]}, until, Streams(take=said.extend))
    assert ran.late
    status = Path(f"/proc/{int(said)}/stat")
    for _ in range(100):
        if not status.exists() or " Z " in status.read_text():
            break
        time.sleep(0.02)
    else:
        pytest.fail("its child still runs")


def test_output_without_end_is_cut_off(tmp_path: Path) -> None:
    until = time.monotonic() + 30
    ran = run(("/bin/sh", "-c", "yes"), {"PATH": os.environ["PATH"]}, until, Streams(most=100_000))
    assert ran.too_much
    assert not ran.late


def test_words_of_git_without_secrets_and_in_one_line() -> None:
    errors = (
        "warning: nothing\nremote: \x1b[31mtoken s3cr3t%2F! is old; s3cr3t/!\n"
        "fatal: Authentication failed for 'https://u:p@host/x'\n"
        "Please make sure you have the correct access rights\n"
    )
    said = telling(errors, Secrets(words=("s3cr3t/!", "s3cr3t%2F!")))
    assert said == "remote: [31mtoken *** is old; ***; fatal: Authentication failed for 'https://host/x'"


def test_a_file_of_passwords_that_others_may_read_is_not_used(far: Repository, tmp_path: Path) -> None:
    far.commit({"a": "1"})
    file = tmp_path / "credentials"
    file.write_text("https://u:s3cr3t@127.0.0.1\n")
    file.chmod(0o644)
    for settings in (GitSettings(credentials=file), GitSettings(identity=file)):
        why = away(Repositories(tmp_path / "near", settings=settings), far.address)
        assert "chmod 600" in why
        assert "s3cr3t" not in why
    file.chmod(0o600)
    secrets = read_secrets(GitSettings(credentials=file))
    assert isinstance(secrets, Secrets)
    assert secrets.words == ("s3cr3t",)
    assert "s3cr3t" not in repr(secrets) + secrets.helper


def test_somebody_elses_repository_on_this_disk(far: Repository, near: Repositories) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a repository away")
    far.commit({"a": "1"})
    for path in (far.path, far.path / ".git"):
        os.chown(path, 12345, 12345)
    assert "belongs to another user" in away(near, far.address)


KILLED = """
import sys
from pathlib import Path
from mesh_adapters.build.git import Repositories
from mesh_core.model.source import Source
print("begun", flush=True)
Repositories(Path(sys.argv[1])).look(Source(repository=sys.argv[2]))
"""


def test_a_git_that_outlives_who_ran_it_keeps_the_lock(tmp_path: Path) -> None:
    near = Repositories(tmp_path / "near", settings=GitSettings(seconds=0.5))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"https://127.0.0.1:{silent.getsockname()[1]}/x"
        argv = [sys.executable, "-c", KILLED, str(tmp_path / "near"), address]
        with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as process:
            connection, _ = silent.accept()
            process.kill()
        with connection:
            assert "another process" in away(near, address)
    by = time.monotonic() + 20
    while "another process" in (said := away(near, address)):
        assert time.monotonic() < by, said
    assert "unable to access" in said


def test_a_history_that_is_larger_than_it_may_be_is_not_kept(tmp_path: Path) -> None:
    far = Repository(tmp_path / "far", filters=False)  # so all of it comes
    first = far.commit({"a": "1"})
    near = Repositories(tmp_path / "near", settings=GitSettings(most_history=100_000))
    assert isinstance(near.look(Source(repository=far.address)), Newest)
    far.commit({"large": os.urandom(500_000)})
    assert away(near, far.address)
    answer = near.newest(far.address, first, (".",))
    assert isinstance(answer, Newest)
    packs = [*(tmp_path / "near").rglob("objects/pack/*")]
    assert all(pack.stat().st_size <= 100_000 for pack in packs)
    assert not list((tmp_path / "near").glob("*.new"))


def test_many_at_once_on_one_clone(far: Repository, tmp_path: Path) -> None:
    commit = far.commit({"mod/a": "1"})
    answers: list[object] = []

    def work(number: int) -> None:
        one = Repositories(tmp_path / "near")
        answers.append(one.check_out(far.address, commit, ("mod",), tmp_path / f"into{number}"))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4
    assert all(isinstance(answer, Commit) for answer in answers), answers


@pytest.fixture
def held(far: Repository, tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "near").mkdir()
    lock = place_of(tmp_path / "near", far.address).with_suffix(".lock")
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield lock


def test_a_clone_that_another_process_keeps_is_waited_for_and_no_longer(
    far: Repository, held: Path, tmp_path: Path
) -> None:
    near = Repositories(tmp_path / "near", settings=GitSettings(seconds=0.3))
    assert "another process" in away(near, far.address)
