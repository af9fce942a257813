"""What a push comes to for one node, as values with facts; `mesh_core.explain.push` has the sentences."""

from __future__ import annotations

from attrs import field, frozen

from mesh_core.model.declaration import Declaration
from mesh_core.model.sent import Answered, Sent


@frozen(kw_only=True)
class UnsettledTake:
    """It takes this from a refused node that was never sent the module that is taken."""

    provision: str
    node: str
    module: str


@frozen(kw_only=True)
class ClaimHeld:
    """`module` here claims this in the whole mesh, and `node` has not reported letting it go."""

    claim: str
    module: str
    node: str


@frozen(kw_only=True)
class Moved:
    """The answer would be another than the one declared last, and nobody has said that this is meant."""

    before: Answered
    after: Answered


@frozen(kw_only=True)
class NeedsWord:
    """More would be taken off at once than a host does without the word for it; with `empty`, everything."""

    going: tuple[str, ...]
    known: int
    most: int
    empty: bool


@frozen(kw_only=True)
class TooLarge:
    """The declaration is larger than one may be; `largest` are its largest parts, in words."""

    size: int
    limit: int
    largest: tuple[str, ...]


Why = UnsettledTake | ClaimHeld | Moved | NeedsWord | TooLarge
"""Why nothing is sent although there is a plan."""


@frozen(kw_only=True)
class Send:
    """This is to be sent. `body` is the document; `meant` are moves that somebody has said are meant."""

    declaration: Declaration
    sent: Sent
    body: bytes = field(repr=False)
    meant: tuple[Moved, ...] = ()


@frozen(kw_only=True)
class Unchanged:
    """It would say what the newest one, of this generation, says already."""

    generation: int


@frozen(kw_only=True)
class NothingToSay:
    """Nothing is to be on it, and nothing was ever sent."""


@frozen(kw_only=True)
class TurnedDown:
    """The mesh refuses the node; it keeps what it was sent last, of generation `keeps`, if anything."""

    keeps: int | None


@frozen(kw_only=True)
class Held:
    """There is a plan, and it waits for all of these."""

    whys: tuple[Why, ...]


Outcome = Send | Unchanged | NothingToSay | TurnedDown | Held
