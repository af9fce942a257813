"""`audio`, with the cards: something that plays sound."""

from __future__ import annotations

from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import entries, text
from mesh_core.model.node import Capability


class Audio:
    """The probe `audio`."""

    reports: tuple[str, ...] = ("audio",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """The cards that have something to play on."""
        cards = [e for e in entries(machine.root / "proc/asound") if e.name[4:].isdigit() and e.is_dir()]
        plays = [card for card in cards if any(_plays(entry.name) for entry in entries(card))]
        if plays:
            names = [text(card / "id") or card.name for card in plays]
            yield Capability(name="audio", detail=", ".join(names))
        else:
            yield Capability(name="audio", present=False, detail="no sound card plays")


def _plays(name: str) -> bool:
    return name.startswith("pcm") and name.endswith("p")
