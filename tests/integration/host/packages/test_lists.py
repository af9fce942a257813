"""Lists of packages that are older than the repository: apt and dnf read them anew, pacman never does."""

from mesh_adapters.host.kind import Failed
from tests.integration.host.packages.site import Site, told
from tests.integration.host.packages.tiny import Tiny


def test_apt_updates_its_lists_once_where_a_package_is_unknown_to_them(apt: Site) -> None:
    apt.packages.offer()
    apt.packages.publish(Tiny(name="aa"))
    assert apt.declare("aa").well


def test_apt_leaves_its_lists_alone_where_they_know_the_package(apt: Site) -> None:
    apt.packages.offer(Tiny(name="aa"))
    (apt.root.parent / "repository/Packages").unlink()  # so that an update would fail
    assert apt.declare("aa").well


def test_dnf_reads_its_lists_anew_where_a_package_is_unknown_to_them(dnf: Site) -> None:
    repository = dnf.root / "etc/yum.repos.d/lab.repo"
    repository.write_text(repository.read_text().replace("metadata_expire=0", "metadata_expire=never"))
    dnf.packages.offer(Tiny(name="dd"))
    dnf.packages.by_hand("dd")
    dnf.packages.publish(Tiny(name="aa"))
    assert dnf.declare("aa").well


def test_pacman_is_told_to_a_person_where_its_lists_are_too_old(pacman: Site) -> None:
    pacman.packages.offer()
    pacman.packages.publish(Tiny(name="aa"))
    acted = told(pacman.declare("aa"), "aa").acted
    assert isinstance(acted, Failed)
    assert "pacman -Syu" in acted.why
