"""What the story is played on: a folder, a broker of this process, hosts, a builder, a git repository.

Everything here is the real thing, as the programs have it. Only the machines are folders, and RabbitMQ is a
broker inside of this process.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.opening import open_broker, open_builder, open_host
from mesh_adapters.build.agent.kept import Kept
from mesh_adapters.build.agent.loop import Builder
from mesh_adapters.build.building import Means, build
from mesh_adapters.build.git import Repositories
from mesh_adapters.build.publishing import Access
from mesh_adapters.build.recipes import Workshop
from mesh_adapters.build.registry_text import LayoutRegistry
from mesh_adapters.build.sandbox import Missing
from mesh_adapters.build.sandbox_attend import Watch
from mesh_adapters.host.agent.loop import Agent
from mesh_adapters.host.knowledge import Knowledge
from mesh_adapters.host.registry import known_kinds
from mesh_adapters.store import SqliteStore
from mesh_cli.wiring import now
from mesh_core.model.build import Answer, Request
from mesh_core.model.node import Capability

BROKER = MemoryAddress(name="story")
NODES = ("nas", "pi", "vps")
BUILDER = "smith"
_MOST_SECONDS = 120.0


class Surprise(Exception):
    """Something is not as the story has it; the text is one sentence."""


class Stage:
    """A folder with all that the story needs. `machine` has a folder for each machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "mesh.db"
        self.machines = {node: folder / node for node in NODES}
        self.repository = folder / "homelab.git"
        self.registry = folder / "registry"
        for machine in self.machines.values():
            (machine / "etc").mkdir(parents=True)

    def git(self, *words: str) -> str:
        """What a git command says in the repository. Nothing of the person who looks on is used."""
        who = {f"GIT_{role}_{what}": said for role in ("AUTHOR", "COMMITTER") for what, said in _WHO.items()}
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(self.folder)}
        ran = subprocess.run(
            ["git", *words],
            cwd=self.repository,
            env={"PATH": os.environ["PATH"], **alone, **who},
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise Surprise(f"git {words[0]} ended with {ran.returncode}: {ran.stderr.strip()}")
        return ran.stdout.strip()

    def commit(self, line: str) -> str:
        """Commit all that is in the repository's folder; the commit, as far as it is shown."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", line)
        return self.git("rev-parse", "HEAD")[:7]

    def make_repository(self, what: Path) -> str:
        """A git repository with a copy of a folder in it; its commit."""
        if shutil.which("git") is None:
            raise Surprise("git is not installed, and the story needs it")
        shutil.copytree(what, self.repository)
        self.git("init", "--quiet", "--initial-branch=main")
        return self.commit("The homelab as it is")

    def let_builder_in(self) -> None:
        """What `mesh builder invite` and `mesh-builder join` do where the broker is RabbitMQ."""
        open_broker(BROKER).add_builders([BUILDER])
        store = SqliteStore.open(self.store)
        with store.writing() as session:
            session.add_builder(BUILDER, now())
        store.close()

    @contextmanager
    def hosts_at_work(self) -> Iterator[None]:
        """The hosts of all machines, each in a thread of its own."""
        stop = threading.Event()
        agents = [self._agent(node) for node in NODES]
        with _threads([partial(agent.run, stop) for agent in agents], stop):
            yield

    def _agent(self, node: str) -> Agent:
        return Agent(
            node=node,
            root=self.machines[node],
            connect=partial(open_host, BROKER, node),
            probe=lambda _machine: (Capability(name="demo"),),
        )

    @contextmanager
    def builder_at_work(self) -> Iterator[None]:
        """The builder's loop in a thread of its own; what it builds is built in another."""
        stop = threading.Event()
        with ThreadPoolExecutor(max_workers=1) as bench:
            builder = Builder(
                name=BUILDER,
                connect=partial(open_builder, BROKER, BUILDER),
                begin=lambda request: AtWork(bench, request, self),
                kept=Kept(self.folder / "answers"),
                say=lambda _line: None,
            )
            with _threads([lambda: builder.run(stop.is_set, time.sleep)], stop):
                yield

    def means(self) -> Means:
        """What the builder has: git and a registry, and nothing to run commands with."""
        return Means(
            builder=BUILDER,
            repositories=Repositories(self.folder / "clones-of-the-builder"),
            workshop=Workshop(sandbox=Missing(why="the story runs none")),
            registry=LayoutRegistry(path=str(self.registry)),
            access=Access(),
            kinds=Knowledge(known_kinds()),
            now=now,
        )


_WHO = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2026-12-01T08:00:00Z"}


class AtWork:
    """One build at work, as the builder's loop looks after it."""

    def __init__(self, bench: ThreadPoolExecutor, request: Request, stage: Stage) -> None:
        self._stopped = threading.Event()
        work = stage.folder / f"build-{request.id}"
        work.mkdir()
        watch = Watch(asked_to_stop=self._stopped.is_set)
        self._answer: Future[Answer] = bench.submit(build, request, stage.means(), work, watch)

    def answer(self, wait: float) -> Answer | None:
        """Its answer, once there is one."""
        with suppress(NotYet):
            return self._answer.result(wait)
        return None

    def stop(self) -> None:
        """Ask it to end."""
        self._stopped.set()


@contextmanager
def _threads(works: Sequence[Callable[[], None]], stop: threading.Event) -> Iterator[None]:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join(_MOST_SECONDS)


@contextmanager
def stage() -> Iterator[Stage]:
    """A new one, gone afterwards. The settings of whoever looks on are not used, and not touched."""
    with TemporaryDirectory(prefix="mesh-demo-") as place:
        for name in [name for name in os.environ if name.startswith("MESH_")]:
            del os.environ[name]
        folder = Path(place).resolve()
        os.environ |= {f"XDG_{what}_HOME": str(folder / what.lower()) for what in ("CACHE", "CONFIG", "DATA")}
        os.environ |= {"MESH_STORE": str(folder / "mesh.db"), "MESH_BROKER": str(BROKER)}
        broker = open_broker(BROKER)
        broker.add_nodes(NODES)
        try:
            yield Stage(folder)
        finally:
            broker.close()


@contextmanager
def standard_input(content: str | None) -> Iterator[None]:
    """Have the next command read this."""
    before = sys.stdin
    if content is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(content.encode()), encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin = before
