"""Three hosts and a control plane in one process, over `memory://`: pushed to, and how they stand then.

Each host is the real one, at work in a thread, on a folder that stands for its machine. The commands are the
real ones too. Everything is in a folder of its own, and gone afterwards.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.opening import open_broker, open_host
from mesh_adapters.host.agent.loop import Agent
from mesh_cli.main import run
from mesh_core.model.node import Capability

MESH = Path(__file__).with_name("mesh.toml")
BROKER = MemoryAddress(name="three-hosts")
NODES = ("nas", "pi", "vps")


def main() -> int:
    """0 where everything went as it should."""
    with tempfile.TemporaryDirectory(prefix="mesh-demo-") as place:
        folder = Path(place)
        os.environ["MESH_STORE"] = str(folder / "mesh.db")
        os.environ["MESH_BROKER"] = str(BROKER)
        broker = open_broker(BROKER)
        broker.add_nodes(NODES)
        for node in NODES:
            (folder / node / "etc").mkdir(parents=True)
        (folder / "vps" / "var").mkdir()
        (folder / "vps" / "var" / "spool").write_text("in the way\n")
        _mesh(0, "init")
        _mesh(0, "import", str(MESH))
        with _at_work(folder):
            say("Three hosts are at work. One of them has a file where a directory is to be.")
            _mesh(4, "push", "--wait", "--timeout", "60")
            _mesh(0, "status")
            say("What is in the way is moved, and the next push sends only what is new.")
            (folder / "vps" / "var" / "spool").unlink()
            _mesh(0, "module", "add", "-", stdin=NEWER)
            _mesh(0, "push", "--wait", "--timeout", "60")
            _mesh(0, "status")
        show(folder / "pi" / "etc" / "web.conf")
        broker.close()
    return 0


NEWER = """{
  "name": "spool",
  "version": "1.1",
  "resources": [{"kind": "directory", "path": "/var/spool/mesh", "mode": "0700"}]
}
"""


@contextmanager
def _at_work(folder: Path) -> Iterator[None]:
    """The three hosts, each in a thread of its own."""
    stop = threading.Event()
    agents = [
        Agent(
            node=node,
            root=folder / node,
            connect=partial(open_host, BROKER, node),
            probe=lambda _machine: (Capability(name="demo"),),
        )
        for node in NODES
    ]
    threads = [threading.Thread(target=agent.run, args=[stop]) for agent in agents]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _mesh(expected: int, *words: str, stdin: str | None = None) -> None:
    """Show a command, run it, and stop where it ends with another code."""
    print(f"\n$ mesh {' '.join(words)}", flush=True)
    before = sys.stdin
    try:
        if stdin is not None:
            sys.stdin = _text(stdin)
        code = run(list(words))
    finally:
        sys.stdin = before
    if code != expected:
        sys.exit(f"demo: that ended with {code}, and {expected} was expected")


def _text(content: str) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(content.encode()), encoding="utf-8")


def say(line: str) -> None:
    """A line between two commands."""
    print(f"\n{line}")


def show(path: Path) -> None:
    """A file of one of the machines."""
    print(f"\n$ cat {path.relative_to(path.parents[2])}\n{path.read_text()}", end="")


if __name__ == "__main__":
    sys.exit(main())
