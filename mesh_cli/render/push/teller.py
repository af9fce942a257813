"""Who says what a push does, and when it is asked to."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from mesh_cli.wiring_flows import Looked, Publishing
    from mesh_core.model.sent import Standing


class Teller(Protocol):
    """Says what a push does, as it does it; what goes on is said by whoever can take it back."""

    counts: ClassVar[bool] = False
    """Whether it shows how far it is."""

    def at_work(self) -> AbstractContextManager[None]:
        """As long as this lasts, things are done."""
        return nullcontext()

    def doing(self, what: str) -> None:
        """What is done now, which may take a while."""
        return

    def looked(self, looked: Looked, *, dry_run: bool) -> None:
        """What was decided for each node."""

    def published(self, looked: Looked, publishing: Publishing) -> None:
        """What the broker has confirmed, and what not."""

    def watching(
        self, sent: Mapping[str, int], standings: Mapping[str, Standing]
    ) -> AbstractContextManager[None]:
        """As long as this lasts, the nodes are watched that were sent these generations."""
        return nullcontext()

    def state(self, standing: Standing, generation: int, seconds: float) -> None:
        """News of a node that was sent a generation."""

    def ended(self) -> None:
        """That was all."""
        return
