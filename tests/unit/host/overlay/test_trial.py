"""Whether a change stays: a table.

> Only the network part goes back when the broker is lost after a change. (Design, part 11.)
"""

from __future__ import annotations

import pytest

from mesh_adapters.host.overlay.trial import MINUTE, Verdict, verdict

CHANGED = 1000.0


@pytest.mark.parametrize(
    ("reached_at", "after", "found"),
    [
        (None, 0.0, Verdict.OPEN),
        (None, MINUTE - 0.1, Verdict.OPEN),
        (None, MINUTE, Verdict.UNDONE),
        # What was sent before says nothing of the network as it is now, also where its answer came after.
        (CHANGED - 1, 0.0, Verdict.OPEN),
        (CHANGED - 0.001, MINUTE, Verdict.UNDONE),
        (CHANGED, MINUTE, Verdict.UNDONE),
        (CHANGED + 0.001, 0.5, Verdict.STAYS),
        (CHANGED + MINUTE - 1, MINUTE - 0.5, Verdict.STAYS),
        # It was reached, and whoever asks was kept from asking for long.
        (CHANGED + 1, 10 * MINUTE, Verdict.STAYS),
    ],
)
def test_it_stays_once_what_was_sent_after_it_is_confirmed(
    reached_at: float | None, after: float, found: Verdict
) -> None:
    assert verdict(changed_at=CHANGED, reached_at=reached_at, now=CHANGED + after) is found


def test_a_minute_is_a_minute() -> None:
    assert MINUTE == 60
