"""A node: what a person said of it (assignments, pins), and what it reported (capabilities)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from attrs import field, frozen
from attrs.validators import optional

from mesh_core.faults import NameKind
from mesh_core.model.names import name_validator, names_validator, refuse_duplicates
from mesh_core.model.network import UNATTACHED, Attachment
from mesh_core.model.order import sorted_names
from mesh_core.model.text import text_validator


class Verdict(StrEnum):
    """Why a node counts as not having a capability (design, part 3, `missing-capability`)."""

    ABSENT = "absent"
    UNREPORTED = "unreported"
    NEVER_REPORTED = "never-reported"


@frozen(kw_only=True)
class Capability:
    """What a machine said of one capability of its own. Raises `InvalidValue`."""

    name: str = field(validator=name_validator(NameKind.CAPABILITY))
    present: bool = True
    detail: str | None = field(default=None, validator=text_validator)


@frozen(kw_only=True)
class Pin:
    """A node takes `provision` from `node`, or from `module` on it. Raises `InvalidValue`."""

    provision: str = field(validator=name_validator(NameKind.PROVISION))
    node: str = field(validator=name_validator(NameKind.NODE))
    module: str | None = field(default=None, validator=optional(name_validator(NameKind.MODULE)))

    @property
    def target(self) -> str:
        """`node` or `node/module`, as it is written."""
        return self.node if self.module is None else f"{self.node}/{self.module}"


def _sorted_report(report: Iterable[Capability] | None) -> tuple[Capability, ...] | None:
    if report is None:
        return None
    return tuple(sorted(report, key=lambda capability: capability.name))


def _sorted_pins(pins: Iterable[Pin]) -> tuple[Pin, ...]:
    return tuple(sorted(pins, key=lambda pin: pin.provision))


@frozen(kw_only=True)
class Node:
    """One machine of the mesh.

    `capabilities` is None for a node that never reported, and empty for one that reported and has none.
    Assignments, capabilities and pins are kept sorted; a node has one pin for a provision. `network` is how
    it is attached to the overlay, which resolution does not read. Raises `InvalidValue`.
    """

    name: str = field(validator=name_validator(NameKind.NODE))
    assigned: tuple[str, ...] = field(
        default=(), converter=sorted_names, validator=names_validator(NameKind.MODULE)
    )
    capabilities: tuple[Capability, ...] | None = field(default=None, converter=_sorted_report)
    pins: tuple[Pin, ...] = field(default=(), converter=_sorted_pins)
    network: Attachment = UNATTACHED

    def __attrs_post_init__(self) -> None:
        reported = tuple(capability.name for capability in self.capabilities or ())
        refuse_duplicates(reported, "capabilities")
        refuse_duplicates(tuple(pin.provision for pin in self.pins), "pins")

    def pin(self, provision: str) -> Pin | None:
        """The node's pin for a provision, or None."""
        for pin in self.pins:
            if pin.provision == provision:
                return pin
        return None

    def lacks(self, capability: str) -> Verdict | None:
        """Why the node does not count as having a capability; None when it reported it present."""
        if self.capabilities is None:
            return Verdict.NEVER_REPORTED
        for reported in self.capabilities:
            if reported.name == capability:
                return None if reported.present else Verdict.ABSENT
        return Verdict.UNREPORTED
