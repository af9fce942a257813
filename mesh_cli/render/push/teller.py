"""Who says what a push does: for people line by line, for programs as objects, on a terminal as a table."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from mesh_cli.output import redraws

if TYPE_CHECKING:
    from mesh_cli.wiring_flows import Looked, Publishing
    from mesh_core.model.sent import Standing


class Teller(Protocol):
    """Says what a push does, as it does it."""

    @property
    def counts(self) -> bool:
        """Whether it shows how far it is."""

    def at_work(self) -> AbstractContextManager[None]:
        """As long as this lasts, things are done."""

    def doing(self, what: str) -> None:
        """What is done now, which may take a while."""

    def looked(self, looked: Looked, *, dry_run: bool) -> None:
        """What was decided for each node."""

    def published(self, looked: Looked, publishing: Publishing) -> None:
        """What the broker has confirmed, and what not."""

    def watching(
        self, sent: Mapping[str, int], standings: Mapping[str, Standing]
    ) -> AbstractContextManager[None]:
        """As long as this lasts, the nodes are watched that were sent these generations."""

    def state(self, standing: Standing, generation: int, seconds: float) -> None:
        """News of a node that was sent a generation."""

    def ended(self) -> None:
        """That was all."""


def teller(*, as_json: bool, watches: bool) -> Teller:
    """Lines for people, one JSON object a line, or what is drawn again, on a terminal.

    `watches` is whether it is going to watch the machines.
    """
    if as_json:
        from mesh_cli.render.push.objects import Objects

        return Objects()
    if not redraws():
        from mesh_cli.render.push.lines import Lines

        return Lines()
    from mesh_cli.render.push.live import OnTerminal

    return OnTerminal(watches=watches)
