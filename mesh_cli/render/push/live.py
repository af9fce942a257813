"""What a push says on a terminal: how far it is, and a table of how the machines take it, drawn again."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import frozen

from mesh_cli.output import flush, say, seconds_since, styled, table
from mesh_cli.render.push.lines import Lines
from mesh_cli.wiring import now
from mesh_core.explain.push import Going, how_it_goes
from mesh_core.explain.words import counted, span

if TYPE_CHECKING:
    from rich.text import Text

    from mesh_cli.wiring_flows import Looked, Publishing
    from mesh_core.model.sent import Standing

HEAD = ["NODE", "SENT", "STATE", "TIME", "WHY"]
A_SECOND = 4
"""How often the table is drawn: the seconds in it go on also while nothing comes."""
_AT_THE_BEGINNING = "\r\x1b[K"
_COLOURS = {
    "applied": "green",
    "failed": "red",
    "refused": "red",
    "drifted": "yellow",
    "applying": "yellow",
}


@frozen(kw_only=True)
class Row:
    """One node that was sent a generation: how it goes, and how long that took, None while it lasts."""

    node: str
    generation: int
    going: Going
    seconds: float | None = None


def drawn(rows: list[Row], seconds: float, height: int | None = None) -> list[str]:
    """The table of what was sent `seconds` ago, and what it comes to, in at most so many lines.

    Where that is too little those are shown that are not done, as far as there is room.
    """
    told = summary(rows)
    if height is not None and len(rows) + 3 > height:
        coming = sorted(rows, key=lambda row: row.going.ended)
        rows, left = coming[: max(height - 4, 1)], coming[max(height - 4, 1) :]
        told = f"{told}   ({counted(len(left), 'node')} more)"
    cells = [
        [row.node, str(row.generation), row.going.state, _time(row, seconds), row.going.why] for row in rows
    ]
    head, *body = table(cells, HEAD)
    at = head.index("STATE")
    return [
        head,
        *(_coloured(line, at, row.going.state) for line, row in zip(body, rows, strict=True)),
        "",
        told,
    ]


def summary(rows: list[Row]) -> str:
    """`2 applied, 1 failed, 1 waiting`."""
    counts = Counter(row.going.state if row.going.taken else "waiting" for row in rows)
    order = ["applied", "drifted", "failed", "refused", "applying", "waiting"]
    return ", ".join(f"{counts[word]} {word}" for word in order if counts[word])


def _time(row: Row, seconds: float) -> str:
    return span(seconds if row.seconds is None else row.seconds)


def _coloured(text: str, at: int, state: str) -> str:
    colour, end = _COLOURS.get(state), at + len(state)
    return text if colour is None else f"{text[:at]}{styled(state, colour)}{text[end:]}"


class OnTerminal(Lines):
    """Lines as elsewhere, but for what goes on: that is one line, or one table, in the place of the last."""

    counts = True

    def __init__(self, *, watches: bool) -> None:
        super().__init__()
        self._watches = watches
        self._rows: dict[str, Row] = {}
        self._begun = 0.0

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """What was done last is not left there, whatever it ended with."""
        try:
            yield
        finally:
            self._clear()

    def doing(self, what: str) -> None:
        """What is done now, in the place of what was done before."""
        print(f"{_AT_THE_BEGINNING}{what} ...", end="", flush=True)

    def looked(self, looked: Looked, *, dry_run: bool) -> None:
        """As elsewhere."""
        self._clear()
        super().looked(looked, dry_run=dry_run)

    def published(self, looked: Looked, publishing: Publishing) -> None:
        """As elsewhere."""
        self._clear()
        super().published(looked, publishing)

    def _confirmed(self, looked: Looked, publishing: Publishing) -> None:
        if not self._watches:  # else it stands in the table
            super()._confirmed(looked, publishing)

    @contextmanager
    def watching(self, sent: Mapping[str, int], standings: Mapping[str, Standing]) -> Iterator[None]:
        """The table is there, and stays there as it was in the end, also where somebody has seen enough."""
        from rich.console import Console
        from rich.live import Live

        self._begun = time.monotonic()
        self._rows = {
            node: Row(node=node, generation=generation, going=_goes(standings[node], generation))
            for node, generation in sorted(sent.items())
            if node in standings
        }
        console = Console(file=sys.stdout, highlight=False)
        say("")
        try:
            with Live(
                get_renderable=lambda: self._drawing(console.height),
                console=console,
                refresh_per_second=A_SECOND,
                transient=True,
            ):
                yield
        finally:
            say(drawn([*self._rows.values()], self._seconds))
            flush()

    def state(self, standing: Standing, generation: int, seconds: float) -> None:
        """It stands in the table from now on."""
        going = _goes(standing, generation)
        took = seconds if going.ended else None
        self._rows[standing.node] = Row(node=standing.node, generation=generation, going=going, seconds=took)

    def _drawing(self, height: int) -> Text:
        from rich.text import Text

        what = f"{counted(len(self._rows), 'node')} at work (ctrl-c stops watching, not the change)"
        lines = [what, "", *drawn([*self._rows.values()], self._seconds, height - 3)]
        return Text.from_ansi("\n".join(lines), no_wrap=True, overflow="ellipsis")

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._begun

    def _clear(self) -> None:
        print(_AT_THE_BEGINNING, end="", flush=True)


def _goes(standing: Standing, generation: int) -> Going:
    silent = None if standing.seen_at is None else seconds_since(standing.seen_at, now())
    return how_it_goes(standing, generation, silent)
