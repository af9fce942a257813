"""Which requests go to the broker, for the first time or again (design, part 9).

> The control plane keeps every request until it is answered, and sends it again if the broker lost it; an
> answer that arrives twice counts once.

That a broker lost one is only seen from what is missing: so it may be sent again while somebody has it.
Then it is built twice, and the first answer counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from mesh_core.model.build import Build
from mesh_core.model.recipe import OVERALL_SECONDS

SETTLED = 30
"""Seconds within which a builder that took a request has said so, as far as anybody heard."""
LOST_AFTER = OVERALL_SECONDS + 300
"""Seconds after which a builder that took a request will not answer any more: a build ends before."""


def to_send(open_builds: Iterable[Build], waiting: int, since: Callable[[str], float]) -> tuple[Build, ...]:
    """Those of the builds that are not over whose request is to be sent, in their order.

    `waiting` is how many requests wait at the broker; `since` gives the seconds since an instant. To be
    asked after everything that builders said was taken in.
    """
    return tuple(build for build in open_builds if _is_to_go(build, waiting, since))


def _is_to_go(build: Build, waiting: int, since: Callable[[str], float]) -> bool:
    if build.sent_at is None:
        return True
    if build.taken_at is None:
        return waiting == 0 and since(build.sent_at) >= SETTLED
    return min(since(build.taken_at), since(build.sent_at)) >= LOST_AFTER
