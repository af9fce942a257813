"""What is to be told beside a push, whoever tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mesh_core.explain.network import concerning
from mesh_core.network.overlay import Note, overlay

if TYPE_CHECKING:
    from mesh_cli.wiring_flows import Looked


def network_notes_of(looked: Looked) -> tuple[Note, ...]:
    """What is amiss in the network with the nodes that are asked for."""
    return concerning(overlay(looked.mesh, looked.found.resolution).notes, looked.outcomes)
