"""From a commit to machines that say that they run it: real programs, RabbitMQ, git and registry.

> the mesh asks, one of two builders takes it, builds, publishes (`docker://`), answers; the manifest is
> recorded with its commit and digest; the source moves, after `mesh source check` the catalogue says behind
> and which machines run the old one; building again gives a new digest because the content changed, and the
> same digest when only another directory of the repository changed; pushed, the machine fetches the module's
> `tree` over HTTPS from the registry by digest, reports it, and `mesh status` (and `mesh status MODULE`) says
> so.

A machine has of the registry what docs/resources.md says: who vouches for it, and an account.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.builder.remote import PREFIX, Remote
from tests.integration.builder.remote import guarded as guarded
from tests.integration.builder.remote import remote as remote
from tests.integration.builder.shop import BUILDERS, Running, until
from tests.integration.cli.program import mesh, ok, process
from tests.integration.host.cli.program import well
from tests.integration.push.programs import Machine, Talking

PLAIN = ("mkdir dist", "cp page dist/")
NODES = ("nas", "pi")
EVERY = 0.5
"""Seconds between two reports of a machine."""
PAGE = "/opt/site/page"


@pytest.fixture
def machines(remote: Remote, tmp_path: Path) -> Iterator[tuple[Machine, Machine]]:
    """Two machines that joined and trust the registry; none of them has an account there, or runs."""
    ok("node", "add", *NODES)
    nas, pi = (_joined(remote, tmp_path, name) for name in NODES)
    yield nas, pi
    for name in NODES:
        assert mesh("node", "revoke", name, "--admin", remote.shop.plane.admin).code == 0
        assert mesh("node", "remove", name).code == 0


def _joined(remote: Remote, folder: Path, name: str) -> Machine:
    file, root = folder / f"{name}.json", folder / f"machine-{name}"
    assert mesh("node", "invite", name, "--admin", remote.shop.plane.admin, "--out", file).code == 0
    root.mkdir()
    well("join", file, "--root", root)
    remote.vouched_for(root)
    return Machine(root, name)


def acted(*arguments: object) -> dict[str, Any]:
    """What `mesh`, as a process of its own, made of a command that has to end well."""
    ran = process(*arguments, "--json")
    assert ran.code == 0, ran
    return ran.json


def built(*words: str) -> dict[str, Any]:
    """What came of `mesh build`, which is seen to its end."""
    (found,) = acted("build", *words, "--wait", "--timeout", "40")["builds"]
    assert found["state"] == "built", found
    assert isinstance(found, dict)
    return found


def digests(build: dict[str, Any]) -> tuple[str, str]:
    """What hosts are told of a build, and what is in it."""
    return build["built"]["artifact"], build["built"]["content"]


def entry(module: str) -> dict[str, Any]:
    """A module as the catalogue has it."""
    (found,) = [one for one in ok("module", "list", "--json").json["modules"] if one["name"] == module]
    assert isinstance(found, dict)
    return found


def on(module: str) -> dict[str, bool | None]:
    """The machines that run it by what they said, each with whether that is what the catalogue has."""
    mesh("collect")
    return {one["node"]: one["current"] for one in entry(module)["on"]}


def rungs(module: str) -> dict[str, tuple[str, str | None]]:
    """How far it has come on each machine, and the commit of what the machine runs."""
    nodes = ok("status", module, "--json").json["modules"][module]["nodes"]
    runs = {name: one["runs"]["from"]["commit"] if one["runs"] else None for name, one in nodes.items()}
    return {name: (one["rung"], runs[name]) for name, one in nodes.items()}


def stand() -> dict[str, str]:
    """The state of each machine."""
    return {name: one["state"] for name, one in ok("status", "--json").json["nodes"].items()}


@pytest.mark.long
def test_a_change_comes_from_its_source_to_machines_that_say_so(
    remote: Remote, machines: tuple[Machine, Machine]
) -> None:
    """The whole sentence, but for the same digest; each step has its part of it."""
    first = remote.shop.has("site", PLAIN)
    nas, pi = machines
    with ExitStack() as ends:
        builders = [ends.enter_context(remote.running(name)) for name in BUILDERS]
        at_work = [ends.enter_context(machine.running(EVERY)) for machine in machines]
        old = _built_by_one(remote, builders, first)
        _pushed(remote, machines, old)
        _fetched(remote, machines, old)
        second = _moved(remote, old)
        new = _built_anew(builders, old, second)
        with _frozen(at_work[0]):
            _pushed_anew(machines, first, second)
        until(lambda: on("site") == {"nas": True, "pi": True}, "the other one says so too")
        assert rungs("site") == {"nas": ("applied", second), "pi": ("applied", second)}
        assert nas.text(PAGE) == pi.text(PAGE) == "newer"
        assert remote.given_to_hosts() == {*_paths(old), *_paths(new)}


@contextmanager
def _frozen(daemon: Talking) -> Iterator[None]:
    """A host that does nothing meanwhile, and is not gone."""
    os.kill(daemon.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(daemon.process.pid, signal.SIGCONT)


def _built_by_one(remote: Remote, builders: Sequence[Running], commit: str) -> dict[str, Any]:
    """> the mesh asks, one of two builders takes it, builds, publishes (`docker://`), answers; the manifest
    > is recorded with its commit and digest
    """
    build = built("site")
    artifact, content = digests(build)
    assert [one.said("building site") for one in builders] in ([0, 1], [1, 0])
    manifest = remote.manifest("site", artifact)
    assert [layer["digest"] for layer in manifest["layers"]] == [content]
    assert manifest["annotations"]["org.opencontainers.image.revision"] == commit
    assert b"telltale" in remote.blob("site", content)
    found = entry("site")
    assert (found["from"]["commit"], found["from"]["artifact"]) == (commit, artifact)
    assert (found["from"]["content"], found["from"]["builder"]) == (content, build["taken_by"])
    (tree,) = found["resources"]
    assert (tree["artifact"], tree["from"]) == (artifact, remote.place("site"))
    assert (found["state"], found["on"]) == ("current", [])
    return build


def _pushed(remote: Remote, machines: Sequence[Machine], old: dict[str, Any]) -> None:
    """Both are sent it; one has no account at the registry, and says so."""
    nas, pi = machines
    remote.let_in(pi.root)
    for name in NODES:
        ok("assign", name, "site")
    assert process("push", "--wait", "--timeout", "40").code == 4
    assert stand() == {"nas": "failed", "pi": "applied"}
    assert "it asks who is there (status 401)" in ok("status", "nas").out
    assert nas.text(PAGE) is None
    assert on("site") == {"nas": None, "pi": True}, "it could not get it, and is not said to run it"
    assert _row("site").endswith(" current nas (failed), pi")
    assert rungs("site")["nas"] == ("sent", None)


def _fetched(remote: Remote, machines: Sequence[Machine], old: dict[str, Any]) -> None:
    """> pushed, the machine fetches the module's `tree` over HTTPS from the registry by digest, reports it,
    > and `mesh status` (and `mesh status MODULE`) says so
    """
    remote.let_in(machines[0].root)
    until(lambda: on("site") and stand() == {"nas": "applied", "pi": "applied"}, "both say that it is so")
    assert on("site") == {"nas": True, "pi": True}
    assert [machine.text(PAGE) for machine in machines] == ["telltale", "telltale"]
    until(lambda: remote.given_to_hosts() == _paths(old), "the registry gave it by digest, and nothing else")
    assert rungs("site") == dict.fromkeys(NODES, ("applied", old["commit"]))
    assert _row("site") == f"site {old['commit'][:7]} {old['commit'][:7]} current nas, pi"
    told = ok("status", "site").out
    assert digests(old)[0] in told
    assert told.count(f"runs it  1 ({old['commit'][:7]})") == 2


def _moved(remote: Remote, old: dict[str, Any]) -> str:
    """> the source moves, after `mesh source check` the catalogue says behind and which machines run the old
    > one
    """
    commit = remote.shop.repository.commit({"site/page": "newer"})
    assert entry("site")["state"] == "current", "nobody has looked"
    acted("source", "check", "site")
    found = entry("site")
    assert (found["state"], found["head"], found["from"]["commit"]) == ("behind", commit, old["commit"])
    assert on("site") == {"nas": True, "pi": True}, "it is what the catalogue has, and that is behind"
    assert _row("site") == f"site {old['commit'][:7]} {commit[:7]} behind nas, pi"
    return commit


def _built_anew(builders: Sequence[Running], old: dict[str, Any], commit: str) -> dict[str, Any]:
    """> building again gives a new digest because the content changed"""
    new = built("site")
    assert not {*digests(new)} & {*digests(old)}
    assert sum(one.said("building site") for one in builders) == 2
    found = entry("site")
    assert (found["state"], found["from"]["commit"]) == ("current", commit)
    assert found["resources"][0]["artifact"] == digests(new)[0]
    assert on("site") == {"nas": False, "pi": False}
    assert "nas (another one), pi (another one)" in ok("module", "list").out
    assert rungs("site") == dict.fromkeys(NODES, ("planned", old["commit"]))
    return new


def _pushed_anew(machines: Sequence[Machine], first: str, second: str) -> None:
    """One machine is away: it was sent the new one, and runs the old one by what it said last."""
    assert process("push").code == 0
    until(lambda: on("site") == {"nas": False, "pi": True}, "one of them says that it runs the new one")
    assert rungs("site") == {"nas": ("sent", first), "pi": ("applied", second)}
    assert [machine.text(PAGE) for machine in machines] == ["telltale", "newer"]
    assert "nas (another one), pi" in ok("status").out
    assert "was sent it, and has not reported that it runs" in ok("status", "site").out


def _paths(build: dict[str, Any]) -> set[str]:
    """What a host asks a registry for, to have what was built."""
    artifact, content = digests(build)
    return {f"/v2/{PREFIX}/site/{path}" for path in (f"manifests/{artifact}", f"blobs/{content}")}


def _row(module: str) -> str:
    """A module's line in `mesh status`, whatever its columns are apart."""
    (line,) = [line for line in ok("status").out.splitlines() if line.startswith(f"{module} ")]
    return " ".join(line.split())


def test_a_commit_elsewhere_puts_nothing_behind_and_gives_the_same_digest(remote: Remote) -> None:
    """> and the same digest when only another directory of the repository changed

    Also on the other builder, which has a clone and folders of its own.
    """
    commit = remote.shop.has("shed", PLAIN)
    with remote.running("smith"):
        first = built("shed")
    tip = remote.shop.repository.commit({"elsewhere/page": "newer"})
    assert tip != commit
    (source,) = acted("source", "check", "shed")["sources"]
    assert source["head"]["commit"] == commit
    assert entry("shed")["state"] == "current"
    with remote.running("mason") as mason:
        asked = remote.shop.ask("shed")
        third = built("--again", first["id"])
        second = remote.shop.ends(asked)
        assert mason.said("building shed") == 2
    assert len({build["id"] for build in (first, second, third)}) == 3
    assert digests(first) == digests(second) == digests(third)
    assert [build["built"]["commit"] for build in (first, second, third)] == [commit] * 3
    assert entry("shed")["from"]["artifact"] == digests(first)[0]
