"""What apt and dpkg alone can do wrong."""

import fcntl
import threading

import pytest

from mesh_adapters.host.kind import Done, Failed
from mesh_adapters.host.kinds.package import Package
from mesh_adapters.host.managers import manager
from mesh_core.reconcile import State
from tests.integration.host.packages.site import Site, package, told
from tests.integration.host.packages.test_packages import FAILING
from tests.integration.host.packages.tiny import Tiny


def test_an_interrupted_dpkg_is_told_with_what_would_do(apt: Site) -> None:
    apt.packages.offer(Tiny(name="aa"))
    interrupted = apt.root / "var/lib/dpkg/updates/0001"
    interrupted.touch()
    acted = told(apt.declare("aa"), "aa").acted
    assert isinstance(acted, Failed)
    assert "dpkg --configure -a" in acted.why
    interrupted.unlink()
    assert apt.again("aa").well


def test_what_a_failed_installation_did_not_bring_is_not_owned_and_the_rest_goes_on(apt: Site) -> None:
    apt.packages.offer(Tiny(name="aa", depends=["cc"]), Tiny(name="cc", before_install=FAILING))
    apt.packages.publish(Tiny(name="dd"))
    applied = apt.declare("aa", "dd")
    assert isinstance(told(applied, "aa").acted, Failed)
    assert isinstance(told(applied, "dd").acted, Done)
    assert set(apt.owned()) == {"aa", "dd"}
    (apt.root / "etc/fine").touch()
    assert apt.again("aa", "dd").well
    assert set(apt.owned()) == {"aa", "cc", "dd"}


def test_a_package_that_is_half_configured_is_not_installed(apt: Site) -> None:
    apt.packages.offer(Tiny(name="bad", after_install=FAILING))
    apt.declare("bad")
    with apt.host() as host:
        seen = Package().observe([package("bad")], host.machine)
    assert seen == {"package:bad": State(facts={"installed": False, "halfway": True})}


def test_what_a_person_left_half_configured_stays_when_the_mesh_lets_go(apt: Site) -> None:
    apt.packages.offer(Tiny(name="bad", after_install=FAILING))
    with pytest.raises(AssertionError, match="it is not fine"):
        apt.packages.by_hand("bad")
    (apt.root / "etc/fine").touch()
    assert apt.declare("bad").well
    apt.declare()
    assert set(apt.packages.installed()) == {"bad"}
    assert apt.owned() == {}


def test_trouble_with_another_package_is_told_and_no_failure_of_this_one(apt: Site) -> None:
    apt.packages.offer(Tiny(name="bad", after_install=FAILING), Tiny(name="aa"))
    with pytest.raises(AssertionError, match="it is not fine"):
        apt.packages.by_hand("bad")
    acted = told(apt.declare("aa"), "aa").acted
    assert isinstance(acted, Done)
    assert "it is not fine" in acted.notes[0]
    removed = told(apt.declare(), "aa").acted
    assert isinstance(removed, Done)
    assert apt.packages.installed() == {}


def test_configuration_stays_unless_the_package_is_to_be_purged(apt: Site) -> None:
    def with_configuration(name: str) -> Tiny:
        return Tiny(name=name, files={f"/etc/{name}.conf": "1\n"}, conffiles=[f"/etc/{name}.conf"])

    apt.packages.offer(with_configuration("aa"), with_configuration("bb"))
    apt.declare("aa", package("bb", purge=True))
    assert apt.declare().well
    assert apt.packages.installed() == {}
    assert (apt.root / "etc/aa.conf").exists()
    assert not (apt.root / "etc/bb.conf").exists()


def test_a_name_that_apt_takes_for_a_pattern_is_refused(apt: Site) -> None:
    apt.packages.offer(Tiny(name="axa"))
    acted = told(apt.declare("a.a"), "a.a").acted
    assert isinstance(acted, Failed)
    assert "axa" in acted.why
    assert apt.packages.installed() == {}


def test_the_lock_of_what_is_fetched_is_waited_for_as_well(
    apt: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manager, "_AGAIN", 0.1)
    apt.packages.offer(Tiny(name="aa"))
    # Held by this process, which apt is a child of: a lock of fcntl(2) is not inherited.
    with (apt.root / "var/cache/apt/archives/lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        timer = threading.Timer(1, lambda: fcntl.lockf(lock, fcntl.LOCK_UN))
        timer.start()
        assert apt.declare("aa").well
        timer.join()


def test_what_a_lock_is_waited_for_ends(apt: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manager, "_AGAIN", 0.1)
    monkeypatch.setattr(manager, "LOCKED", 0.3)
    apt.packages.offer(Tiny(name="aa"))
    with (apt.root / "var/cache/apt/archives/lock").open("w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        acted = told(apt.declare("aa"), "aa").acted
    assert isinstance(acted, Failed)
    assert "lock" in acted.why
