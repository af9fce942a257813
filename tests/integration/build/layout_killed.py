"""Adds to layouts, and is killed at each step of it: at the first in one layout, at the second in the next.

`python -m tests.integration.build.layout_killed FOLDER` copies FOLDER/before to FOLDER/0, FOLDER/1, ... (or
begins with nothing where there is none) and prints at which steps it was killed, a line for each. It is a
process of its own, since it forks, and whoever runs tests has threads.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

from mesh_adapters.build.layout import Addition, add
from mesh_adapters.build.oci import EMPTY, EMPTY_BYTES, LAYER, MANIFEST, canonical, described
from mesh_adapters.build.registry_blobs import Piece


def addition(name: str) -> Addition:
    """An artifact of one layer, and what refers to it."""
    layer = f"the layer of {name}".encode()
    parts = [Piece(descriptor=described(EMPTY, EMPTY_BYTES), content=EMPTY_BYTES)]
    parts.append(Piece(descriptor=described(LAYER, layer), content=layer))
    manifest = canonical({"layers": [parts[1].descriptor.data()], "config": parts[0].descriptor.data()})
    referrer = canonical({"subject": described(MANIFEST, manifest).data(), "layers": [], "said": name})
    pieces = [Piece(descriptor=described(MANIFEST, each), content=each) for each in (manifest, referrer)]
    return Addition(
        pieces=[*parts, *pieces],
        named={name: pieces[0].descriptor, f"{name}.provenance": pieces[1].descriptor},
        referring={pieces[0].descriptor.digest: pieces[1].descriptor},
    )


def killed_at(layout: Path, number: int) -> str | None:
    """Add in a child that is killed at this step; the step's name, or None where there is no such step."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _be_killed(layout, number, writing)
    os.close(writing)
    _, status = os.waitpid(child, 0)
    with os.fdopen(reading) as said:
        step = said.read()
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return step
    assert os.WEXITSTATUS(status) == 0
    return None


def _be_killed(layout: Path, number: int, writing: int) -> None:
    steps = 0

    def step(name: str) -> None:
        nonlocal steps
        if steps == number:
            os.write(writing, name.encode())
            os.kill(os.getpid(), signal.SIGKILL)
        steps += 1

    try:
        failed = add(layout, addition("new"), lasting=False, step=step)
        os._exit(0 if failed is None else 1)
    finally:
        os._exit(2)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    for number in range(1000):
        layout = folder / str(number)
        if (folder / "before").exists():
            shutil.copytree(folder / "before", layout)
        name = killed_at(layout, number)
        if name is None:
            break
        print(name)
