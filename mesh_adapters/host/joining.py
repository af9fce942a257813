"""Leaving a mesh: what the host kept for itself, and the declaration that gives everything back."""

from __future__ import annotations

import json
from typing import Final

from mesh_adapters.broker.credential import CA_FILE
from mesh_adapters.host.agent.saved import CAME, HOLDS
from mesh_adapters.host.overlay.record import NAME as NETWORK
from mesh_core.model.declaration import Declaration
from mesh_core.reconcile import Taken
from mesh_core.wire.declaration import declaration_to_data

KEPT: Final = (HOLDS, CAME, CA_FILE, NETWORK)
"""What the host keeps for itself beside its journal, and of no use once it has left."""


def nothing_at_all(taken: Taken) -> bytes:
    """The declaration after the one that was taken last, that there is to be nothing."""
    nothing = Declaration(node=taken.node, generation=taken.generation + 1, allow_removals=True, empty=True)
    return json.dumps(declaration_to_data(nothing)).encode()
