"""The laws of design, part 3, as functions that take a resolver; names only are given here."""

from mesh_core.testing.laws.choice import (
    check_harmless_pin,
    check_no_silent_choice,
    check_verdicts_do_not_choose,
)
from mesh_core.testing.laws.every import LAWS, check_all
from mesh_core.testing.laws.law import Law, Resolver
from mesh_core.testing.laws.plans import check_minimality, check_soundness
from mesh_core.testing.laws.reach import (
    check_isolation,
    check_locality,
    check_monotone_capabilities,
)
from mesh_core.testing.laws.sameness import check_determinism, check_order

__all__ = [
    "LAWS",
    "Law",
    "Resolver",
    "check_all",
    "check_determinism",
    "check_harmless_pin",
    "check_isolation",
    "check_locality",
    "check_minimality",
    "check_monotone_capabilities",
    "check_no_silent_choice",
    "check_order",
    "check_soundness",
    "check_verdicts_do_not_choose",
]
