"""What a host does to one resource, or has to say of it."""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen

from mesh_core.reconcile.state import State


class Act(StrEnum):
    """What an action does, and to whose doing."""

    MAKE = "make"
    """It is declared, and nothing or something else is there. What is there is remembered."""
    ADOPT = "adopt"
    """It is declared, and was so before the mesh: it is remembered, and stays when the mesh lets go."""
    CHANGE = "change"
    """It is as the host left it, and declared otherwise now."""
    PUT_BACK = "put-back"
    """Somebody else changed it (it drifted): it becomes what is declared, and is reported."""
    REFRESH = "refresh"
    """It is as declared, and a file that it watches changed."""
    CONFIRM = "confirm"
    """It is as declared, and only the journal has to learn it."""
    REMOVE = "remove"
    """It is no longer declared, and the host made it."""
    RESTORE = "restore"
    """It is no longer declared, and what was there before comes back."""
    RELEASE = "release"
    """It is no longer declared, and the machine is as it was before: only the journal lets go."""
    LEAVE = "leave"
    """It is no longer declared, and somebody else changed it since: it stays, and is reported."""
    SWEEP = "sweep"
    """It came along with something that is going: it goes too, unless something else needs it."""


ON_THE_MACHINE = frozenset(
    {Act.MAKE, Act.CHANGE, Act.PUT_BACK, Act.REFRESH, Act.REMOVE, Act.RESTORE, Act.SWEEP}
)
"""Those that change the machine; the others only change what the journal says."""

TAKEN_OFF = frozenset({Act.REMOVE, Act.RESTORE})
"""Those that take something off (design, part 8: the limit on removals)."""

LET_GO = frozenset({Act.REMOVE, Act.RESTORE, Act.RELEASE, Act.LEAVE, Act.SWEEP})
"""Those after which the journal knows of it no more."""


@frozen(kw_only=True)
class Action:
    """One action.

    `observed` is what is there, `target` what is to be there afterwards (None: nothing), `before` what the
    journal remembers from then on as having been there first. `because` are the identities of watched files
    that changed.
    """

    act: Act
    identity: str
    kind: str
    position: int
    observed: State | None
    target: State | None
    before: State | None
    because: tuple[str, ...] = ()
