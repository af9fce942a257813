"""The state of what is at the path of a tree: which artifact is there, edited or not, or what else."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from contextlib import suppress

from mesh_adapters.host.artifacts.listing import Record
from mesh_adapters.host.artifacts.looking import look_at
from mesh_adapters.host.artifacts.placing import Spot
from mesh_adapters.host.files import Found
from mesh_core.reconcile import HALFWAY, Fact, State


def state_of(spot: Spot, found: Found | None, *, declared: bool) -> State | None:
    """What is at the path, where `found` is there. Raises `OSError`.

    Of one that is not declared any more it matters that it is ours: what of it was edited is left in place
    when it goes. Of one that is declared, an edit is drift.
    """
    if spot.records.unfinished:
        # Also where nothing is at the path: there may be something beside it that has to go.
        return tree_state("unfinished", halfway=True)
    if found is None:
        record = None if declared else spot.records.now()
        # It was being taken off, and is gone: its record is not.
        return tree_state(record.artifact, halfway=True) if record is not None and record.going else None
    record = spot.records.now() if found.type == "directory" else None
    if record is None:
        return _somebodys(spot, found)
    if not declared:
        # Whatever a run that was killed has done of taking it off, or of putting it there, it is ours.
        return tree_state(record.artifact, halfway=True)
    if record.going:
        return tree_state("going", halfway=True)
    differing = edited(spot, record)
    return tree_state(_as_edited(differing) if differing else record.artifact)


def tree_state(artifact: str, *, halfway: bool = False) -> State:
    """That the tree of this artifact is there; or halfway, with a word in place of its digest."""
    facts: dict[str, Fact] = {"type": "tree", "artifact": artifact}
    return State(facts=facts | ({HALFWAY: True} if halfway else {}))


def _somebodys(spot: Spot, found: Found) -> State:
    rights: dict[str, Fact] = {
        "type": found.type,
        "mode": found.mode,
        "owner": found.owner,
        "group": found.group,
    }
    if found.type != "directory":
        return State(facts=rights)
    return State(facts={**rights, "empty": not os.listdir(spot.place)})


def edited(spot: Spot, record: Record) -> tuple[str, ...]:
    """What of the tree is not as it was put there. What was read for that need not be read again."""
    seen = spot.records.seen()
    looked = look_at(spot.place, record, seen, spot.alive)
    if looked.read and looked.seen != seen:
        with suppress(OSError):  # it is only to be quick; who may not write may look all the same
            spot.records.put_seen(looked.seen)
    return looked.differing


def _as_edited(paths: Sequence[str]) -> str:
    return f"edited:{hashlib.sha256(os.fsencode(chr(0).join(paths))).hexdigest()[:12]}"
