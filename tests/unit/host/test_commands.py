"""Commands are run, limited in time, and ended with all that they started (design, hazards: git and shell).

> plumbum's `timeout=2` returned after 37 s; killing the group missed a child in its own session
"""

import os
import shlex
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from mesh_adapters.host import commands
from mesh_adapters.host.commands import MOST_OUTPUT, Command, command, run


def shell(text: str, seconds: float = 20, **environment: str) -> Command:
    return command("/bin/sh", "-c", text, seconds=seconds, environment=environment)


def runs(pid: int) -> bool:
    """Whether it still does anything: one that ended and was not asked about does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid: int) -> bool:
    """It may take the kernel a moment."""
    until = time.monotonic() + 5
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not runs(pid)


def pids(place: Path) -> list[int]:
    return [int(line) for line in place.read_text().split()]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A file for the ids of processes; what is still there at the end is ended by its id."""
    place = tmp_path / "pids"
    yield place
    for pid in pids(place) if place.exists() else ():
        if runs(pid):
            os.kill(pid, signal.SIGKILL)


def test_a_program_and_its_arguments_are_a_value_that_nobody_quotes() -> None:
    built = command("printf", "%s|", "a b", "$HOME", "; true", "", seconds=5)
    assert built.argv == ("printf", "%s|", "a b", "$HOME", "; true", "")
    assert run(built).output == "a b|$HOME|; true||"


def test_code_output_and_errors_are_told_apart() -> None:
    ended = run(shell("echo out; echo err >&2; exit 7"))
    assert (ended.code, ended.output, ended.errors) == (7, "out\n", "err\n")
    assert not ended.well
    assert ended.words == "err"
    assert run(shell("exit 3")).words == "it ended with 3 and said nothing"


def test_a_program_that_is_not_there_or_may_not_be_run(tmp_path: Path) -> None:
    assert run(command("no-such-program-here", seconds=5)).code == 127
    (tmp_path / "plain").write_text("")
    ended = run(command(str(tmp_path / "plain"), seconds=5))
    assert ended.code == 126
    assert ended.words == f"{tmp_path}/plain: Permission denied"


def test_it_has_an_environment_of_its_own_and_no_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "of ours")
    ended = run(shell("env; cat", WORD="said"))
    lines = set(ended.output.splitlines())
    assert {"WORD=said", "LC_ALL=C.UTF-8", f"PATH={commands.PATH}", "HOME=/root"} <= lines
    assert not any("SECRET" in line or "MESH" in line for line in lines)
    assert run(shell("pwd; test -t 0 || echo no terminal")).output == "/\nno terminal\n"


def test_the_end_of_a_long_output_is_kept() -> None:
    ended = run(shell(f"head -c {2 * MOST_OUTPUT} /dev/zero | tr '\\0' a; echo the end"))
    assert len(ended.output) == MOST_OUTPUT
    assert ended.output.endswith("the end\n")


def test_output_that_is_no_text_is_no_fault() -> None:
    assert run(shell("printf '\\377x'")).output == "\ufffdx"


def test_one_that_takes_too_long_is_ended_in_time_and_told() -> None:
    began = time.monotonic()
    ended = run(shell("echo working; echo still at it >&2; sleep 60", seconds=0.5))
    assert time.monotonic() - began < 10
    assert ended.code is None
    assert not ended.well
    # Nor does the shell come to say that what it waits for was killed.
    assert ended.words == "it took longer than 0.5 s and was ended: still at it"


def hangs(kind: str, place: Path) -> str:
    """Something that starts another process in one way or another, notes its id and hangs."""
    note = f"echo $$ >>{shlex.quote(str(place))}; exec sleep 61"
    child = shlex.quote(note)
    orphaning = shlex.quote(f"(setsid sh -c {child} &) ; sleep 0.1")
    return {
        "child": f"sh -c {child} & wait",
        "grandchild": f"sh -c {shlex.quote(f'sh -c {child} & wait')} & wait",
        "session": f"setsid sh -c {child} & wait",
        "orphan": f"(setsid sh -c {child} &) ; sleep 61",
        "orphan of an orphan": f"setsid sh -c {orphaning} ; sleep 61",
        "deaf": f"trap '' TERM HUP INT; setsid sh -c {child} & sleep 61",
        "many": f"for i in 1 2 3 4 5 6 7 8; do setsid sh -c {child} & done; wait",
    }[kind]


@pytest.mark.parametrize(
    "kind", ["child", "grandchild", "session", "orphan", "orphan of an orphan", "deaf", "many"]
)
def test_everything_that_it_started_is_ended_with_it(kind: str, place: Path) -> None:
    ended = run(shell(hangs(kind, place), seconds=1.0))
    assert ended.code is None
    started = pids(place)
    assert len(started) == (8 if kind == "many" else 1)
    assert all(gone(pid) for pid in started)


def test_one_that_forks_on_and_on_is_ended(place: Path) -> None:
    """Each starts the next in a session of its own and ends: there is always one that was not seen yet."""
    script = (
        "import os, time\n"
        "until = time.monotonic() + 8\n"
        "while time.monotonic() < until:\n"
        "    if os.fork():\n"
        "        os._exit(0)\n"
        "    os.setsid()\n"
        f"    open({str(place)!r}, 'w').write(str(os.getpid()))\n"
        "    time.sleep(0.005)\n"
    )
    began = time.monotonic()
    ended = run(shell(f"{sys.executable} -c {shlex.quote(script)}; sleep 60", seconds=0.5))
    assert ended.code is None
    assert time.monotonic() - began < 6
    last = place.read_text()
    time.sleep(0.1)
    assert place.read_text() == last
    assert not last or gone(int(last)), "whoever was ended while it wrote has written nothing"


def test_a_daemon_that_stays_behind_goes_on_and_holds_nobody_up(place: Path) -> None:
    note = f"echo $$ >>{shlex.quote(str(place))}; exec sleep 62"
    began = time.monotonic()
    ended = run(shell(f"setsid sh -c {shlex.quote(note)} & sleep 0.3; echo started"))
    assert time.monotonic() - began < 10
    assert ended.well
    assert ended.output == "started\n"
    [daemon] = pids(place)
    assert runs(daemon)
    # A later command that is late ends its own, and not what an earlier one left behind.
    assert run(shell("setsid sleep 63 & sleep 64", seconds=0.5)).code is None
    assert runs(daemon)


def test_another_process_of_ours_is_spared(place: Path) -> None:
    ours = os.posix_spawn("/bin/sleep", ["sleep", "65"], {})
    place.write_text(str(ours))
    assert run(shell("sleep 66", seconds=0.3)).code is None
    assert runs(ours)
    os.kill(ours, signal.SIGKILL)
    os.waitpid(ours, 0)
