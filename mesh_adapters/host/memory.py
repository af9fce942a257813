"""The garbage collector of a host: what was imported is set aside, and it comes by less often.

A run makes many values and no cycles; going through all of them again and again took a tenth of its time.
"""

from __future__ import annotations

import gc

YOUNG = 50_000
"""Values that are made before the collector looks at them (Python's own: 700, or 2,000)."""


def collect_less() -> None:
    """Once everything that is needed was imported."""
    gc.freeze()
    gc.set_threshold(YOUNG)
