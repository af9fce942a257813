"""Runs a command of a build that nothing shuts in, and ends all that it started."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path

from mesh_adapters.build.sandbox_attend import Bounds, How, Ran, Tail, Watch, attend, last_words
from mesh_adapters.host.commands import become_subreaper, children, end_all


def run_open(
    command: str, folder: Path, environment: Mapping[str, str], tail: Tail, bounds: Bounds, watch: Watch
) -> Ran:
    """Run a command for the shell in a folder. What it started has ended when this returns or raises.

    A process that left its session comes to this one when its parent ends, and is ended then: this one is a
    subreaper afterwards.
    """
    become_subreaper()
    ours = children()
    try:
        process = subprocess.Popen(
            ("/bin/sh", "-euc", command),
            cwd=folder,
            env=dict(environment),
            umask=0o022,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return Ran(how=How.NOT_STARTED, why=str(error))
    try:
        return attend(process, tail, bounds, watch)
    finally:
        end_all(process.pid, ours)
        process.wait()
        last_words(process, tail)
