"""How commands of a build are run: what they see, what they cannot reach, and that they end."""

import os
import platform
import socket
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.build.sandbox import Bubblewrap, Job, Missing, NotShutIn, Sandbox, find_sandbox
from mesh_adapters.build.sandbox_attend import Limits, Watch
from mesh_adapters.build.sandbox_keys import KEY_CALLS
from mesh_adapters.build.sandbox_place import copy_source, inside, prepare, remove
from tests.integration.build.sandbox_help import AT, STUBBORN, bubblewrap, gone, mark, marked, placed

_KINDS = ("own-account", "user-namespace")


@pytest.fixture(params=_KINDS)
def shut(request: pytest.FixtureRequest) -> Bubblewrap:
    """Both ways to shut in; the account of its own needs root."""
    found = bubblewrap()
    if request.param == "own-account" and not found.own_account:
        pytest.skip("a build gets an account of its own only from a builder that is root")
    return evolve(found, own_account=request.param == "own-account")


@pytest.fixture(params=(*_KINDS, "not-shut-in"))
def each(request: pytest.FixtureRequest) -> Bubblewrap | NotShutIn:
    """Everything that runs commands."""
    if request.param == "not-shut-in":
        return NotShutIn()
    found = bubblewrap()
    return evolve(found, own_account=request.param == "own-account" and found.own_account)


def _job(*commands: str, seconds: float = 20, network: bool = False, folder: str = ".") -> Job:
    return Job(commands=commands, at=AT, seconds=seconds, network=network, folder=folder)


def _said(sandbox: Sandbox, tmp_path: Path, command: str, *, network: bool = False) -> list[str]:
    """What a command says that ends well."""
    ended = sandbox.run(_job(command, network=network), placed(tmp_path), Watch())
    assert ended.why is None, ended
    return list(ended.log[1:])


def test_what_a_build_has_of_an_environment_is_all_said(shut: Bubblewrap, tmp_path: Path) -> None:
    said = _said(shut, tmp_path, "env | sort; pwd; umask; id -un; uname -n")
    assert said == [
        "HOME=/build/home",
        "LANG=C.UTF-8",
        "LC_ALL=C.UTF-8",
        "LOGNAME=build",
        "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "PWD=/build/src",
        "SHELL=/bin/sh",
        "SOURCE_DATE_EPOCH=1796163602",
        "TMPDIR=/tmp",
        "TZ=UTC",
        "USER=build",
        "/build/src",
        "0022",
        "build",
        "build",
    ]


def test_of_the_machine_it_sees_a_list(shut: Bubblewrap, tmp_path: Path) -> None:
    top = set(_said(shut, tmp_path, "ls -A /"))
    assert top - {"lib32", "lib64", "libx32"} == {
        *("bin", "build", "dev", "etc", "lib", "proc", "run", "sbin", "tmp", "usr", "var"),
    }
    assert _said(shut, tmp_path, "ls -A /run /var /tmp") == ["/run:", "/tmp:", "/var:", "tmp"]
    etc = _said(shut, tmp_path, "ls -A /etc /etc/ssl")
    assert not {"shadow", "private", "meshwright", "ssh", "sudoers", "machine-id", "hostname"} & set(etc)


def test_nothing_but_its_own_folders_can_be_written(shut: Bubblewrap, tmp_path: Path) -> None:
    tries = "for f in / /etc /usr /run /var /dev /build; do (echo x >$f/x) 2>/dev/null && echo $f; done; true"
    assert _said(shut, tmp_path, tries) == []
    kept = "for f in /build/src /build/home /tmp /var/tmp /dev/shm; do echo x >$f/x && echo $f; done"
    assert len(_said(shut, tmp_path, kept)) == 5


def test_it_has_no_rights_and_gets_none(shut: Bubblewrap, tmp_path: Path) -> None:
    said = _said(shut, tmp_path, "grep -E '^(CapInh|CapPrm|CapEff|CapAmb|NoNewPrivs)' /proc/self/status")
    assert [line.split()[1] for line in said] == [*["0" * 16] * 4, "1"]


def test_the_kernel_s_own_settings_cannot_be_written(shut: Bubblewrap, tmp_path: Path) -> None:
    # Without what guards it, whoever is root outside may write here, and core_pattern names a program that
    # the kernel runs outside. What is written is what is there.
    again = "f=/proc/sys/kernel/core_pattern; (cat $f >$f) 2>/dev/null && echo written; true"
    assert _said(shut, tmp_path, again) == []


def test_keyrings_are_out_of_reach(shut: Bubblewrap, tmp_path: Path) -> None:
    number = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}.get(platform.machine())
    if number is None:
        pytest.skip(f"the numbers of system calls on {platform.machine()} are not known here")
    get_id, session = 0, -3
    calls = f"perl -e '$! = 0; syscall({KEY_CALLS[number][2]}, {get_id}, {session}, 0); print $! + 0'"
    assert _said(shut, tmp_path, calls) == ["1"]


# The builder of this test has secrets everywhere; its sandbox looks for them. The command that searches does
# not itself contain what it searches for.
_BUILDER = """
import os, sys
from pathlib import Path
from mesh_adapters.build.sandbox import Bubblewrap, Job, NotShutIn
from mesh_adapters.build.sandbox_attend import Watch
from mesh_adapters.build.sandbox_place import Place
kind, root, search, network = sys.argv[1:5]
held = os.open(Path(root).parent / "config/held.json", os.O_RDONLY)
os.set_inheritable(held, True)
own, _, program = kind.partition(":")
sandbox = Bubblewrap(program=program, own_account=own == "own") if program else NotShutIn()
job = Job(commands=(search,), at="2026-12-01T22:20:02Z", seconds=20, network=network == "yes")
ended = sandbox.run(job, Place(root=Path(root)), Watch())
print(*ended.log[1:], ended.why, sep="\\n")
"""
_SEARCH = r"""
secret='c0ff[e]e-broker-pass'
look() { kind=$1; shift; grep -a -s -q "$secret" "$@" && echo "$kind" || true; }
look environment /proc/self/environ
look environ /proc/[0-9]*/environ
look cmdline /proc/[0-9]*/cmdline
look through-root /proc/[0-9]*/root@CONFIG@/broker.json
for f in /proc/self/fd/*; do case $(readlink $f) in *pipe*|*/dev/*) ;; *) look own-fd $f;; esac; done
ls -l /proc/[0-9]*/fd 2>/dev/null | grep -q 'hel[d].json' && echo fd
find @TOP@ \( -path /proc -o -path /usr -o -path /dev \) -prune -o -type f -readable \
    -exec grep -a -s -l "$secret" {} + | sed 's/^/file /' || true
"""


def _found_by_search(kind: str, tmp_path: Path, *, network: bool, everywhere: bool) -> set[str]:
    secret = "".join(("c0ff", "ee-broker-pass"))
    place = placed(tmp_path)
    for name in ("broker.json", "registry.json", "held.json"):
        path = tmp_path / "config" / name
        path.parent.mkdir(mode=0o700, exist_ok=True)
        path.write_text(f'{{"password": "{secret}"}}')
        path.chmod(0o600)
    top = "/" if everywhere else str(tmp_path / "config")
    search = _SEARCH.replace("@TOP@", top).replace("@CONFIG@", str(tmp_path / "config"))
    builder = subprocess.run(
        (
            *(sys.executable, "-c", _BUILDER, kind, str(place.root), search, "yes" if network else "no"),
            f"amqp://builder:{secret}@127.0.0.1",
        ),
        env={**os.environ, "MESH_BROKER": secret, "REGISTRY_AUTH": secret, "PYTHONPATH": os.getcwd()},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    *found, why = builder.stdout.splitlines()
    assert why == "None", builder.stdout
    return set(found)


def _kind(sandbox: Bubblewrap) -> str:
    """What `_BUILDER` takes for a sandbox."""
    return f"{'own' if sandbox.own_account else 'other'}:{sandbox.program}"


@pytest.mark.parametrize("network", [False, True], ids=["alone", "network"])
def test_no_secret_of_the_builder_is_in_reach(shut: Bubblewrap, tmp_path: Path, network: bool) -> None:
    assert _found_by_search(_kind(shut), tmp_path, network=network, everywhere=True) == set()


def test_that_search_finds_them_where_nothing_is_shut_in(tmp_path: Path) -> None:
    found = _found_by_search("not-shut-in", tmp_path, network=False, everywhere=False)
    files = {f"file {tmp_path}/config/{name}.json" for name in ("broker", "registry", "held")}
    # Not its own environment and files, which are never the builder's.
    assert found == {"environ", "cmdline", "fd", "through-root", *files}


def test_the_network_is_there_only_if_asked_for(shut: Bubblewrap, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        call = (
            f"""perl -MIO::Socket::INET -e 'print IO::Socket::INET->new("127.0.0.1:{port}") ? "yes" : "no"'"""
        )
        assert _said(shut, tmp_path, call) == ["no"]
        assert _said(shut, tmp_path, call, network=True) == ["yes"]


def test_a_build_that_forks_and_hangs_is_ended_whole(each: Bubblewrap | NotShutIn, tmp_path: Path) -> None:
    """'A build that forks into a session of its own and hangs is answered "timed out" within its deadline
    + 10 s, and nothing of it lives 5 s later.' It is not waited for those 5 s: nothing lives at once.
    """
    word, place = mark(), placed(tmp_path)
    command = STUBBORN.format(mark=word) + "; while :; do sleep 1; done"
    began = time.monotonic()
    ended = each.run(_job("true", command, seconds=1.5), place, Watch())
    took = time.monotonic() - began
    assert (ended.why, ended.stopped) == ("timed out after 1.5 s", False)
    assert (place.source / "begun").exists()
    assert marked(word) == []
    assert took < 1.5 + 10


def test_what_a_command_leaves_behind_is_ended_before_the_next(
    each: Bubblewrap | NotShutIn, tmp_path: Path
) -> None:
    word, place = mark(), placed(tmp_path)
    waits = "; until [ -e begun ]; do sleep 0.05; done"
    ended = each.run(_job(STUBBORN.format(mark=word) + waits, "sleep 0.2; exit 7"), place, Watch())
    assert ended.why == "command 2 of 2 ended with 7: sleep 0.2; exit 7"
    assert (place.source / "begun").exists()
    assert marked(word) == []


def test_a_build_dies_with_its_builder(shut: Bubblewrap, tmp_path: Path) -> None:
    word, place = mark(), placed(tmp_path)
    command = STUBBORN.format(mark=word) + "; while :; do sleep 1; done"
    (tmp_path / "config").mkdir()
    (tmp_path / "config/held.json").touch()
    builder = subprocess.Popen(
        (sys.executable, "-c", _BUILDER, _kind(shut), str(place.root), command, "no"),
        env={**os.environ, "PYTHONPATH": os.getcwd()},
    )
    try:
        until = time.monotonic() + 20
        while not marked(word) and time.monotonic() < until:
            time.sleep(0.05)
        assert marked(word)
    finally:
        builder.kill()
        builder.wait()
    assert gone(word, 5)


def test_the_builder_is_told_that_it_lives(each: Bubblewrap | NotShutIn, tmp_path: Path) -> None:
    calls: list[float] = []
    watch = Watch(alive=lambda: calls.append(time.monotonic()))
    # Silent, and then so loud that reading never has to wait.
    assert (
        each.run(_job("sleep 1.2", "timeout 1.2 cat /dev/zero || true"), placed(tmp_path), watch).why is None
    )
    assert len(calls) >= 4
    assert max(after - before for before, after in pairwise(calls)) < 1.5


def test_a_builder_that_is_asked_to_stop_ends_its_build(each: Bubblewrap | NotShutIn, tmp_path: Path) -> None:
    word, place, asked = mark(), placed(tmp_path), threading.Event()

    def stop() -> bool:
        if (place.source / "begun").exists():
            asked.set()
        return asked.is_set()

    command = STUBBORN.format(mark=word) + "; sleep 60"
    ended = each.run(_job(command), place, Watch(asked_to_stop=stop))
    assert (ended.why, ended.stopped) == ("the builder was asked to stop", True)
    assert marked(word) == []


def test_a_builder_that_falls_leaves_no_build(each: Bubblewrap | NotShutIn, tmp_path: Path) -> None:
    word, place = mark(), placed(tmp_path)

    def fall() -> None:
        if (place.source / "begun").exists():
            raise ConnectionError("the broker is gone")

    with pytest.raises(ConnectionError):
        each.run(_job(STUBBORN.format(mark=word) + "; sleep 60"), place, Watch(alive=fall))
    assert marked(word) == []


def test_the_last_lines_are_kept_and_only_those(each: Bubblewrap | NotShutIn, tmp_path: Path) -> None:
    loud = r"seq 200000; printf '\033[31mred\033[0m\rwith \007bell\n\377\n'; echo so >&2; false"
    ended = each.run(_job(loud), placed(tmp_path), Watch())
    assert ended.why is not None
    assert ended.why.startswith("command 1 of 1 ended with 1: seq 200000")
    assert ended.log[-4:] == ("red", "with bell", "\ufffd", "so")
    assert len(ended.log) == 100
    assert ended.log[0] == str(200000 - 95)
    long = each.run(_job("head -c 300000 /dev/zero | tr '\\0' x; echo; seq 9"), placed(tmp_path), Watch())
    assert sum(map(len, long.log)) < 16 * 1024
    assert long.log[-1] == "9"


def test_a_build_that_is_ended_by_a_signal_says_so(each: Bubblewrap | NotShutIn, tmp_path: Path) -> None:
    ended = each.run(_job("kill -KILL $$"), placed(tmp_path), Watch())
    said = "was ended by signal 9" if isinstance(each, NotShutIn) else "ended with 137"
    assert ended.why == f"command 1 of 1 {said}: kill -KILL $$"


def test_a_build_leaves_room_on_the_disk(each: Bubblewrap | NotShutIn, tmp_path: Path) -> None:
    word = mark()
    greedy = evolve(each, limits=Limits(free_bytes=2**62))
    ended = greedy.run(_job(STUBBORN.format(mark=word) + "; sleep 60"), placed(tmp_path), Watch())
    assert ended.why is not None
    assert ended.why.startswith("the builder's disk is nearly full")
    assert gone(word, 0)


def test_a_file_and_the_processes_of_a_build_are_bounded(tmp_path: Path) -> None:
    found = bubblewrap()
    small = evolve(found, limits=Limits(file_bytes=1_000_000, processes=40))
    ended = small.run(_job("head -c 3000000 /dev/zero >big"), placed(tmp_path), Watch())
    assert ended.why is not None
    if found.own_account or os.geteuid() != 0:  # root has as many as it likes
        forks = "i=0; while [ $i -lt 80 ]; do sleep 5 & i=$((i + 1)); done"
        ended = small.run(_job(forks), placed(tmp_path), Watch())
        assert ended.why is not None
        assert any("ork" in line for line in ended.log)


def test_commands_begin_in_the_module_s_folder(each: Bubblewrap | NotShutIn, tmp_path: Path) -> None:
    place = placed(tmp_path, {"modules/web/x": "x", "shared/y": "y"})
    ended = each.run(_job("cat x ../../shared/y", folder="modules/web"), place, Watch())
    assert (ended.why, ended.log[-1]) == (None, "xy")


def test_a_machine_without_bubblewrap_says_so(tmp_path: Path) -> None:
    found = find_sandbox(path=str(tmp_path))
    assert found == Missing(why="bubblewrap (bwrap) is not installed")


def test_a_bubblewrap_that_cannot_work_here_is_found_out(tmp_path: Path) -> None:
    program = tmp_path / "bwrap"
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n")
    program.chmod(0o755)
    found = find_sandbox(path=str(tmp_path))
    assert isinstance(found, Missing)
    assert "cannot shut anything in here: bwrap: No permissions to create new namespace" in found.why
    broken = Bubblewrap(program=str(program), own_account=False)
    ended = broken.run(_job("true"), placed(tmp_path), Watch())
    assert ended.why is not None
    assert ended.why.startswith("the sandbox could not be started: ")


def test_a_place_has_a_source_without_git_and_the_machine_s_accidents(tmp_path: Path) -> None:
    there = tmp_path / "there"
    (there / ".git").mkdir(parents=True)
    (there / ".git/config").write_text("password")
    (there / "deep").mkdir(mode=0o700)
    (there / "deep/run").touch(mode=0o700)
    (there / "deep/read").touch(mode=0o600)
    (there / "link").symlink_to("deep/run")
    (there / "away").symlink_to("deep")
    place = prepare(tmp_path / "place")
    copy_source(there, place, AT, Watch())
    paths = sorted(place.source.rglob("*"))
    assert [str(path.relative_to(place.source)) for path in paths] == [
        *("away", "deep", "deep/read", "deep/run", "link"),
    ]
    modes = [oct(path.lstat().st_mode & 0o777) for path in paths if not path.is_symlink()]
    assert modes == ["0o755", "0o644", "0o755"]
    assert {path.lstat().st_mtime for path in (*paths, place.source)} == {1796163602.0}


def test_a_way_through_a_link_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "real/dist").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    assert inside(tmp_path, "real/dist") == tmp_path / "real/dist"
    assert inside(tmp_path, ".") == tmp_path
    for path in ("link/dist", "link", "real/none", "../x", "real/../real/dist"):
        assert inside(tmp_path, path) is None


def test_what_a_build_closed_to_itself_is_removed(tmp_path: Path) -> None:
    place = placed(tmp_path)
    ended = bubblewrap().run(_job("mkdir -p a/b; ln -s /etc c; chmod 0 a/b a"), place, Watch())
    assert ended.why is None
    remove(place.root)
    assert not place.root.exists()
    assert Path("/etc").exists()
