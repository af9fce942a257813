"""The steps of a run: every point at which the host could be killed between two things that last.

Each operation on a file or on the journal names its steps as it goes. In use that does nothing; a test counts
them, and ends the process at the first, the second, the third, and so on, to see that the next run converges.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Step: TypeAlias = Callable[[str], None]


def no_step(_name: str) -> None:
    """What a step is in use: nothing."""
