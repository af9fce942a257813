"""Collect: what hosts have said is taken in, and answered (design, parts 8 and 11)."""

from __future__ import annotations

import pytest

from mesh_core.model.node import Capability
from mesh_core.model.said import Doing
from tests.integration.flows.conftest import AT, Site
from tests.integration.flows.test_push import motd, node


def test_a_report_is_how_it_stands_from_then_on(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    report = site.report("pi", 1, modules=["motd"], why=["all is well"])
    assert site.collect().reports == {"pi": report}
    standing = site.store.standings()["pi"]
    assert (standing.report, standing.heard_at, standing.machine) == (report, AT, "id-pi")
    assert site.collect().reports == {}, "it was acknowledged"


def test_capabilities_are_the_nodes_once_they_are_others(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    has = [Capability(name="systemd")]
    for _ in range(2):
        site.report("pi", None, capabilities=has)
        site.collect()
    found = site.store.mesh().node("pi")
    assert found is not None
    assert found.capabilities == tuple(has)
    assert len(site.store.history()) == 2, "one for the mesh, one for what the machine has"


def test_an_older_report_changes_nothing(site: Site) -> None:
    """> takes in reports (a stale or foreign one changes nothing)"""
    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    site.report("pi", 5)
    site.collect()
    before = site.store.standings()["pi"]
    site.report("pi", 4, doing=Doing.FAILED)
    assert site.collect().stale == {"pi": 1}
    assert site.store.standings()["pi"].report == before.report


def test_a_second_machine_of_one_name_is_told_and_given_nothing(site: Site) -> None:
    """> two machines that answer to one name are told, and the second is given nothing"""
    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    site.hello("pi")
    site.collect()
    site.waiting("pi")
    site.hello("pi", machine="another")
    assert site.collect().strangers == {"pi": "another"}
    assert site.waiting("pi") is None
    site.report("pi", 9, machine="another")
    assert site.collect().reports == {}
    standing = site.store.standings()["pi"]
    assert (standing.strangers, standing.report, standing.last) == (("another",), None, 1)


def test_a_hello_is_answered_with_the_current_declaration(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    assert site.waiting("pi") is not None
    assert site.waiting("pi") is None
    site.hello("pi")
    assert site.collect().answered == ("pi",)
    declaration = site.waiting("pi")
    assert declaration is not None
    assert declaration.generation == 1


def test_a_host_that_reports_an_older_one_than_it_was_sent_gets_it_again(site: Site) -> None:
    """A purged queue, or another machine that took it, is mended by the next report."""
    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    site.waiting("pi")
    site.has([motd("2")], [node("pi", "motd")])
    site.push()
    assert site.waiting("pi") is not None, "and it is lost"
    site.report("pi", 1)
    assert site.collect().answered == ("pi",)
    declaration = site.waiting("pi")
    assert declaration is not None
    assert declaration.generation == 2
    site.report("pi", 1, doing=Doing.REFUSED, refused=2)
    assert site.collect().answered == (), "it was turned down, and would be again"


def test_garbage_is_counted_and_gone(site: Site) -> None:
    """> garbage in a queue: set aside, counted, shown"""
    site.has([motd("1")], [node("pi", "motd"), node("nas", "motd")])
    host = site.host("pi")
    host.report(b"\xff not json")
    host.hello(b"[]")
    site.report("nas", 1)
    found = site.collect()
    assert found.strange == {"pi": 2}
    site.report("pi", 2**70)
    assert site.collect().strange == {"pi": 1}
    assert site.store.standings()["pi"].report is None
    assert set(found.reports) == {"nas"}
    assert site.broker.waiting(["pi", "nas"]) == {"pi": 0, "nas": 0}


def test_a_report_of_another_node_than_it_came_from_is_foreign(site: Site) -> None:
    from mesh_core.model.said import Report
    from mesh_core.wire.said import report_to_bytes

    site.has([motd("1")], [node("pi", "motd"), node("nas", "motd")])
    site.host("pi").report(report_to_bytes(Report(node="nas", machine="id-pi")))
    assert site.collect().strange == {"pi": 1}
    assert site.store.standings()["nas"].report is None


def test_a_newer_generation_than_was_sent_means_that_the_store_is_old(site: Site) -> None:
    """> has an old store (a backup, say): it says so, and goes on from the one it heard"""
    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    site.report("pi", 41)
    site.collect()
    standing = site.store.standings()["pi"]
    assert (standing.last, standing.newest) == (41, None)
    assert site.push().publishing.confirmed == {"pi": 42}


def test_a_message_that_was_not_written_down_is_not_acknowledged(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    site.report("pi", None)

    class Full(BaseException):
        pass

    def failing(*_: object) -> None:
        raise Full

    with monkeypatch.context() as patched:
        patched.setattr("mesh_adapters.flows.collect.Round._hear", failing)
        with pytest.raises(Full):
            site.collect()
    assert site.store.standings()["pi"].report is None
    site.broker.close()
    site.broker = site.another_broker()
    assert set(site.collect().reports) == {"pi"}


MONTH_AGO = "2026-11-02T12:00:00Z"


def test_a_report_that_waited_for_a_month_is_of_a_month_ago(site: Site) -> None:
    """The machine may be dead since then: it was not seen when somebody took in its last words."""
    site.has([motd("1")], [node("pi", "motd")])
    site.report("pi", None, at=MONTH_AGO)
    assert site.collect().waited == {"pi": 30 * 86400}
    standing = site.store.standings()["pi"]
    assert (standing.seen_at, standing.heard_at) == (MONTH_AGO, AT)


def test_a_machine_that_does_not_know_the_year_is_there_all_the_same(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    site.report("pi", 1, at="1970-01-01T00:02:11Z")
    assert site.collect().waited == {}
    assert site.store.standings()["pi"].seen_at == AT
    later = "2026-12-02T13:00:00Z"
    site.report("pi", 1, at="2026-12-02T12:59:58Z")
    site.collect(later)
    assert site.store.standings()["pi"].seen_at == "2026-12-02T12:59:58Z"


def test_an_older_generation_that_is_said_later_is_older_all_the_same(site: Site) -> None:
    """Clocks put nothing in order."""
    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    site.report("pi", 5, at="2026-12-02T11:00:00Z")
    site.collect()
    before = site.store.standings()["pi"].report
    site.report("pi", 4, at="2026-12-02T11:59:00Z")
    assert site.collect().stale == {"pi": 1}
    assert site.store.standings()["pi"].report == before
