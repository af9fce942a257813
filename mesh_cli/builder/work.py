"""The process that builds: `python -P -m mesh_cli.builder.work BUILDER'S-PID NAME SETTINGS FOLDER`.

The request comes on its standard input, and the answer, nothing else, goes to its standard output. It is
started by `mesh-builder run`, with no environment and no credential of a broker.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mesh_cli.builder import wiring
from mesh_cli.builder.settings import from_text
from mesh_cli.exits import Exit


def main() -> int:
    """Build what is asked for; the exit code."""
    parent, name, told, folder = sys.argv[1:]
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever says something by mistake says it to people
    answer = wiring.built(sys.stdin.buffer.read(), from_text(told), name, Path(folder), int(parent))
    if answer is None:
        return Exit.INTERRUPTED
    with os.fdopen(answers, "wb") as out:
        out.write(answer)
    return Exit.DONE


if __name__ == "__main__":
    sys.exit(main())
