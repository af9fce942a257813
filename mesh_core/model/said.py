"""What a host says to the control plane: hello when it starts, and reports (design, parts 8 and 11)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from attrs import field, frozen

from mesh_core.faults import NameKind
from mesh_core.model.names import name_validator, names_validator
from mesh_core.model.network import key_validator
from mesh_core.model.node import Capability
from mesh_core.model.order import sorted_names

REPORTS_EVERY = 5 * 60
"""Seconds within which a host says something, whatever happens. Design, part 11."""


class Doing(StrEnum):
    """How it stands with a machine, in its own words."""

    APPLYING = "applying"
    """It has taken a declaration and is at work on it."""
    APPLIED = "applied"
    """Everything is as declared."""
    FAILED = "failed"
    """A part could not be made so; the rest is."""
    DRIFTED = "drifted"
    """Somebody had changed something; it is as declared again, or was left alone."""
    REFUSED = "refused"
    """It did not take what it was sent last, and keeps what it had."""


def _texts(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(lines))


def _by_name(capabilities: Iterable[Capability]) -> tuple[Capability, ...]:
    return tuple(sorted(capabilities, key=lambda capability: capability.name))


@frozen(kw_only=True)
class Hello:
    """A host has started. `machine` is its machine's id; `generation` what it took last, if anything.

    `key` is its public key in the overlay, if it has one. `at` is when it was said, by the clock of the
    machine: see `Report`.
    """

    node: str = field(validator=name_validator(NameKind.NODE))
    machine: str
    generation: int | None = None
    key: str | None = field(default=None, validator=key_validator)
    at: str | None = None


@frozen(kw_only=True)
class Report:
    """How it stands with a machine.

    `generation` is what it took last; `applied` the last one that it made so to its end, failures told
    included. `modules` are those of which something is on the machine; `failed` those that are not wholly as
    `applied` declares them. `why` has the host's own words, a line for each thing; `left_out` says how many
    lines were cut. `refused` is the generation that was not taken, with `doing` saying so. `healthy` is
    whether all checks pass; None where there are none. `key` is its public key in the overlay, if it has one.

    `at` is when it was sent, by the clock of the machine: for people, who want to know how fresh it is. A
    clock may be wrong, so nothing is ordered by it, and nothing is decided. None from an older host.
    """

    node: str = field(validator=name_validator(NameKind.NODE))
    machine: str
    generation: int | None = None
    applied: int | None = None
    doing: Doing = Doing.APPLIED
    modules: tuple[str, ...] = field(
        default=(), converter=sorted_names, validator=names_validator(NameKind.MODULE)
    )
    capabilities: tuple[Capability, ...] = field(default=(), converter=_by_name)
    why: tuple[str, ...] = field(default=(), converter=_texts)
    left_out: int = 0
    refused: int | None = None
    healthy: bool | None = None
    failed: tuple[str, ...] = field(
        default=(), converter=sorted_names, validator=names_validator(NameKind.MODULE)
    )
    key: str | None = field(default=None, validator=key_validator)
    at: str | None = None
