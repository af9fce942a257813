"""All the laws at once."""

from __future__ import annotations

import hypothesis

from mesh_core.testing.laws.choice import (
    check_harmless_pin,
    check_no_silent_choice,
    check_verdicts_do_not_choose,
)
from mesh_core.testing.laws.law import Check, Resolver
from mesh_core.testing.laws.plans import check_minimality, check_soundness
from mesh_core.testing.laws.reach import (
    check_isolation,
    check_locality,
    check_monotone_capabilities,
)
from mesh_core.testing.laws.sameness import check_determinism, check_order

LAWS: tuple[Check, ...] = (
    check_order,
    check_determinism,
    check_minimality,
    check_soundness,
    check_no_silent_choice,
    check_verdicts_do_not_choose,
    check_locality,
    check_isolation,
    check_harmless_pin,
    check_monotone_capabilities,
)
"""The laws of design, part 3, in their order."""


def check_all(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Every law of design, part 3, for a resolver; the first that it breaks is raised.

    `settings` are hypothesis's, and those of the loaded profile where there are none. Raises
    `AssertionError`, which names the law and gives a mesh that shows it; what the resolver itself
    raises comes through.
    """
    for check in LAWS:
        check(resolve, settings)
