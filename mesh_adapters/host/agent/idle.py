"""What an idle host gives back to its machine: a run makes many values, then none for minutes."""

from __future__ import annotations

import ctypes
import gc


def give_back() -> None:
    """Give memory that nothing is in back to the system, where its C library does that."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
