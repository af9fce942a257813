"""What the tests of what was sent and heard share: values with something in everything, and short ones."""

from mesh_adapters.store import SqliteStore
from mesh_core import Capability
from mesh_core.model.said import Doing, Report
from mesh_core.model.sent import Answered, Held, Offered, Sent

FULL = Sent(
    node="nas",
    generation=4,
    fingerprint="f4",
    modules=["web", "postgres"],
    resources=["path:/etc/motd", "package:zsh"],
    manifests={"web": "4f5c", "postgres": "3567"},
    claims=[Held(claim="scheduler", module="postgres")],
    offers=[Offered(provision="database", module="postgres", exports={"port": "5432", "å": ""})],
    answers=[Answered(provision="mail", node="vps", module="postfix")],
    allow_removals=True,
    empty=True,
    at="t4",
)
SAID = Report(
    node="nas",
    machine="6f3c",
    generation=4,
    applied=4,
    doing=Doing.FAILED,
    modules=["web", "ghost"],
    capabilities=[Capability(name="gpu", present=False, detail="no device")],
    why=["service web: it ended", "b"],
    left_out=3,
    refused=7,
    healthy=False,
)


def small(generation: int, node: str = "nas", *modules: str) -> Sent:
    return Sent(node=node, generation=generation, fingerprint=f"f{generation}", modules=modules)


def send(store: SqliteStore, *sents: Sent) -> None:
    """Each with its node and generation for a body."""
    with store.writing() as session:
        for sent in sents:
            session.send(sent, f"{sent.node} {sent.generation}".encode())


def applied(generation: int, doing: Doing = Doing.APPLIED, node: str = "nas") -> Report:
    return Report(node=node, machine="6f3c", generation=generation, applied=generation, doing=doing)


def hear(store: SqliteStore, report: Report, at: str = "t") -> None:
    with store.writing() as session:
        session.hear(report, at)


def kept(store: SqliteStore, node: str = "nas") -> list[int]:
    return [sent.generation for sent in store.standings()[node].sent]
