"""What an account has at a broker, beside what it is to have. Both doors to the accounts compare alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from mesh_core.ports import Amiss, Rights


@frozen
class Standing:
    """What an account has: its patterns, where it has any here; its limits; and a say over the broker."""

    patterns: tuple[str, str, str] | None
    limits: Mapping[str, Any]
    powers: bool

    @classmethod
    def of(
        cls, given: Mapping[str, Any] | None, limits: Mapping[str, Any] | None, tags: Iterable[str]
    ) -> Standing:
        """From what a broker lists: of its permissions, of its limits, of its users."""
        patterns = None if given is None else (given["configure"], given["write"], given["read"])
        return cls(patterns, limits or {}, bool(tags))


def limits_of(rights: Rights) -> dict[str, int]:
    """The limits of an account, by the names that a broker has for them."""
    return {"max-connections": rights.connections, "max-channels": rights.channels}


def all_amiss(stand: Mapping[str, Standing], wanted: Mapping[str, Rights]) -> dict[str, tuple[Amiss, ...]]:
    """What is amiss with each of these accounts, of those that there are."""
    return {name: amiss(stand[name], rights) for name, rights in wanted.items() if name in stand}


def amiss(standing: Standing, rights: Rights) -> tuple[Amiss, ...]:
    """What is not as it is to be. Only a limit that is another, or missing, is: other limits may be there."""
    wrong = {
        Amiss.RIGHTS: standing.patterns != (rights.configure, rights.write, rights.read),
        Amiss.LIMITS: not limits_of(rights).items() <= standing.limits.items(),
        Amiss.POWERS: standing.powers,
    }
    return tuple(what for what, is_wrong in wrong.items() if is_wrong)
