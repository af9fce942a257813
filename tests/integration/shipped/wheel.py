"""A wheel that is called as the project's and has one script in it, which stands for a version of it."""

from __future__ import annotations

import io
from zipfile import ZipFile, ZipInfo

RUNS = """#!/bin/sh
case $1 in
run) systemd-notify --ready; sleep 1000 ;;
--version) echo mesh-host 0.1.0 ;;
esac
"""
"""A program that comes up."""

ENDS = """#!/bin/sh
case $1 in
run) exit 1 ;;
--version) echo mesh-host 0.2.0 ;;
esac
"""
"""One that does not."""


def wheel(version: str, script: str) -> bytes:
    """The wheel, whose `mesh-host` is that script."""
    info = f"meshwright-{version}.dist-info"
    files = {
        f"meshwright-{version}.data/scripts/mesh-host": script,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: meshwright\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{name},,\n" for name in [*files, f"{info}/RECORD"])
    made = io.BytesIO()
    with ZipFile(made, "w") as archive:
        for name, text in {**files, f"{info}/RECORD": record}.items():
            entry = ZipInfo(name)
            entry.external_attr = (0o100755 if text == script else 0o100644) << 16
            archive.writestr(entry, text)
    return made.getvalue()
