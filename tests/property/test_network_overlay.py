"""The laws of what nodes are told of the overlay, and of the packets that get through by it.

What each says stands in `mesh_core.testing.laws.overlays` and `mesh_core.testing.laws.packets`.
"""

import pytest
from hypothesis import settings

from mesh_core.network.overlay import overlay
from mesh_core.testing.laws.overlays import OVERLAY_LAWS, OverlayCheck
from mesh_core.testing.laws.packets import PACKET_LAWS

EXAMPLES = settings(max_examples=5 * settings().max_examples, deadline=None)


@pytest.mark.parametrize("check", [*OVERLAY_LAWS, *PACKET_LAWS], ids=lambda check: check.__name__)
def test_the_overlay_keeps_the_law(check: OverlayCheck) -> None:
    check(overlay, EXAMPLES)
