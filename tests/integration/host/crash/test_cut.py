"""A declaration that was cut or changed on its way changes nothing (design, part 8; hazards).

> declaration empty, cut at any byte, replayed, for another node: nothing changes, reported
"""

from __future__ import annotations

from mesh_adapters.host.applying import Malformed, decide
from tests.integration.host.world import World, declaration, directory, file, shown

FIRST = declaration(1, [file("/etc/motd")])
SECOND = declaration(
    2, [file("/etc/motd", "changed {} \u00e9\n")], [directory("/d", mode="0700"), file("/d/f")]
)


def test_cut_at_every_byte(world: World) -> None:
    assert world.applied(FIRST).well
    before, entries = shown(world.root), world.entries()
    with world.host() as host:
        taken = host.journal.taken()
        for length in range(len(SECOND)):
            assert isinstance(decide(SECOND[:length], host), Malformed), length
        assert host.journal.taken() == taken
    for length in range(0, len(SECOND), 37):
        assert isinstance(world.apply(SECOND[:length]), Malformed)
    assert shown(world.root) == before
    assert world.entries() == entries
    assert world.applied(SECOND).well


def test_a_byte_that_was_changed(world: World) -> None:
    assert world.applied(FIRST).well
    before, entries = shown(world.root), world.entries()
    with world.host() as host:
        for place, byte in enumerate(SECOND):
            for bits in (0x01, 0x20, 0x80):
                flipped = SECOND[:place] + bytes([byte ^ bits]) + SECOND[place + 1 :]
                assert isinstance(decide(flipped, host), Malformed), (place, bits)
    assert shown(world.root) == before
    assert world.entries() == entries


def test_a_byte_that_was_lost_or_came_twice(world: World) -> None:
    with world.host() as host:
        for place in range(len(SECOND)):
            lost = SECOND[:place] + SECOND[place + 1 :]
            assert isinstance(decide(lost, host), Malformed), place
            twice = SECOND[:place] + SECOND[place : place + 1] + SECOND[place:]
            assert isinstance(decide(twice, host), Malformed), place
    assert shown(world.root) == {}
