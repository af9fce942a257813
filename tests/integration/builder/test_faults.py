"""What is killed while a build runs: the builder, or the broker (hazards, "Faults to survive")."""

from __future__ import annotations

import signal
import socket
from contextlib import closing

import pytest

from mesh_cli.wiring_broker import opened_broker
from mesh_core.model.build import Request
from mesh_core.wire.builds import request_to_bytes
from tests.integration.builder.shop import Shop, living, until

PLAIN = ("mkdir dist", "cp page dist/")


def test_a_builder_that_is_killed_leaves_nothing_and_the_other_one_finishes(shop: Shop) -> None:
    word = "600.3125"
    with socket.create_server(("127.0.0.1", 0)) as door, shop.running("smith") as smith:
        opened = f"bash -c 'exec 3<>/dev/tcp/127.0.0.1/{door.getsockname()[1]}'"
        hangs = f"if {opened}; then setsid sleep {word} & sleep {word}; fi"
        shop.has("web-b", [hangs, *PLAIN], network=True)
        id = shop.ask("web-b")
        until(lambda: len(living(word)) >= 2, "it hangs, as long as somebody listens there")
        smith.kill()
        until(lambda: not living(word), "nothing of its build lives", 5)
    left = [path.name for path in (shop.root("smith") / "var/lib/mesh-builder/scratch").iterdir()]
    assert [name for name in left if name.startswith("build-")]
    with shop.running("mason") as mason:
        found = shop.ends(id)
        assert (found["state"], found["taken_by"]) == ("built", "mason")
        assert mason.said("building web-b") == 1
    assert shop.counted(id) == 1
    with shop.running("smith", "--once") as smith:
        smith.process.wait(20)
    assert not [*(shop.root("smith") / "var/lib/mesh-builder/scratch").iterdir()], "it was cleared away"


def test_git_at_work_ends_with_a_builder_that_is_killed_and_with_one_that_is_asked_to(shop: Shop) -> None:
    """A repository that never answers: what waits for it is no part of any sandbox."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        for end in (signal.SIGKILL, signal.SIGTERM):
            address = f"https://127.0.0.1:{silent.getsockname()[1]}/{end.name.lower()}"
            request = Request(id=f"{end:08x}", module="web", repository=address, commit="a" * 40, ref="HEAD")
            with opened_broker(None) as broker:
                broker.ask([request_to_bytes(request)])
            with shop.running("smith") as smith:
                until(lambda address=address: living(address), "git waits")
                smith.process.send_signal(end)
                smith.process.wait(20)
                until(lambda address=address: not living(address), "git has ended", 5)
            until(lambda: shop.purge() == 1, "the request came back")


@pytest.mark.long
def test_a_broker_that_is_killed_stops_no_build_and_its_answer_counts_once(shop: Shop) -> None:
    word = "2.7182"
    shop.has("web-g", [f"sleep {word}", *PLAIN])
    with shop.running("smith") as smith:
        id = shop.ask("web-g")
        until(lambda: living(word), "it runs")
        shop.server.kill()
        try:
            smith.says("built web-g")
        finally:
            shop.server.start()
        smith.says("in reach again")
        found = shop.ends(id)
        assert found["state"] == "built"
        assert smith.said("building web-g") == 1, "what comes again is answered with what was kept"
    assert shop.counted(id) == 1
