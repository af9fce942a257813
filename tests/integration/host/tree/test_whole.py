"""A tree is there whole, another one comes whole, and what was edited is put back whole (design, part 8)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from mesh_adapters.host.kind import Done
from mesh_core import Resource
from mesh_core.reconcile import Act
from tests.integration.host.tree.artifacts import TIME
from tests.integration.host.tree.outcomes import acts, files, nothing_is_left, site_with
from tests.integration.host.world import PRIVILEGED, World, declaration, shown


def test_it_is_there_as_it_was_packed_and_goes_without_a_trace(world: World, site: Resource) -> None:
    assert world.applied(declaration(1, [site])).well
    there = shown(world.root)
    modes = {path: (one[0], one[1]) for path, one in there.items()}
    assert modes == {
        "/opt": ("directory", 0o755),
        "/opt/web": ("directory", 0o755),
        "/opt/web/index.html": ("file", 0o644),
        "/opt/web/run": ("file", 0o755),
        "/opt/web/static": ("directory", 0o755),
        "/opt/web/static/a.css": ("file", 0o644),
    }
    assert not PRIVILEGED or {one[2:4] for one in there.values()} == {(0, 0)}
    assert (world.root / "opt/web/run").stat().st_mtime == TIME
    assert (world.root / "opt/web/static").stat().st_mtime == TIME
    assert world.applied(declaration(2)).well
    assert shown(world.root) == {}
    nothing_is_left(world)


def test_an_unchanged_run_does_nothing_and_reads_no_file(
    world: World, site: Resource, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = declaration(1, [site])
    assert world.applied(content).well

    def read(place: str, size: int) -> str:
        raise AssertionError(f"{place} was read")

    monkeypatch.setattr("mesh_adapters.host.artifacts.looking.sha256_of", read)
    assert world.unchanged(content) is not None
    assert world.applied(content).events == ()


def test_a_machine_that_was_copied_is_read_once(world: World, site: Resource, folder: Path) -> None:
    """Its inodes and times are others; it is the same tree all the same."""
    content = declaration(1, [site])
    assert world.applied(content).well
    other = world.copy(folder / "copied")
    assert other.unchanged(content) is not None
    (other.root / "opt/web/index.html").write_text("!\n")
    assert other.unchanged(content) is None


def test_an_update_is_another_tree_whole(world: World, site: Resource, newer: Resource) -> None:
    assert world.applied(declaration(1, [site])).well
    applied = world.applied(declaration(2, [newer]))
    assert acts(applied) == [(Act.CHANGE, Done)]
    assert files(world) == {
        "/opt/web/index.html": "2\n",
        "/opt/web/static/b.css": "b\n",
        "/opt/web/new/deep/er": "new\n",
    }
    assert world.applied(declaration(3, [site])).well
    assert files(world) == site_with()
    assert world.applied(declaration(4)).well
    nothing_is_left(world)


@pytest.mark.parametrize("how", ["content", "same length", "mode", "gone", "link", "root mode", "owner"])
def test_what_was_edited_is_seen_and_put_back(world: World, site: Resource, how: str) -> None:
    content = declaration(1, [site])
    assert world.applied(content).well
    place = world.root / "opt/web/index.html"
    if how in ("content", "same length"):
        status = place.stat()
        place.write_text("edited\n" if how == "content" else "!\n")
        os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif how == "mode":
        place.chmod(0o600)
    elif how == "root mode":
        (world.root / "opt/web").chmod(0o777)
    elif how == "owner":
        if not PRIVILEGED:
            pytest.skip("nobody can give a file away here")
        os.chown(place, 1000, 1000)
    else:
        place.unlink()
        if how == "link":
            place.symlink_to("run")
    assert world.unchanged(content) is None
    applied = world.applied(content)
    assert acts(applied) == [(Act.PUT_BACK, Done)]
    assert applied.drifted
    (event,) = applied.events
    assert isinstance(event.acted, Done)
    assert event.acted.notes == (f"put back: {'.' if how == 'root mode' else 'index.html'}",)
    assert files(world) == site_with()
    assert world.unchanged(content) is not None
    assert world.applied(declaration(2)).well
    nothing_is_left(world)


def test_a_directory_that_became_a_link_to_the_same_files_is_seen(world: World, site: Resource) -> None:
    content = declaration(1, [site])
    assert world.applied(content).well
    static = world.root / "opt/web/static"
    static.rename(world.root / "elsewhere")
    static.symlink_to(world.root / "elsewhere")
    assert world.unchanged(content) is None
    assert world.applied(content).well
    assert not static.is_symlink()
    assert files(world) == site_with() | {"/elsewhere/a.css": "a\n"}


def test_a_tree_that_somebody_took_away_comes_again(world: World, site: Resource) -> None:
    content = declaration(1, [site])
    assert world.applied(content).well
    shutil.rmtree(world.root / "opt")
    assert acts(world.applied(content))[-1] == (Act.PUT_BACK, Done)
    assert files(world) == site_with()
