"""What the control plane keeps of each declaration that it sent, and of what it heard since.

A declaration itself is bytes and long; of it is kept, as values, what later decisions ask: what the node
would run, what it holds and offers, and who answers it.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen

from mesh_core.model.order import sorted_names, sorted_pairs
from mesh_core.model.said import Doing, Report


@frozen(kw_only=True, order=True)
class Held:
    """A mesh-scoped claim, and the module that has it."""

    claim: str
    module: str


@frozen(kw_only=True, order=True)
class Offered:
    """A mesh-scoped provision, the module that provides it, and the texts that it exports with it."""

    provision: str
    module: str
    exports: tuple[tuple[str, str], ...] = field(default=(), converter=sorted_pairs)


@frozen(kw_only=True, order=True)
class Answered:
    """The answer to a mesh-scoped requirement from one provider."""

    provision: str
    node: str
    module: str


def _claims(claims: Iterable[Held]) -> tuple[Held, ...]:
    return tuple(sorted(claims))


def _offers(offers: Iterable[Offered]) -> tuple[Offered, ...]:
    return tuple(sorted(offers))


def _answers(answers: Iterable[Answered]) -> tuple[Answered, ...]:
    return tuple(sorted(answers))


@frozen(kw_only=True)
class Sent:
    """One generation of one node. `fingerprint` is that of its content, whatever its generation.

    `resources` are the identities of what it declares; `manifests` are pairs of a module and the digest of
    what of its manifest reaches a machine. `at` is when it was decided, `published` whether the
    broker has confirmed it.
    """

    node: str
    generation: int
    fingerprint: str
    modules: tuple[str, ...] = field(default=(), converter=sorted_names)
    resources: tuple[str, ...] = field(default=(), converter=sorted_names)
    manifests: tuple[tuple[str, str], ...] = field(default=(), converter=sorted_pairs)
    claims: tuple[Held, ...] = field(default=(), converter=_claims)
    offers: tuple[Offered, ...] = field(default=(), converter=_offers)
    answers: tuple[Answered, ...] = field(default=(), converter=_answers)
    allow_removals: bool = False
    empty: bool = False
    at: str = ""
    published: bool = False


@frozen(kw_only=True)
class Standing:
    """How it stands between the control plane and one node.

    `last` is the highest generation that was given to this name or heard from it, 0 for none; `sent` has what
    was sent and that the node has not reported past, oldest first, the newest always. `report` is the newest,
    taken in at `heard_at`; `seen_at` is when the machine last said anything, as far as that is known: what
    was taken in may have waited. `machine` is the id of the machine that the name belongs to; `strangers` are
    ids of others that spoke under it.
    """

    node: str
    last: int = 0
    sent: tuple[Sent, ...] = ()
    report: Report | None = None
    heard_at: str | None = None
    seen_at: str | None = None
    machine: str | None = None
    strangers: tuple[str, ...] = ()

    @property
    def newest(self) -> Sent | None:
        """What "was sent" means."""
        return self.sent[-1] if self.sent else None

    def last_offer(self, provision: str, module: str) -> Offered | None:
        """The offer of a module as the node was sent it last; None where it was never sent it, or no more."""
        offers = self.newest.offers if self.newest is not None else ()
        return next((o for o in offers if (o.provision, o.module) == (provision, module)), None)

    @property
    def released(self) -> int:
        """The generation that the machine is known to have made so, with nothing of an older one left."""
        report = self.report
        if report is None or report.applied is None or report.applied != report.generation:
            return 0
        return report.applied if report.doing in (Doing.APPLIED, Doing.DRIFTED) else 0

    @property
    def given_twice(self) -> bool:
        """Whether the machine has another declaration under the newest's number: by an older store, say."""
        report, newest = self.report, self.newest
        if report is None or newest is None or report.doing is not Doing.REFUSED:
            return False
        return report.refused == report.generation == newest.generation

    @property
    def taken_of_others(self) -> bool:
        """Whether the machine has taken what is not kept here: it was sent by another copy of the store."""
        taken = self.report.generation if self.report is not None else None
        return taken is not None and (self.given_twice or all(one.generation != taken for one in self.sent))

    @property
    def holding(self) -> frozenset[str]:
        """The mesh-scoped claims that the machine holds or may yet come to hold (design, part 8).

        > A declaration that claims, mesh-wide, what another node's last applied or last sent declaration
        > still holds waits until that node has reported letting go.

        One of a generation that was reported past is still held while the module that had it is there.
        """
        there = frozenset(self.report.modules) if self.report is not None else frozenset()
        reported = self.report.generation or 0 if self.report is not None else 0
        newest = self.newest
        return frozenset(
            held.claim
            for sent in self.sent
            for held in sent.claims
            if sent is newest or sent.generation >= reported or held.module in there
        )
