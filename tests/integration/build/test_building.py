"""One build from the request to the answer: real git, a real sandbox, a folder for registry."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.build.building import Means, Stopped, build, clear
from mesh_adapters.build.git import GitSettings, Repositories
from mesh_adapters.build.layout import read_blob
from mesh_adapters.build.publishing import Access
from mesh_adapters.build.recipes import Workshop
from mesh_adapters.build.registry_text import LayoutRegistry
from mesh_adapters.build.sandbox import find_sandbox
from mesh_adapters.build.sandbox_attend import Watch
from mesh_adapters.host.knowledge import Knowledge
from mesh_adapters.host.registry import known_kinds
from mesh_core.model.build import Answer, Built, Failed, Request, Shut, Step
from tests.integration.build.repositories import Repository

AT = "2026-12-02T12:00:00Z"
FILES = 'name = "web"\nversion = "1"\nbuild = "files"\nresources = [{kind = "tree", path = "/opt/web"}]\n'
SHELL = """
name = "web"
version = "1"
build = {kind = "shell", commands = ["mkdir dist", "date > dist/when", "cp page dist/"]}
"""


@pytest.fixture(scope="session")
def workshop() -> Workshop:
    return Workshop(sandbox=find_sandbox())


class Bench:
    """A repository, a builder's means, and what it answers."""

    def __init__(self, folder: Path, workshop: Workshop) -> None:
        self.folder = folder
        self.repository = Repository(folder / "repository")
        self.layout = folder / "registry"
        self.means = Means(
            builder="smith",
            repositories=Repositories(folder / "clones", settings=GitSettings()),
            workshop=workshop,
            registry=LayoutRegistry(path=str(self.layout)),
            access=Access(),
            kinds=Knowledge(known_kinds()),
            now=lambda: AT,
        )
        self._turns = 0

    def request(self, **more: Any) -> Request:
        given: dict[str, Any] = {
            "id": "1" * 12,
            "module": "web",
            "repository": self.repository.address,
            "ref": "HEAD",
        }
        given |= {"commit": self.repository.git("rev-parse", "HEAD"), "paths": ("web",)} | more
        return Request(**given)

    def answer(self, watch: Watch | None = None, **more: Any) -> Answer:
        self._turns += 1
        work = self.folder / f"work-{self._turns}"
        work.mkdir()
        try:
            return build(self.request(**more), self.means, work, watch or Watch())
        finally:
            clear(work)
            assert not work.exists()

    def built(self, **more: Any) -> Built:
        answer = self.answer(**more)
        assert isinstance(answer, Built), answer
        return answer

    def failed(self, **more: Any) -> Failed:
        answer = self.answer(**more)
        assert isinstance(answer, Failed), answer
        return answer

    def has(self, manifest: str, **files: str) -> str:
        return self.repository.commit(
            {"web/module.toml": manifest, **{f"web/{name}": text for name, text in files.items()}}
        )


@pytest.fixture
def bench(tmp_path: Path, workshop: Workshop) -> Bench:
    return Bench(tmp_path, workshop)


def test_files_are_published_with_their_commit(bench: Bench) -> None:
    commit = bench.has(FILES, page="hello")
    built = bench.built()
    assert (built.commit.id, built.manifest.version, built.shut) == (commit, "1", Shut.NOTHING_RAN)
    tar = read_blob(bench.layout, built.artifact.content, 1_000_000)
    assert isinstance(tar, bytes)
    assert b"hello" in tar
    assert built.artifact.place == f"oci:{bench.layout}"


def test_only_what_touched_the_module_is_another_artifact(bench: Bench) -> None:
    """> building again gives a new digest because the content changed, and the same digest when only another
    > directory of the repository changed
    """
    bench.has(FILES, page="hello")
    first = bench.built()
    bench.repository.commit({"elsewhere": "x"})
    shutil.rmtree(bench.folder / "clones")
    again = bench.built()
    assert (again.artifact, again.commit) == (first.artifact, first.commit)
    bench.has(FILES, page="bye")
    assert bench.built().artifact.content != first.artifact.content


def test_commands_run_shut_in_at_the_commits_time(bench: Bench) -> None:
    bench.has(SHELL, page="hello")
    built = bench.built()
    assert built.shut is Shut.BUBBLEWRAP


def test_verify_builds_twice_and_says(bench: Bench) -> None:
    """> `mesh build --verify` builds twice and says"""
    steady = SHELL.replace("date >", "echo $SOURCE_DATE_EPOCH >")
    bench.has(steady, page="hello")
    assert bench.built(verify=True).same is True
    assert bench.built().same is None
    bench.has(SHELL.replace("date >", "head -c 16 /dev/urandom >"), page="hello")
    assert bench.built(verify=True).same is False


@pytest.mark.parametrize(
    ("manifest", "step", "why"),
    [
        (FILES.replace('"web"', '"shop"', 1), Step.MANIFEST, "the manifest of shop"),
        ("name = web", Step.MANIFEST, "module.toml"),
        (FILES + "colour = 1", Step.MANIFEST, "unknown key"),
        (FILES.replace('path = "/opt/web"', 'path = "/opt/web", colour = 1'), Step.MANIFEST, "colour"),
        (FILES.replace('build = "files"', 'build = "container"'), Step.MANIFEST, "an image is no tree"),
        (SHELL.replace("mkdir dist", "echo telling; exit 3"), Step.COMMANDS, "3"),
        (SHELL.replace("dist", "elsewhere"), Step.OUTPUT, "dist"),
        (SHELL.replace("cp page", "ln -s /etc/passwd"), Step.OUTPUT, "link"),
    ],
)
def test_a_failure_says_at_which_step_and_why(bench: Bench, manifest: str, step: Step, why: str) -> None:
    bench.has(manifest, page="hello")
    failed = bench.failed()
    assert failed.step is step
    assert why in failed.why
    assert not bench.layout.exists()


def test_the_end_of_the_log_is_in_the_answer(bench: Bench) -> None:
    bench.has(SHELL.replace("mkdir dist", "seq 1000; echo telling >&2; exit 3"), page="hello")
    log = bench.failed().log
    assert "telling" in log
    assert 10 < len(log) <= 101


def test_without_a_manifest_or_with_two_nothing_is_built(bench: Bench) -> None:
    bench.repository.commit({"web/page": "hello"})
    assert bench.failed().step is Step.MANIFEST
    bench.repository.commit({"web/module.toml": FILES, "web/module.json": "{}"})
    failed = bench.failed()
    assert (failed.step, "both" in failed.why) == (Step.MANIFEST, True)
    bench.repository.git("rm", "-q", "web/module.toml")
    (bench.repository.path / "web/module.toml").symlink_to("page")
    bench.repository.git("rm", "-q", "-f", "web/module.json")
    bench.repository.commit({})
    assert bench.failed().step is Step.MANIFEST


def test_what_the_source_has_not_is_told(bench: Bench) -> None:
    bench.has(FILES)
    assert "no path 'shop'" in bench.failed(paths=("shop",)).why
    assert bench.failed(paths=("shop",)).step is Step.SOURCE
    assert "no commit" in bench.failed(commit="f" * 40).why
    assert "out of reach" in bench.failed(repository=f"file://{bench.folder}/nowhere").why


def test_a_link_out_of_the_tree_is_a_failed_answer_and_nothing_is_written(bench: Bench) -> None:
    """> a symlink out of the tree [...]: a failed answer, nothing executed, nothing outside written"""
    bench.has(FILES)
    (bench.repository.path / "web/out").symlink_to("../../../../etc/passwd")
    bench.repository.commit({})
    failed = bench.failed()
    assert (failed.step, failed.why.startswith("web/out")) == (Step.SOURCE, True)
    assert not bench.layout.exists()


def test_a_registry_that_is_away_is_a_failed_answer(bench: Bench) -> None:
    bench.has(FILES)
    bench.layout.write_text("in the way")
    assert bench.failed().step is Step.PUBLISH


def test_files_beside_the_manifest_are_taken_in(bench: Bench) -> None:
    manifest = (
        'name = "web"\nversion = "1"\nresources = [{kind="file", path="/etc/x", content_from="page"}]\n'
    )
    bench.has(manifest, page="hello")
    (resource,) = bench.built().manifest.resources
    assert resource.attributes == {"content": "hello"}


def test_asked_to_stop_it_gives_no_answer(bench: Bench) -> None:
    bench.has(SHELL.replace("mkdir dist", "sleep 60"), page="hello")
    with pytest.raises(Stopped):
        bench.answer(Watch(asked_to_stop=lambda: True))


def test_another_day_another_folder_the_same_artifact(bench: Bench, tmp_path: Path) -> None:
    """> `files` is the same always: another day, user, directory"""
    bench.has(FILES, page="hello")
    first = bench.built()
    later: Callable[[], str] = lambda: "2027-06-01T00:00:00Z"  # noqa: E731
    bench.means = evolve(
        bench.means,
        now=later,
        builder="mason",
        repositories=Repositories(tmp_path / "other" / "clones", settings=GitSettings()),
    )
    assert bench.built(id="2" * 12).artifact == first.artifact
