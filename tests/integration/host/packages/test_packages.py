"""What the kind `package` promises, whichever the package manager: its laws, written once."""

import threading
from pathlib import Path

import pytest

from mesh_adapters.host.files import Files
from mesh_adapters.host.kind import Done, Failed, LeftAlone, StillNeeded, Unobservable
from mesh_adapters.host.kinds.package import Package
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.managers import manager
from mesh_core.reconcile import Act
from tests.integration.host.packages.site import Site, package, told
from tests.integration.host.packages.tiny import Tiny

CHAIN = (Tiny(name="aa", depends=["bb"]), Tiny(name="bb", depends=["cc"]), Tiny(name="cc"))


def test_what_is_declared_is_installed_with_what_it_needs_and_a_second_time_nothing_happens(
    site: Site,
) -> None:
    site.packages.offer(*CHAIN)
    applied = site.declare("aa")
    assert applied.well
    assert site.packages.installed() == {"aa": "1.0", "bb": "1.0", "cc": "1.0"}
    assert {name: entry.owned.brought for name, entry in site.owned().items()} == {
        "aa": False,
        "bb": True,
        "cc": True,
    }
    assert not any(entry.owned.in_flight for entry in site.owned().values())
    assert site.again("aa").events == ()


def test_what_it_brought_goes_with_it_and_nothing_else(site: Site) -> None:
    site.packages.offer(*CHAIN, Tiny(name="mine"), Tiny(name="dd"))
    site.packages.by_hand("mine")
    site.declare("aa", "dd")
    assert site.declare("dd").well
    assert set(site.packages.installed()) == {"mine", "dd"}
    assert set(site.owned()) == {"dd"}


def test_what_was_there_before_is_adopted_and_stays(site: Site) -> None:
    site.packages.offer(*CHAIN)
    site.packages.by_hand("bb")
    applied = site.declare("bb", "aa")
    assert told(applied, "bb").action.act is Act.ADOPT
    assert site.declare().well
    assert set(site.packages.installed()) == {"bb", "cc"}
    assert site.owned() == {}


def test_a_persons_package_that_needs_ours_survives_and_ours_stays_and_is_told(site: Site) -> None:
    site.packages.offer(*CHAIN, Tiny(name="mine", depends=["aa"]), Tiny(name="dd"))
    site.declare("aa", "dd")
    site.packages.by_hand("mine")
    acted = told(site.declare("dd"), "aa").acted
    assert isinstance(acted, StillNeeded)
    assert "mine" in acted.why
    assert set(site.packages.installed()) == {"aa", "bb", "cc", "mine", "dd"}
    site.packages.off_by_hand("mine")
    site.declare()
    assert site.packages.installed() == {}


def test_what_was_brought_and_a_person_needs_stays_and_the_rest_goes(site: Site) -> None:
    site.packages.offer(*CHAIN, Tiny(name="mine", depends=["cc"]))
    site.declare("aa")
    site.packages.by_hand("mine")
    site.declare()
    assert set(site.packages.installed()) == {"cc", "mine"}


def test_what_was_brought_and_a_person_asked_for_by_name_since_is_theirs(site: Site) -> None:
    site.packages.offer(*CHAIN)
    site.declare("aa")
    site.packages.ask_for("bb")
    applied = site.declare()
    assert isinstance(told(applied, "bb").acted, LeftAlone)
    assert set(site.packages.installed()) == {"bb", "cc"}
    assert set(site.owned()) == {"cc"}


def test_what_was_brought_stays_as_long_as_something_declared_needs_it(site: Site) -> None:
    site.packages.offer(*CHAIN, Tiny(name="dd", depends=["bb"]))
    site.declare("aa", "dd")
    site.declare("dd")
    assert set(site.packages.installed()) == {"bb", "cc", "dd"}
    assert site.again("dd").events == ()
    site.declare()
    assert site.packages.installed() == {}


def test_packages_that_need_each_other_go_together(site: Site) -> None:
    site.packages.offer(
        Tiny(name="aa", depends=["bb"]), Tiny(name="bb", depends=["cc"]), Tiny(name="cc", depends=["bb"])
    )
    site.declare("aa")
    site.declare()
    assert site.packages.installed() == {}


def test_two_declared_that_need_each_other_in_the_wrong_order_go_in_one_run(site: Site) -> None:
    site.packages.offer(*CHAIN)
    site.declare("aa", "cc")
    assert site.declare().well
    assert site.packages.installed() == {}
    assert site.owned() == {}


def test_what_was_brought_and_is_declared_later_is_owned_for_its_own_sake(site: Site) -> None:
    site.packages.offer(*CHAIN)
    site.declare("aa")
    site.declare("aa", "bb")
    site.declare("bb")
    assert set(site.packages.installed()) == {"bb", "cc"}


def test_under_another_name_it_is_the_same_package(site: Site) -> None:
    site.packages.offer(*CHAIN)
    other = package("other", names={site.packages.manager: "cc"})
    site.declare("aa", other)
    site.declare(other)
    assert set(site.packages.installed()) == {"cc"}
    site.declare()
    assert site.packages.installed() == {}


def test_what_would_remove_another_package_is_refused(site: Site) -> None:
    site.packages.offer(Tiny(name="mine"), Tiny(name="xx", conflicts=["mine"]), Tiny(name="dd"))
    site.packages.by_hand("mine")
    applied = site.declare("xx", "dd")
    acted = told(applied, "xx").acted
    assert isinstance(acted, Failed)
    assert "mine" in acted.why
    assert isinstance(told(applied, "dd").acted, Done)
    assert set(site.packages.installed()) == {"mine", "dd"}


def test_a_package_gives_way_to_another_in_one_run_where_it_is_declared_no_more(site: Site) -> None:
    site.packages.offer(Tiny(name="old"), Tiny(name="new", conflicts=["old"]))
    site.declare("old")
    assert site.declare("new").well
    assert set(site.packages.installed()) == {"new"}


def test_what_comes_in_the_place_of_another_package_is_refused(site: Site) -> None:
    site.packages.offer(Tiny(name="mine"))
    site.packages.by_hand("mine")
    site.packages.offer(Tiny(name="xx", replaces=["mine"]))
    acted = told(site.declare("xx"), "xx").acted
    assert isinstance(acted, Failed)
    assert "mine" in acted.why
    assert set(site.packages.installed()) == {"mine"}


def test_what_would_downgrade_another_package_is_refused(site: Site) -> None:
    site.packages.offer(Tiny(name="mine", version="2.0"))
    site.packages.by_hand("mine")
    site.packages.withdraw()
    site.packages.offer(Tiny(name="mine", version="1.0"), Tiny(name="xx", depends=["mine < 2.0"]))
    acted = told(site.declare("xx"), "xx").acted
    assert isinstance(acted, Failed)
    assert "mine" in acted.why
    assert site.packages.installed() == {"mine": "2.0"}


def test_configuration_edited_by_hand_is_kept_when_its_package_is_upgraded(site: Site) -> None:
    def version(number: str) -> Tiny:
        return Tiny(name="conf", version=number, files={"/etc/conf": f"{number}\n"}, conffiles=["/etc/conf"])

    site.packages.offer(version("1.0"))
    site.declare("conf")
    (site.root / "etc/conf").write_text("by hand\n")
    site.packages.offer(version("2.0"), Tiny(name="dd", depends=["conf >= 2.0"]))
    assert site.declare("conf", "dd").well
    assert site.packages.installed() == {"conf": "2.0", "dd": "1.0"}
    assert (site.root / "etc/conf").read_text() == "by hand\n"


FAILING = "[ -e /etc/fine ] || { echo it is not fine >&2; exit 3; }"


def test_a_script_that_fails_is_told_in_its_words_the_rest_is_applied_and_the_next_run_goes_on(
    site: Site,
) -> None:
    site.packages.offer(
        Tiny(name="bad", depends=["cc"], after_install=FAILING), Tiny(name="cc"), Tiny(name="dd")
    )
    applied = site.declare("bad", "dd")
    acted = told(applied, "bad").acted
    assert isinstance(acted, Failed)
    assert "it is not fine" in acted.why
    assert isinstance(told(applied, "dd").acted, Done)
    (site.root / "etc/fine").touch()
    assert site.again("bad", "dd").well
    assert set(site.packages.installed()) == {"bad", "cc", "dd"}
    assert site.again("bad", "dd").events == ()
    site.declare("dd")
    assert set(site.packages.installed()) == {"dd"}


def test_what_failed_halfway_and_is_declared_no_more_goes(site: Site) -> None:
    site.packages.offer(
        Tiny(name="bad", depends=["cc"], after_install=FAILING), Tiny(name="cc"), Tiny(name="dd")
    )
    site.declare("bad", "dd")
    assert site.declare("dd").well
    with site.host() as host:
        seen = Package().observe([package("bad"), package("cc")], host.machine)
    assert seen == {"package:bad": None, "package:cc": None}
    assert set(site.owned()) == {"dd"}


def test_a_held_package_is_left_and_told(site: Site) -> None:
    site.packages.offer(Tiny(name="mine"), Tiny(name="dd", depends=["mine >= 2.0"]), Tiny(name="ee"))
    site.packages.by_hand("mine")
    site.packages.hold("mine")
    site.packages.offer(Tiny(name="mine", version="2.0"))
    applied = site.declare("dd", "ee")
    acted = told(applied, "dd").acted
    assert isinstance(acted, Failed)
    assert "mine" in acted.why
    assert site.packages.installed() == {"mine": "1.0", "ee": "1.0"}


def test_a_package_of_ours_that_somebody_holds_stays_and_is_told(site: Site) -> None:
    site.packages.offer(Tiny(name="aa"))
    site.declare("aa")
    site.packages.hold("aa")
    acted = told(site.declare(), "aa").acted
    assert isinstance(acted, StillNeeded)
    assert "held" in acted.why
    assert set(site.packages.installed()) == {"aa"}


def test_what_the_machine_cannot_be_without_is_never_removed(site: Site) -> None:
    site.packages.offer(Tiny(name="kept", protected=True))
    site.declare("kept")
    acted = told(site.declare(), "kept").acted
    assert isinstance(acted, StillNeeded)
    assert "kept" in acted.why
    assert set(site.packages.installed()) == {"kept"}


def test_all_is_fetched_first_and_nothing_is_installed_by_that(site: Site) -> None:
    site.packages.offer(*CHAIN, Tiny(name="dd"))
    kind = Package()
    with site.host() as host:
        assert kind.fetch([package("aa"), package("dd")], host.machine) is None
    assert site.packages.installed() == {}
    site.packages.withdraw()
    site.declare("aa", "dd")
    assert set(site.packages.installed()) == {"aa", "bb", "cc", "dd"}


def test_a_package_that_nobody_has_keeps_its_module_from_being_touched_and_the_rest_is_applied(
    site: Site,
) -> None:
    site.packages.offer(Tiny(name="aa"), Tiny(name="dd"))
    applied = site.declare_modules(["aa", "nonesuch"], ["dd"])
    for name in ("aa", "nonesuch"):
        acted = told(applied, name).acted
        assert isinstance(acted, Failed)
        assert "nonesuch" in acted.why
    assert set(site.packages.installed()) == {"dd"}


def test_the_managers_lock_is_waited_for(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "_AGAIN", 0.1)
    site.packages.offer(Tiny(name="aa"))
    lock = site.packages.lock()
    lock.__enter__()
    timer = threading.Timer(1.5, lambda: lock.__exit__(None, None, None))
    timer.start()
    assert site.declare("aa").well
    timer.join()


def test_a_database_that_cannot_be_read_never_reads_as_nothing_there(site: Site) -> None:
    site.packages.offer(Tiny(name="dd"))
    site.packages.by_hand("dd")
    site.packages.spoil()
    with site.host() as host:
        seen = Package().observe([package("dd")], host.machine)
    assert isinstance(seen["package:dd"], Unobservable)
    assert seen["package:dd"].why


def test_a_root_without_a_package_manager_is_told(tmp_path: Path) -> None:
    machine = Machine(root=tmp_path, files=Files(tmp_path), privileged=True, kept=lambda _digest: b"")
    seen = Package().observe([package("aa")], machine)
    assert isinstance(seen["package:aa"], Unobservable)
    assert "no package manager" in seen["package:aa"].why
