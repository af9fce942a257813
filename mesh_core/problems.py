"""Every reason to refuse a node, as facts (design, parts 3 and 5): a closed union of frozen values.

No sentence is made here; that is `explain`. `facts` gives exactly what the resolution document shows.
A problem also knows its node, which the document says by the place where the problem stands.
"""

from __future__ import annotations

from typing import Any, ClassVar, assert_never, get_args

from attrs import frozen

from mesh_core.canonical import canonical_json
from mesh_core.model.module import Scope
from mesh_core.model.node import Pin, Verdict


@frozen(kw_only=True)
class Offer:
    """A mesh-scoped provision of a module that a node would run; or a claim that it would hold."""

    node: str
    module: str

    def __str__(self) -> str:
        return f"{self.node}/{self.module}"


@frozen(kw_only=True)
class UnknownModule:
    """A module assigned to the node is not in the catalogue."""

    code: ClassVar[str] = "unknown-module"
    node: str
    module: str


@frozen(kw_only=True)
class NoProvider:
    """A required name that no module provides (scope None), or that no node of the mesh offers."""

    code: ClassVar[str] = "no-provider"
    node: str
    provision: str
    required_by: tuple[str, ...]
    scope: Scope | None = None
    candidates: tuple[str, ...] = ()


@frozen(kw_only=True)
class AmbiguousOnNode:
    """A node-scoped name that several modules provide, and none of them is on the node."""

    code: ClassVar[str] = "ambiguous-provider"
    node: str
    provision: str
    required_by: tuple[str, ...]
    candidates: tuple[str, ...]


@frozen(kw_only=True)
class AmbiguousInMesh:
    """A mesh-scoped name with several offers, and no pin, or none that chooses between them."""

    code: ClassVar[str] = "ambiguous-provider"
    node: str
    provision: str
    required_by: tuple[str, ...]
    candidates: tuple[Offer, ...]
    pin: Pin | None = None


@frozen(kw_only=True)
class PinUnsatisfied:
    """A pin without a candidate; `exists` says whether the node that it names exists."""

    code: ClassVar[str] = "pin-unsatisfied"
    node: str
    provision: str
    required_by: tuple[str, ...]
    pin: Pin
    exists: bool

    @property
    def why(self) -> str:
        """`not-provided` or `no-such-node`."""
        return "not-provided" if self.exists else "no-such-node"


@frozen(kw_only=True)
class MissingCapability:
    """A module needs a capability that the node has not reported present."""

    code: ClassVar[str] = "missing-capability"
    node: str
    module: str
    capability: str
    verdict: Verdict


@frozen(kw_only=True)
class ClaimedTwice:
    """Two or more modules of the node have the same claim, whatever its scope."""

    code: ClassVar[str] = "claim-conflict"
    node: str
    claim: str
    scope: Scope
    modules: tuple[str, ...]


@frozen(kw_only=True)
class ClaimedElsewhere:
    """A module of the node has a mesh-scoped claim that other nodes hold."""

    code: ClassVar[str] = "claim-conflict"
    node: str
    claim: str
    module: str
    candidates: tuple[Offer, ...]


@frozen(kw_only=True)
class ResourceConflict:
    """Two or more modules of the node declare one resource identity with different content."""

    code: ClassVar[str] = "resource-conflict"
    node: str
    resource: str
    modules: tuple[str, ...]


@frozen(kw_only=True)
class Cycle:
    """Modules of the node that wait for each other: one strongly connected component."""

    code: ClassVar[str] = "cycle"
    node: str
    modules: tuple[str, ...]


Problem = (
    UnknownModule
    | NoProvider
    | AmbiguousOnNode
    | AmbiguousInMesh
    | PinUnsatisfied
    | MissingCapability
    | ClaimedTwice
    | ClaimedElsewhere
    | ResourceConflict
    | Cycle
)

CODES = tuple(sorted({problem.code for problem in get_args(Problem)}))


def facts(problem: Problem) -> dict[str, Any]:
    """A problem's code and facts as plain data, exactly those of design, part 5."""
    return {"code": problem.code, **_facts(problem)}


def _facts(problem: Problem) -> dict[str, Any]:
    match problem:
        case UnknownModule():
            return {"module": problem.module}
        case NoProvider() | AmbiguousOnNode() | AmbiguousInMesh() | PinUnsatisfied():
            asked = {
                "provision": problem.provision,
                "required_by": list(problem.required_by),
            }
            return asked | _provider_facts(problem)
        case MissingCapability():
            return {
                "module": problem.module,
                "capability": problem.capability,
                "verdict": problem.verdict.value,
            }
        case ClaimedTwice():
            return {
                "claim": problem.claim,
                "scope": problem.scope.value,
                "modules": list(problem.modules),
            }
        case ClaimedElsewhere():
            return {
                "claim": problem.claim,
                "scope": Scope.MESH.value,
                "module": problem.module,
                "candidates": _texts(problem.candidates),
            }
        case ResourceConflict():
            return {"resource": problem.resource, "modules": list(problem.modules)}
        case Cycle():
            return {"modules": list(problem.modules)}
        case _:
            assert_never(problem)


def _provider_facts(
    problem: NoProvider | AmbiguousOnNode | AmbiguousInMesh | PinUnsatisfied,
) -> dict[str, Any]:
    match problem:
        case NoProvider(scope=None):
            return {"scope": None}
        case NoProvider():
            return {"scope": Scope.MESH.value, "candidates": list(problem.candidates)}
        case AmbiguousOnNode():
            return {"scope": Scope.NODE.value, "candidates": list(problem.candidates)}
        case AmbiguousInMesh():
            choice = {"scope": Scope.MESH.value, "candidates": _texts(problem.candidates)}
            return choice if problem.pin is None else choice | {"pin": problem.pin.target}
        case PinUnsatisfied():
            return {"pin": problem.pin.target, "why": problem.why}
        case _:
            assert_never(problem)


def _texts(offers: tuple[Offer, ...]) -> list[str]:
    return sorted(str(offer) for offer in offers)


def key(problem: Problem) -> tuple[str, ...]:
    """What makes a problem the same one before and after a change (design, part 5).

    The node comes first; within a node each key stands once.
    """
    head = (problem.node, problem.code)
    match problem:
        case UnknownModule():
            return (*head, problem.module)
        case NoProvider() | AmbiguousOnNode() | AmbiguousInMesh() | PinUnsatisfied():
            return (*head, problem.provision)
        case MissingCapability():
            return (*head, problem.module, problem.capability)
        case ClaimedTwice():
            return (*head, problem.claim)
        case ClaimedElsewhere():
            return (*head, problem.claim, problem.module)
        case ResourceConflict():
            return (*head, problem.resource)
        case Cycle():
            return (*head, *problem.modules)
        case _:
            assert_never(problem)


def in_order(problems: list[Problem]) -> tuple[Problem, ...]:
    """Problems sorted by code, then by their canonical JSON."""
    if len(problems) < 2:
        return tuple(problems)
    return tuple(sorted(problems, key=lambda problem: (problem.code, canonical_json(facts(problem)))))
