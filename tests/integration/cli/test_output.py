"""Where output goes: a pipe that closes, a disk that is full, a terminal, a stream that is not there.

"No wrapping and no colour when stdout is no terminal"; text of other people is shown, never interpreted; and
whatever becomes of the output, the exit code says what became of the command.
"""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.integration.cli.program import (
    CTRL_C,
    EXAMPLES,
    command,
    environment,
    events,
    mesh,
    nothing_written,
    ok,
    process,
    rows,
    started,
    written,
)

HOMELAB = EXAMPLES / "homelab" / "mesh.toml"


def shell(line: str, **more: str) -> tuple[int, str, str]:
    """A line of bash in which `mesh` is the program; the exit code is that of `mesh`, in a pipe too."""
    quoted = " ".join(f"'{word}'" for word in command())
    script = f'mesh() {{ {quoted} "$@"; }}\n{line}\nexit ${{PIPESTATUS[0]}}'
    ran = subprocess.run(
        ["bash", "-c", script],
        env=environment(**more),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout, ran.stderr


def test_a_reader_who_has_had_enough_is_no_failure(store: Path) -> None:
    assert shell("mesh plan | head -1")[0] == 0
    for line in ("history --json | true", "--help | true"):
        assert shell(f"mesh {line}") == (0, "", "")
    code, out, err = shell(f"mesh plan --file '{HOMELAB}' | head -1")
    assert (code, err) == (3, ""), "a plan with a refused node ends with 3, whoever reads it"
    assert out.startswith("Plan ")
    code, _, err = shell("mesh plan nowhere --json | true")
    assert code == 1
    assert err.startswith("there is no node 'nowhere'")


def test_a_command_that_nobody_listens_to_has_done_its_work(store: Path) -> None:
    large = {"format": 1, "nodes": [{"name": f"node-{number}"} for number in range(5000)]}
    written(store.parent, "large.json", large)
    assert shell("mesh import large.json | head -1")[:2] == (0, "+ node node-0\n")
    assert len(rows(store)["nodes"]) == 5002
    assert len(events(store)) == 2


def test_a_reader_who_is_slow_keeps_nobody_from_writing(store: Path) -> None:
    """More is printed than a pipe holds, and nobody reads: another command goes through meanwhile."""
    large = {"format": 1, "nodes": [{"name": f"node-{number}"} for number in range(5000)]}
    written(store.parent, "large.json", large)
    with started("import", "large.json") as running:
        assert running.stdout is not None
        running.stdout.read(1)
        ok("node", "add", "tv")
        running.communicate(timeout=60)
    assert running.returncode == 0
    assert len(rows(store)["nodes"]) == 5003


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("line", ["plan", "plan nowhere --json", "--help"])
def test_a_full_disk_behind_stdout_is_told(store: Path, line: str) -> None:
    assert shell(f"mesh {line} >/dev/full") == (
        1,
        "",
        "standard output cannot be written: No space left on device\n",
    )


def test_streams_that_are_not_there(store: Path) -> None:
    assert shell(f"mesh plan --file '{HOMELAB}' >&- 2>&-")[0] == 3
    assert shell("mesh plan nowhere 2>&-") == (1, "", "")
    assert shell("mesh node add tv >&- 2>&- <&-")[0] == 0
    assert "tv" in ok("node", "list").out


def test_a_pipe_gets_no_colour_and_no_wrapping(store: Path) -> None:
    name = "a" * 63
    ok("node", "add", name)
    ok("import", "-", stdin=json.dumps({"format": 1, "nodes": [{"name": name, "assign": ["zsh"]}]}))
    for line in ("plan", "node list"):
        code, out, _ = shell(f"mesh {line}", COLUMNS="20", FORCE_COLOR="1", CLICOLOR_FORCE="1")
        assert code == 0
        assert "\x1b" not in out
        assert any(part.startswith(name) and len(part) > 70 for part in out.splitlines())


def test_a_stream_of_another_encoding_gets_escapes(store: Path, folder: Path) -> None:
    ok("node", "report", "pi", "-", stdin='{"gpu": {"present": true, "detail": "größer"}}')
    c_locale = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code, out, err = shell("mesh node show pi", **c_locale)
    assert (code, err) == (0, "")
    assert r"gr\xf6\xdfer" in out
    code, out, err = shell("mesh node show pi --json", **c_locale)
    assert json.loads(out)["node"]["capabilities"]["gpu"]["detail"] == "größer"
    code, out, err = shell("mesh plan --file grö.json --json", **c_locale)
    assert code == 1
    assert "cannot be read" in json.loads(out)["error"]["message"]


ATTACHED = f"{CTRL_C}import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
"""Makes a terminal the one that ctrl-c is a signal on."""


def on_terminal(*arguments: str, typed: bytes = b"", **more: str) -> tuple[int, str]:
    """Run `mesh` with a terminal for all its streams; what it printed there, and its exit code."""
    leader, follower = pty.openpty()
    env = environment(TERM="xterm", **more)
    with started(*arguments, before=ATTACHED, terminal=follower, env=env) as running:
        os.close(follower)
        printed = b""
        while read := _read(leader):
            printed += read
            if typed and b"[y/N]" in printed:
                # A ctrl-c between the prompt and the reading is only noticed with the next key.
                time.sleep(0.3)
                os.write(leader, typed)
                typed = b""
        with suppress(subprocess.TimeoutExpired):  # it asks for what nobody types
            running.wait(timeout=20)
    os.close(leader)
    return running.returncode, printed.decode().replace("\r\n", "\n")


def _read(terminal: int) -> bytes:
    """What was printed next; nothing when the other end is closed, or says nothing more for long."""
    if not select.select([terminal], [], [], 20)[0]:
        return b""
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says it so that nobody is at the other end
        return b""


def test_a_terminal_gets_colour_unless_it_wants_none(store: Path) -> None:
    plan = ("plan", "--file", str(HOMELAB))
    code, printed = on_terminal(*plan)
    assert code == 3
    assert "\x1b[31m\x1b[1mrefused: \x1b[0m" in printed
    code, printed = on_terminal(*plan, NO_COLOR="1")
    assert code == 3
    assert "\x1b" not in printed
    assert printed == mesh(*plan).out


KEEPS = "  its machine keeps what it has until `mesh-host leave` there\n"


def test_a_person_is_asked_before_anything_is_removed(store: Path) -> None:
    ok("node", "add", "tv", "car", "attic")
    with nothing_written(store):
        code, printed = on_terminal("node", "remove", "tv", typed=b"\n")
        assert code == 1
        assert printed.startswith("- node tv\nGo on? [y/N]:")
        assert printed.endswith("nothing was changed\n")
        code, printed = on_terminal("node", "remove", "tv", typed=b"\x03")  # ctrl-c
        assert code == 130
        assert printed.endswith("interrupted; nothing was recorded\n")
        code, printed = on_terminal("node", "remove", "nas")
        assert code == 3, "what would be refused is not asked about"
        assert "Go on?" not in printed
    code, printed = on_terminal("node", "remove", "tv", typed=b"y\n")
    assert code == 0
    assert printed.endswith(f"node tv is removed\n{KEEPS}")
    assert on_terminal("node", "remove", "car", "--yes") == (0, f"node car is removed\n{KEEPS}")
    assert on_terminal("node", "remove", "attic", "--no-input") == (0, f"node attic is removed\n{KEEPS}")


def test_who_replaces_a_mesh_is_asked_as_well(store: Path, folder: Path) -> None:
    written(folder, "mesh.json", {"format": 1})
    with nothing_written(store):
        code, printed = on_terminal("import", "mesh.json", "--replace", typed=b"n\n")
        assert code == 1
        for line in ("- node nas\n", "- node pi\n", "- module web\n", "nothing was changed\n"):
            assert line in printed
    assert on_terminal("import", "mesh.json", "--replace", "-y")[0] == 0
    assert rows(store)["nodes"] == []


def test_where_nobody_can_be_asked_nobody_is(store: Path) -> None:
    ok("node", "add", "tv")
    ran = process("node", "remove", "tv")
    assert (ran.code, ran.out, ran.err) == (0, f"node tv is removed\n{KEEPS}", "")


def test_nothing_in_a_text_is_markup_on_a_terminal(store: Path) -> None:
    detail = "[bold red]x[/] \x1b[5mblink\x1b[0m \x07 \n2nd line"
    ok("node", "report", "pi", "-", stdin=json.dumps({"gpu": {"present": True, "detail": detail}}))
    code, printed = on_terminal("node", "show", "pi")
    assert code == 0
    assert r"gpu present: [bold red]x[/] \x1b[5mblink\x1b[0m \x07 \n2nd line" in printed
    assert "\x1b" not in printed
    code, printed = on_terminal("node", "show", "[bold]\x1b[31mpi")
    assert code == 64
    assert "\x1b" not in printed
    code, printed = on_terminal("--\x1b[31mx")
    assert code == 64
    assert "\x1b" not in printed
