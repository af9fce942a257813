"""Sources, builds and the catalogue, as they are typed: real git, an in-process broker, our own builder."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.opening import open_broker, open_builder, open_host
from mesh_adapters.build.building import Means, build
from mesh_adapters.build.git import Repositories
from mesh_adapters.build.publishing import Access
from mesh_adapters.build.recipes import Workshop
from mesh_adapters.build.registry_text import LayoutRegistry
from mesh_adapters.build.sandbox import Missing
from mesh_adapters.build.sandbox_attend import Watch
from mesh_adapters.host.knowledge import Knowledge
from mesh_adapters.host.registry import known_kinds
from mesh_adapters.store import SqliteStore
from mesh_core.model.build import Failed, Step
from mesh_core.model.said import Report
from mesh_core.wire.builds import read_request, said_to_bytes
from mesh_core.wire.said import report_to_bytes
from tests.integration.build.repositories import Repository
from tests.integration.cli.program import mesh, nothing_written, ok

WEB = 'name = "web"\nversion = "{}"\nbuild = "files"\nresources = [{{kind = "tree", path = "/opt/web"}}]\n'
NEEDY = 'name = "web"\nversion = "9"\nrequires = ["nothing-provides-it"]\n'


class Yard:
    """A store, a repository with the module `web` in it, and a builder that builds when it is told to."""

    def __init__(self, folder: Path, store: Path, name: str) -> None:
        self.store = store
        self.folder = folder
        self.address = MemoryAddress(name=name)
        self.repository = Repository(folder / "repository")
        self.commit = self.has("1")
        broker = open_broker(self.address)
        broker.add_builders(["smith"])
        broker.close()
        opened = SqliteStore.open(store)
        with opened.writing() as session:
            session.add_builder("smith", "2026-12-02T08:00:00Z")
        opened.close()

    def has(self, version: str) -> str:
        return self.repository.commit({"web/module.toml": WEB.format(version), "web/page": version})

    def means(self) -> Means:
        return Means(
            builder="smith",
            repositories=Repositories(self.folder / "clones"),
            workshop=Workshop(sandbox=Missing(why="no commands here")),
            registry=LayoutRegistry(path=str(self.folder / "registry")),
            access=Access(),
            kinds=Knowledge(known_kinds()),
            now=lambda: "2026-12-02T08:00:00Z",
        )

    def build_one(self, *, wait: float = 0, fail: bool = False) -> bool:
        """Build what is asked for next: whether there was anything."""
        builder = open_builder(self.address, "smith")
        delivery = builder.take(wait)
        if delivery is not None:
            assert isinstance(delivery.content, bytes)
            request = read_request(delivery.content)
            work = self.folder / f"work-{request.id}"
            work.mkdir()
            answer = build(request, self.means(), work, Watch())
            if fail:
                answer = Failed(
                    request=request.id, builder="smith", step=Step.COMMANDS, why="no", log=("a\x1b[31m",)
                )
            builder.answer(said_to_bytes(answer))
            delivery.ack()
        builder.close()
        return delivery is not None

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """A builder in the background, which builds one thing."""
        thread = threading.Thread(target=self.build_one, kwargs={"wait": 20})
        thread.start()
        yield
        thread.join(30)
        assert not thread.is_alive()


@pytest.fixture
def yard(empty: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Yard:
    name = uuid4().hex
    monkeypatch.setenv("MESH_BROKER", f"memory://{name}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    return Yard(folder, empty, name)


def has_source(yard: Yard) -> None:
    ok("source", "set", "web", yard.repository.address, "--path", "web")


def column(out: str, name: str) -> list[str]:
    """The first words of a table's column."""
    head, *rows = out.splitlines()
    at = head.index(name)
    return [row[at:].split("  ")[0] for row in rows if len(row) > at]


def test_from_a_source_to_the_catalogue(yard: Yard) -> None:
    has_source(yard)
    assert column(ok("module", "list").out, "STATE") == ["never built"]
    with yard.at_work():
        ran = ok("build", "web", "--wait", "--timeout", "30")
    assert f"web: asked for {yard.commit[:7]}" in ran.out
    assert "built by smith, sha256:" in ran.out
    (module,) = ok("module", "list", "--json").json["modules"]
    assert (module["state"], module["from"]["commit"], module["version"]) == ("current", yard.commit, "1")
    (tree,) = module["resources"]
    assert (tree["artifact"], tree["from"]) == (module["from"]["artifact"], f"oci:{yard.folder}/registry")
    assert f"git {yard.commit[:7]}, built" in ok("module", "list").out


@pytest.mark.parametrize("words", [["web"], ["--behind"]])
def test_a_source_without_a_commit_is_told_once_and_asks_for_nothing(yard: Yard, words: list[str]) -> None:
    ok("source", "set", "web", yard.repository.address, "--path", "nothing")
    ran = mesh("build", *words)
    assert (ran.code, ran.out) == (4, "")
    assert ran.err == "web: the ref has no path 'nothing' (any more)\n"
    assert ok("builds", "--json").json["builds"] == []


def test_the_source_moves_and_the_catalogue_is_behind(yard: Yard) -> None:
    """> the source moves, after `source check` the catalogue says behind"""
    has_source(yard)
    ok("build", "web")
    assert yard.build_one()
    ok("collect")
    newer = yard.has("2")
    yard.repository.commit({"elsewhere": "x"})
    assert column(ok("module", "list").out, "STATE") == ["current"], "nobody has looked"
    out = ok("source", "check").out
    assert (column(out, "STATE"), column(out, "SOURCE HAS")) == (["behind"], [newer[:7]])
    ok("build", "--behind")
    assert yard.build_one()
    ok("collect")
    assert column(ok("module", "list").out, "VERSION") == ["2"]
    assert "nothing is behind" in ok("build", "--behind").out


def test_what_is_handed_over_keeps_its_source_until_it_is_built(yard: Yard) -> None:
    """> `mesh module add FILE --source REPO` [...] (handed over by hand until the first build)

    > Options work after the file argument; handing a manifest over by hand keeps the source
    """
    manifest = yard.repository.path / "web/module.toml"
    ok("module", "add", manifest, "--source", yard.repository.address, "--path", "web", "--ref", "main")
    assert column(ok("module", "list").out, "STATE") == ["by hand"]
    (source,) = ok("source", "show", "--json").json["sources"]
    assert (source["paths"], source["ref"], source["head"]) == (["web"], "main", None)
    ok("build", "web")
    yard.build_one()
    ok("collect")
    assert column(ok("module", "list").out, "STATE") == ["current"]
    ok("module", "add", manifest)
    assert column(ok("module", "list").out, "STATE") == ["by hand"]
    assert ok("source", "show", "--json").json["sources"][0]["paths"] == ["web"]


def test_builds_are_shown_with_their_failures_and_logs(yard: Yard) -> None:
    has_source(yard)
    assert "no build was asked for yet" in ok("builds").out
    ok("build", "web")
    assert column(ok("builds").out, "STATE") == ["asked"]
    yard.build_one(fail=True)
    ok("collect")
    assert column(ok("builds").out, "STATE") == ["failed"]
    (build,) = ok("builds", "--json").json["builds"]
    assert (build["failure"], build["log"]) == ({"step": "commands", "why": "no"}, ["a\x1b[31m"])
    shown = ok("builds", build["id"][:6]).out
    assert "at commands: no" in shown
    assert r"a\x1b[31m" in shown, "what a terminal would act on is shown"
    ok("build", "--again", build["id"][:8])
    assert len(ok("builds", "--json").json["builds"]) == 2
    ran = mesh("build", "--again", build["id"], "--wait", "--timeout", "0.1")
    assert (ran.code, "not all of them are over" in ran.err) == (4, True)


def test_a_build_is_cancelled(yard: Yard) -> None:
    has_source(yard)
    (build,) = ok("build", "web", "--json").json["builds"]
    assert "is cancelled" in ok("build", "--cancel", build["id"]).out
    assert "is over already" in ok("build", "--cancel", build["id"]).out
    yard.build_one()
    assert "came too late" in ok("collect").out
    assert column(ok("module", "list").out, "VERSION") == ["-"]


def test_what_would_leave_a_node_refused_is_held_and_accepted(yard: Yard) -> None:
    """> it is *held*, `status` says why, and `mesh module accept NAME` takes it"""
    has_source(yard)
    ok("module", "add", yard.repository.path / "web/module.toml")
    ok("node", "add", "pi")
    ok("assign", "pi", "web", "--anyway")
    yard.repository.commit({"web/module.toml": NEEDY})
    ok("build", "web")
    yard.build_one()
    assert "held: it would refuse a node" in ok("collect").out
    ran = mesh("module", "list")
    assert column(ran.out, "VERSION") == ["1"]
    assert "is held: mesh module accept web --dry-run" in ran.err
    with nothing_written(yard.store):
        ran = mesh("module", "accept", "web", "--dry-run")
        assert (ran.code, "web on pi needs 'nothing-provides-it'" in ran.err) == (3, True)
        assert "`mesh module accept web` records it" in ran.err
    ok("module", "accept", "web")
    assert column(ok("module", "list").out, "VERSION") == ["9"]
    ran = mesh("module", "accept", "web")
    assert (ran.code, "nothing of web is held" in ran.err) == (1, True)


def test_an_earlier_manifest_comes_back(yard: Yard) -> None:
    """> an earlier recorded manifest becomes the current one, as a new event in the history"""
    has_source(yard)
    for version in ("1", "2", "3"):
        yard.has(version)
        ok("build", "web")
        yard.build_one()
        ok("collect")
    events = len(ok("history", "--json").json["events"])
    ok("module", "rollback", "web")
    assert column(ok("module", "list").out, "VERSION") == ["2"]
    assert column(ok("module", "list").out, "STATE") == ["behind"]
    ok("module", "rollback", "web", "--to", "1")
    assert column(ok("module", "list").out, "VERSION") == ["1"]
    assert len(ok("history", "--json").json["events"]) == events + 2
    history = ok("module", "show", "web", "--json").json["history"]
    assert [(put["version"], put["current"]) for put in history][-2:] == [("2", False), ("1", True)]
    commit = next(put["from"]["commit"] for put in history if put["version"] == "3")
    ok("module", "rollback", "web", "--to", commit[:7])
    assert column(ok("module", "list").out, "VERSION") == ["3"]
    with nothing_written(yard.store):
        assert mesh("module", "rollback", "web", "--to", "7").code == 1


def test_a_repository_out_of_reach_leaves_the_head_and_says_when_it_was_known(yard: Yard) -> None:
    has_source(yard)
    ok("source", "check", "web")
    yard.repository.path.rename(yard.folder / "gone")
    ran = mesh("source", "check", "--json")
    assert ran.code == 4
    (source,) = ran.json["sources"]
    assert (source["head"]["commit"], source["missed"]["code"]) == (yard.commit, "RepositoryAway")
    assert "was its head" in mesh("source", "show").err


def test_what_was_never_built_is_put_on_no_machine(yard: Yard) -> None:
    """> Until something was built there is nothing to put there, which is a material fault."""
    ok("module", "add", yard.repository.path / "web/module.toml", "--source", yard.repository.address)
    ok("source", "set", "web", yard.repository.address, "--path", "web")
    ok("node", "add", "pi")
    with nothing_written(yard.store):
        ran = mesh("assign", "pi", "web")
    assert (ran.code, "web has no artifact yet: mesh build web" in ran.err) == (3, True)
    ok("assign", "pi", "web", "--anyway")
    assert "fix: mesh build web" in mesh("plan").out
    assert mesh("push").code == 4
    with yard.at_work():
        ok("build", "web", "--wait", "--timeout", "30")
    assert ok("push").out.endswith("1 sent\n")


def test_without_a_builder_it_is_said_that_there_is_none(yard: Yard) -> None:
    has_source(yard)
    opened = SqliteStore.open(yard.store)
    with opened.writing() as session:
        session.remove_builder("smith")
    opened.close()
    ran = mesh("build", "web")
    assert (ran.code, ran.err) == (0, "there is no builder yet: mesh builder invite NAME\n")


def test_without_a_broker_what_is_asked_for_is_kept(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    has_source(yard)
    monkeypatch.setenv("MESH_BROKER", "amqp://127.0.0.1:1")
    monkeypatch.setenv("MESH_BROKER_CREDENTIAL", str(yard.folder / "none.json"))
    ran = mesh("build", "web")
    assert (ran.code, "is written down" in ran.err) == (5, True)
    assert column(ok("builds").out, "STATE") == ["waiting"]


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["source", "set", "web", "ext::sh -c touch"], 64, "no repository"),
        (["source", "set", "web", "--", "--upload-pack=touch"], 64, "no repository"),
        (["source", "set", "web", "https://user:secret@git.example/web"], 64, "no repository"),
        (["source", "set", "web", "https://git.example/web", "--ref", "-x"], 64, "no ref"),
        (["source", "set", "web", "https://git.example/web", "--path", "../x"], 64, "no path"),
        (["source", "set", "WEB", "https://git.example/web"], 64, "no module name"),
        (["source", "check", "wbe"], 1, "there is no source 'wbe'; near: web"),
        (["source", "remove", "shop"], 1, "there is no source"),
        (["build"], 64, "say one of"),
        (["build", "web", "--behind"], 64, "say one of"),
        (["build", "--again", "abc"], 1, "no build is called 'abc'"),
        (["build", "--cancel", ""], 1, "no build is called ''"),
        (["builds", "abc"], 1, "no build is called"),
        (["module", "rollback", "web"], 1, "there is no module"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    yard: Yard, arguments: list[str], code: int, said: str
) -> None:
    has_source(yard)
    with nothing_written(yard.store):
        ran = mesh(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert "secret" not in ran.err


def test_status_has_modules_first_and_machines_second(yard: Yard) -> None:
    """> `mesh status` as in ux.md: modules first (runs, source has, state, on), machines second"""
    has_source(yard)
    ok("node", "add", "pi")
    printed = ok("status").out
    modules, nodes = printed.split("\n\n")[:2]
    assert modules.splitlines() == [
        "MODULE  RUNS  SOURCE HAS  STATE        ON",
        "web     -     -           never built  -",
    ]
    assert nodes.startswith("NODE ")
    ok("module", "add", "-", stdin='name = "nano"\nversion = "7"\n')
    assert "and 1 module without a source that no machine runs: mesh module list" in ok("status").out


def test_status_of_a_module_is_its_way_to_each_machine(yard: Yard) -> None:
    """> `mesh status MODULE|NODE` goes deeper: the ladder from commit to built to declared to applied"""
    has_source(yard)
    ok("build", "web")
    yard.build_one()
    ok("collect")
    ok("node", "add", "pi")
    ok("assign", "pi", "web")
    told = ok("status", "web").out
    assert f"{yard.commit[:7]} of " in told
    assert f"git {yard.commit[:7]}, built" in told
    assert "is to have it: mesh push" in told
    ok("push")
    found = ok("status", "web", "--json").json
    assert (found["nodes"], found["modules"]["web"]["nodes"]["pi"]["rung"]) == ({}, "sent")
    host = open_host(yard.address, "pi")
    report = Report(node="pi", machine="m", generation=1, applied=1, modules=["web"])
    host.report(report_to_bytes(report))
    host.close()
    ok("collect")
    on_pi = ok("status", "web", "--json").json["modules"]["web"]["nodes"]["pi"]
    assert ok("status", "pi", "--json").json["on"] == {"pi": {"web": on_pi | {"state": "current"}}}
    of_pi = ok("status", "pi").out.split("\n\n")[-1]
    assert (column(of_pi, "SOURCE HAS"), column(of_pi, "STATE")) == ([yard.commit[:7]], ["current"])
    assert column(of_pi, "RUNS") == [f"1 ({yard.commit[:7]})"]
    assert (on_pi["rung"], on_pi["runs"]["from"]["commit"]) == ("applied", yard.commit)
    assert column(ok("status").out.split("\n\n")[0], "ON") == ["pi"]
    yard.has("2")
    ok("build", "web")
    yard.build_one()
    ok("collect")
    assert "pi (another one)" in ok("module", "list").out
    assert "is to have it: mesh push" in ok("status", "web").out
