"""What applying a declaration did, and what of it a host remembers to say later."""

from __future__ import annotations

from attrs import frozen

from mesh_adapters.host.acting import Event
from mesh_adapters.host.checking import Checked
from mesh_adapters.host.gathering import Trouble
from mesh_adapters.host.kind import Failed, LeftAlone
from mesh_core.reconcile import ON_THE_MACHINE, Act


@frozen(kw_only=True)
class Applied:
    """What applying did. `changed` is whether anything on the machine did."""

    node: str
    generation: int
    events: tuple[Event, ...]
    troubles: tuple[Trouble, ...]
    checks: tuple[Checked, ...]

    @property
    def changed(self) -> bool:
        """Whether anything was done on the machine."""
        return any(event.action.act in ON_THE_MACHINE for event in self.events)

    @property
    def failed(self) -> tuple[Event, ...]:
        """The actions that did not come off."""
        return tuple(event for event in self.events if isinstance(event.acted, Failed))

    @property
    def drifted(self) -> tuple[Event, ...]:
        """What somebody else had changed."""
        drift = (Act.PUT_BACK, Act.LEAVE)
        return tuple(e for e in self.events if e.action.act in drift or isinstance(e.acted, LeftAlone))

    @property
    def well(self) -> bool:
        """Whether everything is as declared that can be here."""
        return not self.failed and all(trouble.elsewhere for trouble in self.troubles)
