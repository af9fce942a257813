"""Delivery is a comparison (design, part 10): the states, and what they are never said of."""

from attrs import evolve
from hypothesis import event, given
from hypothesis import strategies as st

from mesh_core.delivery import Delivery, delivery
from mesh_core.model.origin import FromBuild, Handed, Origin, Shipped
from mesh_core.model.source import PathGone, RefGone, RepositoryAway, Seen, Source
from mesh_core.testing.strategies.of_sources import origins, seen, sources

ORIGINS = st.none() | origins()


@given(seen=seen(), origin=ORIGINS)
def test_no_source_is_never_behind(seen: Seen, origin: Origin | None) -> None:
    """> `no-source`: handed over directly, or shipped with the control plane. Never behind"""
    assert delivery(None, seen, origin) is Delivery.NO_SOURCE


@given(source=sources(), origin=ORIGINS)
def test_an_unchecked_head_is_never_behind(source: Source, origin: Origin | None) -> None:
    """> `unchecked`: has a source; nobody has looked at its head yet. Never behind

    Whatever was built, or whether anything was.
    """
    assert delivery(source, Seen(), origin) not in (Delivery.BEHIND, Delivery.CURRENT)


@given(source=sources(), seen=seen(), origin=st.sampled_from([Handed(), Shipped(version="1")]))
def test_by_hand_is_what_a_person_handed_over_though_there_is_a_source(
    source: Source, seen: Seen, origin: Origin
) -> None:
    """> `by-hand`: has a source, but what is in the catalogue now was handed over by a person"""
    assert delivery(source, seen, origin) is Delivery.BY_HAND


@given(source=sources(), seen=seen())
def test_a_name_with_a_source_and_no_manifest_was_never_built(source: Source, seen: Seen) -> None:
    """> `never-built`: a source was set for the name, and no manifest was built or handed over yet"""
    assert delivery(source, seen, None) is Delivery.NEVER_BUILT


@given(source=sources(), seen=seen(), origin=origins())
def test_current_and_behind_are_told_by_the_commits_alone(source: Source, seen: Seen, origin: Origin) -> None:
    """> `current`: built from a commit that is the head, as last checked
    > `behind`: built from a known commit, and the known head is another
    """
    said = delivery(source, seen, origin)
    event(said)
    if isinstance(origin, FromBuild) and seen.head is not None:
        same = origin.commit.id == seen.head.id
        assert said is (Delivery.CURRENT if same else Delivery.BEHIND)
        later = evolve(seen, head=evolve(seen.head, at="1970-01-01T00:00:00Z"))
        assert delivery(source, later, origin) is said, "no clock says what is newer"


@given(
    source=sources(),
    seen=seen(),
    origin=ORIGINS,
    unfound=st.sampled_from([RepositoryAway(why="no route"), RefGone(ref="main"), PathGone(path="web")]),
)
def test_a_look_that_ran_into_something_changes_nothing(
    source: Source, seen: Seen, origin: Origin | None, unfound: RepositoryAway
) -> None:
    """> A repository that can't be reached leaves the last known head"""
    later = evolve(seen, unfound=unfound, unfound_at="2026-12-02T09:00:00Z")
    assert delivery(source, later, origin) is delivery(source, seen, origin)
