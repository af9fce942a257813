"""Which requests go to the broker.

> The control plane keeps every request until it is answered, and sends it again if the broker lost it. (9)
"""

from attrs import evolve

from mesh_core.builds.sending import LOST_AFTER, SETTLED, to_send
from mesh_core.builds.state import BuildState, state_of_build
from mesh_core.model.build import Build, Failed, Request, Step

NOW = 10_000.0
REQUEST = Request(
    id="1" * 12, module="web", repository="https://git.example/web", commit="a" * 40, ref="HEAD"
)
ASKED = Build(number=1, request=REQUEST, asked_at="0", asked_by="ada")
SENT = evolve(ASKED, sent_at=str(NOW - SETTLED))
TAKEN = evolve(SENT, taken_by="nas", taken_at=str(NOW - SETTLED))


def since(instant: str) -> float:
    return NOW - float(instant)


def test_what_no_broker_has_confirmed_goes_out() -> None:
    assert to_send([ASKED, evolve(ASKED, number=2)], 7, since) == (ASKED, evolve(ASKED, number=2))


def test_what_waits_at_the_broker_is_left_there() -> None:
    assert to_send([SENT], 1, since) == ()


def test_what_nobody_took_and_waits_nowhere_is_lost() -> None:
    """A queue that was purged, or a broker that was made anew."""
    assert to_send([SENT], 0, since) == (SENT,)


def test_a_builder_that_has_just_taken_it_is_given_time_to_say_so() -> None:
    just = evolve(SENT, sent_at=str(NOW - SETTLED + 1))
    assert to_send([just], 0, since) == ()


def test_what_was_taken_is_at_work_for_as_long_as_a_build_may_take() -> None:
    assert to_send([TAKEN], 0, since) == ()
    long_ago = evolve(TAKEN, sent_at="0", taken_at=str(NOW - LOST_AFTER))
    assert to_send([long_ago], 0, since) == (long_ago,)


def test_what_was_sent_again_is_not_sent_again_at_once() -> None:
    again = evolve(TAKEN, taken_at=str(NOW - LOST_AFTER), sent_at=str(NOW - 1))
    assert to_send([again], 0, since) == ()


def test_one_word_for_each_build() -> None:
    failed = Failed(request=REQUEST.id, builder="nas", step=Step.COMMANDS, why="it ended with 1")
    assert [
        state_of_build(build)
        for build in (
            ASKED,
            SENT,
            TAKEN,
            evolve(TAKEN, answer=failed),
            evolve(TAKEN, cancelled_at="1"),
        )
    ] == [
        BuildState.WAITING,
        BuildState.ASKED,
        BuildState.TAKEN,
        BuildState.FAILED,
        BuildState.CANCELLED,
    ]
