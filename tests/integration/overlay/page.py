"""The page of the documentation that is followed: what a test does by it, stands on it, word for word."""

from __future__ import annotations

import shlex
from pathlib import Path

from attrs import frozen

from tests.integration.cli.program import ROOT, Ran, mesh
from tests.integration.host.homelab.laptop import PROGRAMS
from tests.integration.lab.machine import LabMachine

PAGE = ROOT / "docs/network.md"


def lines() -> list[str]:
    """The commands of the page, without what is said beside them."""
    found, inside = [], False
    for line in PAGE.read_text().splitlines():
        if line.startswith("```"):
            inside = line == "```console"
        elif inside:
            found.append(line.partition("     # ")[0].rstrip())
    return found


@frozen
class Follower:
    """Somebody who follows the page on the control plane's machine, in `folder`."""

    folder: Path

    def mesh(self, line: str, **instead: str) -> Ran:
        """Run a line of the page; `instead` has names in the place of which others are said."""
        assert line in lines(), f"the page does not say: {line}"
        words = [_instead(word, instead) for word in shlex.split(line)]
        assert words[0] == "mesh"
        ran = mesh(*words[1:])
        assert ran.code == 0, f"{line}\n{ran.out}\n{ran.err}"
        return ran

    def on(self, machine: LabMachine, line: str, *, timeout: float = 120, **instead: str) -> str:
        """Run a line of the page on a machine, as root, in its home: what it prints."""
        assert line in lines(), f"the page does not say: {line}"
        said = _instead(line, instead)
        script = f"cd /root && PATH={PROGRAMS}:$PATH && umask 077 && {said}"
        return machine.run(["sh", "-c", script], timeout=timeout).stdout


def _instead(word: str, instead: dict[str, str]) -> str:
    for name, other in instead.items():
        word = word.replace(name, other)
    return word
