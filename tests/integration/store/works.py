"""What the tests of sources, puts and builds share: values with something in everything, and short ones."""

from attrs import evolve

from mesh_adapters.store import SqliteStore
from mesh_core import Module, Requirement, Resource
from mesh_core.change import SetSource
from mesh_core.model.build import Artifact, Build, Built, Failed, Request, Said, Shut, Step, Taken
from mesh_core.model.origin import FromBuild
from mesh_core.model.source import Commit, Newest, Source
from tests.integration.store.helpers import record

SOURCE = Source(
    repository="https://git.example/web.git", paths=("modules/web", "shared/å"), ref="refs/heads/main"
)
ELSEWHERE = evolve(SOURCE, ref="refs/tags/v2")
HEAD = Newest(commit=Commit(id="a0" * 20, at="2026-11-30T10:00:00Z"))
LATER = Newest(commit=Commit(id="b1" * 20, at="2026-11-29T10:00:00Z"))

REQUEST = Request(
    id="00c0ffee",
    module="web",
    repository=SOURCE.repository,
    commit=HEAD.commit.id,
    ref=SOURCE.ref,
    paths=SOURCE.paths,
    verify=True,
)
MANIFEST = Module(
    name="web",
    version="1.5.0",
    requires=[Requirement(name="database")],
    resources=[Resource(kind="file", path="/etc/motd", attributes_json={"content": "å\n", "mode": "0644"})],
)
ARTIFACT = Artifact(content="sha256:" + "c" * 64, artifact="sha256:" + "d" * 64, place="oci:/srv/registry")
BUILT = Built(
    request=REQUEST.id,
    builder="nas",
    manifest=MANIFEST,
    commit=HEAD.commit,
    artifact=ARTIFACT,
    shut=Shut.BUBBLEWRAP,
    same=False,
    log=["make", "", "make", "\0 å"],
)
FAILED = Failed(request=REQUEST.id, builder="pi", step=Step.COMMANDS, why="make: 2", log=["make", "make"])
GIVEN_UP = Failed(request=REQUEST.id, builder=None, step=Step.REQUEST, why="")
ORIGIN = FromBuild(
    build=REQUEST.id, builder="nas", commit=HEAD.commit, artifact=ARTIFACT, shut=Shut.BUBBLEWRAP
)


def numbered(number: int, module: str = "web") -> Request:
    """A request of an id of its own."""
    return evolve(REQUEST, id=f"{number:08x}", module=module)


def ask(store: SqliteStore, *requests: Request, at: str = "t", who: str = "ann") -> list[Build]:
    with store.writing() as session:
        return [session.ask(request, at, who) for request in requests]


def tell(store: SqliteStore, *said: Said, at: str = "t") -> list[bool]:
    """What builders say, each a message of its own in one session: which of it counts."""
    with store.writing() as session:
        return [session.builder_said(one, at) for one in said]


def workshop(store: SqliteStore) -> None:
    """Something in each table that a build goes through: one held, one open, one cancelled."""
    record(store, SetSource(module="web", source=SOURCE))
    ask(store, REQUEST, numbered(2), numbered(3))
    tell(store, Taken(request=REQUEST.id, builder="nas"), BUILT)
    with store.writing() as session:
        session.saw("web", SOURCE, HEAD, "t")
        session.asked([REQUEST.id, numbered(2).id], "t")
        session.cancel(numbered(3).id, "t")
        session.hold("web", REQUEST.id)
        session.add_builder("nas", "t")
