"""How the tests run `mesh-host`: inside this process, or as one of its own; and what they declare."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from mesh_cli.host.main import run
from mesh_core import Resource
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.wire.declaration import declaration_to_data
from tests.integration.cli.program import Ran, environment

PROGRAM = "from mesh_cli.host.program import main; main()"
JOURNAL = "var/lib/mesh-host"


def host(*arguments: object, stdin: bytes = b"") -> Ran:
    """Run `mesh-host` inside this process."""
    out, err = io.StringIO(), io.StringIO()
    source = io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", source):
        code = run([str(argument) for argument in arguments])
    assert "Traceback" not in err.getvalue()
    return Ran(code=int(code), out=out.getvalue(), err=err.getvalue())


def well(*arguments: object, stdin: bytes = b"") -> Ran:
    """Run it inside this process; it has to end well, and says nothing on stderr."""
    ran = host(*arguments, stdin=stdin)
    assert ran.code == 0, ran.err
    assert not ran.err
    return ran


def process(*arguments: object, stdin: bytes = b"", before: Sequence[str] = ()) -> Ran:
    """Run it as a process of its own, behind the command `before`."""
    ran = subprocess.run(
        [*before, sys.executable, "-c", PROGRAM, *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env=environment(),
        timeout=60,
        check=False,
    )
    assert b"Traceback" not in ran.stderr, ran.stderr.decode()
    return Ran(code=ran.returncode, out=ran.stdout.decode(), err=ran.stderr.decode())


def file(path: str, content: str = "ours\n", **more: Any) -> Resource:
    return Resource(kind="file", path=path, attributes_json={"content": content, **more})


def named(kind: str, name: str, **more: Any) -> Resource:
    return Resource(kind=kind, name=name, attributes_json=more)


def declared(
    generation: int, *resources: Resource, node: str = "pi", module: str = "web", **words: Any
) -> bytes:
    """A declaration of one module with these resources; of none without any."""
    modules = [DeclaredModule(name=module, version="1", resources=resources)] if resources else []
    told = Declaration(node=node, generation=generation, modules=modules, **words)
    return json.dumps(declaration_to_data(told)).encode()


def tree(root: Path) -> dict[str, object]:
    """Everything under a directory: its mode, and its bytes or what it is."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        content = path.read_bytes() if path.is_file() else "directory" if path.is_dir() else os.readlink(path)
        found[str(path.relative_to(root))] = (path.lstat().st_mode, content)
    return found


def on_the_machine(root: Path) -> dict[str, object]:
    """The same without the journal."""
    return {path: what for path, what in tree(root).items() if not path.startswith("var")}
