"""What a host says of its machine, put together from what its journal knows. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen

from mesh_adapters.host.agent.arriving import Refusal
from mesh_adapters.host.overlay.keeping import WELL, Kept
from mesh_core.explain.host import Outcome, told_from_data
from mesh_core.explain.reported import has_drifted, whys
from mesh_core.model.node import Capability
from mesh_core.model.said import Doing, Report


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(names)


@frozen(kw_only=True)
class Standing:
    """How it stands: the generation taken last, modules of which something is here, how the last run ended.

    `status` is as the journal has it (`mesh_adapters.host.status`), None where no run came to its end.
    """

    generation: int | None = None
    modules: tuple[str, ...] = field(default=(), converter=_names)
    status: Mapping[str, Any] | None = None

    @property
    def applied(self) -> int | None:
        """The generation whose run last came to its end."""
        return None if self.status is None else int(self.status["generation"])


@frozen(kw_only=True)
class Speaker:
    """Who speaks: the node's name, its machine, what that has, and its public key in the overlay."""

    node: str
    machine: str
    capabilities: tuple[Capability, ...] = ()
    key: str | None = None


def report_of(
    speaker: Speaker,
    standing: Standing,
    *,
    refusal: Refusal | None = None,
    trouble: str | None = None,
    network: Kept = WELL,
) -> Report:
    """The report of a machine. `trouble` is what kept the host from doing anything at all.

    `network` is how it stands with its part of the overlay.
    """
    doing, why = _doing(standing), whys(standing.status) if standing.status is not None else ()
    doing, why = _with_network(doing, network), (*network.failed, *why, *network.notes)
    if trouble is not None:
        doing, why = Doing.FAILED, (trouble, *why)
    if refusal is not None:
        doing, why = Doing.REFUSED, (*refusal.why, *why)
    return Report(
        node=speaker.node,
        machine=speaker.machine,
        generation=standing.generation,
        applied=standing.applied,
        doing=doing,
        modules=standing.modules,
        capabilities=speaker.capabilities,
        why=why,
        refused=None if refusal is None else refusal.generation,
        healthy=_healthy(standing),
        failed=_failed(standing),
        key=speaker.key,
    )


def _with_network(doing: Doing, network: Kept) -> Doing:
    """A network that could not be made is a part that failed."""
    if network.failed and doing in (Doing.APPLIED, Doing.DRIFTED):
        return Doing.FAILED
    return Doing.DRIFTED if network.put_right and doing is Doing.APPLIED else doing


def _doing(standing: Standing) -> Doing:
    """How the last run ended; a generation that was taken and not brought to its end is being applied."""
    status = standing.status
    if standing.generation is not None and standing.applied != standing.generation:
        return Doing.APPLYING
    if status is None:
        return Doing.APPLIED
    if status["state"] != "applied":
        return Doing.FAILED
    drifted = any(has_drifted(told_from_data(action)) for action in status["actions"])
    return Doing.DRIFTED if drifted else Doing.APPLIED


def _failed(standing: Standing) -> set[str]:
    """The modules of which something could not be made as declared in the last run, or was not touched."""
    if standing.status is None:
        return set()
    failed = [action for action in standing.status["actions"] if action["outcome"] == Outcome.FAILED]
    untouched = [trouble for trouble in standing.status["troubles"] if not trouble["elsewhere"]]
    return {module for one in (*failed, *untouched) for module in one["modules"]}


def _healthy(standing: Standing) -> bool | None:
    checks = standing.status["checks"] if standing.status is not None else ()
    return all(check["passed"] for check in checks) if checks else None


def still_here(before: Iterable[str], declared: Iterable[str], *, something_left: bool) -> list[str]:
    """The modules of which something may be on the machine, after a run that came to its end.

    Those that were there before stay among them as long as anything that is declared no more is not off.
    """
    return sorted({*declared, *before} if something_left else {*declared})
