"""The answers that a builder keeps, by the request's id: a request that comes twice is answered from here."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from mesh_adapters.host.whole import write_whole

MOST = 1000
"""Answers that are kept: the oldest go."""
_NAME = re.compile(r"[0-9a-f]{8,64}\.json")


class Kept:
    """Answers in a directory, each in a file of its own. Raises `OSError` where they cannot be kept."""

    def __init__(self, directory: Path, most: int = MOST) -> None:
        self._directory = directory
        self._most = most
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def answer(self, request: str) -> bytes | None:
        """The answer to a request, as it was sent; None where there is none."""
        try:
            return self._place(request).read_bytes()
        except FileNotFoundError:
            return None

    def keep(self, request: str, answer: bytes) -> None:
        """Keep an answer; it lasts from then on, and is whole."""
        write_whole(self._place(request), answer)
        self._drop_oldest()

    def _place(self, request: str) -> Path:
        return self._directory / f"{request}.json"

    def _drop_oldest(self) -> None:
        kept = [path for path in self._directory.iterdir() if _NAME.fullmatch(path.name)]
        if len(kept) <= self._most:
            return
        with suppress(FileNotFoundError):
            for path in sorted(kept, key=lambda path: path.stat().st_mtime_ns)[: -self._most]:
                path.unlink(missing_ok=True)
