"""`mesh-host run` as a process that is killed at random moments, while newer generations are pushed."""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.integration.cli.program import mesh
from tests.integration.push.programs import Machine, Plane, module, node, until

FILES = [f"/srv/{number:02}" for number in range(24)]
ROUNDS = 5
Seen = dict[str, list[int]]
"""By file, the versions that stood in it, as often as they changed."""


def several(version: int) -> dict[str, object]:
    """Files with a version in each, and one that only this version has."""
    own = [f"/srv/of-{version}"]
    return module("several", *((path, f"{version}\n") for path in FILES + own), version=str(version))


@pytest.mark.parametrize("seed", [1])
def test_a_host_that_is_killed_again_and_again_ends_at_the_newest(plane: Plane, seed: int) -> None:
    """> kill -9 of itself: journal resumes

    > Generations only grow

    It never goes back: neither what its journal has taken nor what stands in any file is ever older than
    before. In the end everything is of the newest, and nothing of an older one is left.
    """
    chance = random.Random(seed)
    plane.has([several(1)], [node("pi", "several")])
    assert mesh("push").code == 0
    pi = plane.machine()
    generations = [0]
    with watched(pi) as seen:
        for version in range(2, 2 + ROUNDS):
            with pi.running() as daemon:
                daemon.until(lambda report: report["generation"], "it is at work")
                plane.has([several(version)])
                assert mesh("push").code == 0
                time.sleep(chance.uniform(0, 0.25))
                daemon.kill()
            generations.append(pi.generation)
        with plane.serving(), pi.running():
            until(lambda: plane.stands("pi")[1:] == (1 + ROUNDS, "applied"), "it is at the newest")
    assert generations == sorted(generations)
    assert all(versions == sorted(versions) for versions in seen.values()), seen
    assert (pi.generation, pi.status["state"]) == (1 + ROUNDS, "applied")
    there = {f"/srv/{path.name}": path.read_text() for path in (pi.root / "srv").iterdir()}
    assert there == dict.fromkeys([*FILES, f"/srv/of-{1 + ROUNDS}"], f"{1 + ROUNDS}\n")


@contextmanager
def watched(machine: Machine) -> Iterator[Seen]:
    """Look at every file all the time, and note the version in it whenever that is another."""
    seen: Seen = defaultdict(list)
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.005):
            for path in FILES:
                text = machine.text(path)
                version = 0 if text is None else int(text)
                if not seen[path] or seen[path][-1] != version:
                    seen[path].append(version)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
