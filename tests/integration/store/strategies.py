"""Small meshes, and what is said of them, whose names meet often."""

from typing import Any

from hypothesis import strategies as st

from mesh_core import (
    Assign,
    Capability,
    Catalogue,
    CatalogueError,
    Change,
    Claim,
    DropModule,
    DropNode,
    Module,
    Node,
    Pin,
    Provision,
    PutModule,
    PutNode,
    Report,
    Requirement,
    Resource,
    Scope,
    SetPin,
    Unassign,
    Unpin,
)
from mesh_core.change import Attach, DropSource, SetNetwork, SetSource
from mesh_core.model.build import Artifact, Built, Failed, Request, Shut, Step, Taken
from mesh_core.model.build import Said as FromBuilder
from mesh_core.model.network import UNATTACHED, Attachment, Endpoint, Network, Peers
from mesh_core.model.origin import HANDED, FromBuild, Origin, Shipped
from mesh_core.model.said import Doing
from mesh_core.model.said import Report as Said
from mesh_core.model.sent import Answered, Held, Offered, Sent
from mesh_core.model.source import (
    Commit,
    CommitGone,
    Looked,
    Newest,
    PathGone,
    RefGone,
    RefUnclear,
    RepositoryAway,
    Source,
)
from mesh_core.testing.strategies.of_networks import KEYS

# Few names, so that they meet. Of nodes and modules some are never there.

NODES = st.sampled_from(["n0", "n1", "n2"])
MODULES = st.sampled_from(["a", "b", "c"])
PROVISIONS = st.sampled_from(["p", "q"])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=3,
)


def named(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(names, unique=True, max_size=3)


def keyed(values: st.SearchStrategy[Any], key: str) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, unique_by=lambda value: getattr(value, key), max_size=2)


CAPABILITIES = keyed(
    st.builds(Capability, name=PROVISIONS, present=st.booleans(), detail=st.none() | TEXT), "name"
)
PINS = st.builds(Pin, provision=PROVISIONS, node=NODES, module=st.none() | MODULES)
MANIFESTS = st.builds(
    Module,
    name=MODULES,
    version=st.sampled_from(["1", "2"]),
    # Provided in one scope by most, and never what the same module requires: most stand side by side.
    provides=keyed(
        st.builds(
            Provision,
            name=st.just("p"),
            scope=st.sampled_from([Scope.NODE, Scope.NODE, Scope.NODE, Scope.MESH]),
            exports=st.dictionaries(TEXT, TEXT, max_size=2),
        ),
        "name",
    ),
    requires=keyed(
        st.builds(Requirement, name=st.sampled_from(["q", "q", "p"]), every=st.booleans()), "name"
    ),
    claims=keyed(st.builds(Claim, name=st.just("port:1"), scope=st.just(Scope.NODE)), "name"),
    capabilities=named(PROVISIONS),
    resources=keyed(
        st.builds(
            Resource,
            kind=st.just("package"),
            name=st.sampled_from(["x", "y"]),
            attributes_json=st.dictionaries(st.sampled_from(["k", "å"]), PLAIN, max_size=2),
        ),
        "identity",
    ),
)
# Few addresses, of which only some can be those of machines in a range; and without one any will do.
RANGES = st.sampled_from(["10.77.0.0/29", "10.77.0.0/30", "fd77::/126"])
ADDRESSES = st.sampled_from(
    ["10.77.0.1", "10.77.0.2", "10.77.0.1", "10.77.0.2", "10.77.0.5", "10.77.0.3", "fd77::1", "10.99.0.1"]
)
NETWORKS = st.builds(
    Network,
    range=RANGES,
    peers=st.sampled_from(Peers),
    port=st.sampled_from([51820, 1, 65535]),
    retired=st.lists(ADDRESSES, max_size=3),
)
ENDPOINTS = st.builds(
    Endpoint,
    at=st.sampled_from(["vps.example.org:51820", "[fd00::5]:1"]),
    site=st.sampled_from([None, "home", "office"]),
)
ATTACHMENTS = st.builds(
    Attachment,
    address=st.none() | ADDRESSES,
    key=st.sampled_from([None, *KEYS]),
    endpoints=st.lists(ENDPOINTS, max_size=3),
    site=st.sampled_from([None, "home"]),
    relay=st.booleans(),
)
ENTRIES = st.builds(
    Node,
    name=NODES,
    assigned=named(MODULES),
    capabilities=st.none() | CAPABILITIES,
    pins=keyed(PINS, "provision"),
    network=st.just(UNATTACHED) | ATTACHMENTS,
)
SOURCES = st.builds(
    Source,
    repository=st.sampled_from(["/srv/git/a", "https://git.example/a.git"]),
    paths=st.sampled_from([(".",), ("a", "b"), ("b", "a")]),
    ref=st.sampled_from(["HEAD", "v1"]),
)
COMMITS = st.builds(Commit, id=st.sampled_from(["a" * 40, "b" * 40]), at=TEXT)
LOOKS: st.SearchStrategy[Looked] = st.one_of(
    st.builds(Newest, commit=COMMITS),
    st.builds(RepositoryAway, why=TEXT),
    st.builds(RefGone, ref=TEXT),
    st.builds(RefUnclear, ref=TEXT),
    st.builds(PathGone, path=TEXT),
    st.builds(CommitGone, commit=TEXT),
)
IDS = st.sampled_from(["0000000a", "0000000b", "0000000c", "0000000d"])
DIGESTS = st.sampled_from([f"sha256:{digit * 64}" for digit in "01"])
ARTIFACTS = st.builds(Artifact, content=DIGESTS, artifact=DIGESTS, place=TEXT)
ORIGINS: st.SearchStrategy[Origin] = st.one_of(
    st.just(HANDED),
    st.builds(Shipped, version=TEXT),
    st.builds(
        FromBuild, build=IDS, builder=NODES, commit=COMMITS, artifact=ARTIFACTS, shut=st.sampled_from(Shut)
    ),
)
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(Assign, node=NODES, module=MODULES | st.just("No Name")),
    st.builds(Unassign, node=NODES, module=MODULES),
    st.builds(SetPin, node=NODES, pin=PINS),
    st.builds(Unpin, node=NODES, provision=PROVISIONS),
    st.builds(PutModule, module=MANIFESTS, origin=ORIGINS),
    st.builds(DropModule, module=MODULES),
    st.builds(SetSource, module=MODULES | st.just("No Name"), source=SOURCES),
    st.builds(DropSource, module=MODULES),
    st.builds(PutNode, node=ENTRIES),
    st.builds(Attach, node=NODES, network=ATTACHMENTS),
    st.builds(SetNetwork, network=st.none() | NETWORKS),
    st.builds(DropNode, node=NODES),
    st.builds(Report, node=NODES, capabilities=CAPABILITIES),
    st.just(Report(node="n0", capabilities=(Capability(name="p"), Capability(name="p")))),
)

GENERATIONS = st.integers(0, 6)
# The modules of both are also such as the catalogue does not have.
SENT = st.builds(
    Sent,
    node=NODES,
    generation=GENERATIONS,
    fingerprint=TEXT,
    modules=named(MODULES),
    resources=named(TEXT),
    manifests=st.dictionaries(MODULES, TEXT, max_size=2),
    claims=st.lists(st.builds(Held, claim=TEXT, module=MODULES), max_size=2),
    offers=st.lists(
        st.builds(Offered, provision=TEXT, module=MODULES, exports=st.dictionaries(TEXT, TEXT, max_size=2)),
        max_size=2,
    ),
    answers=st.lists(st.builds(Answered, provision=TEXT, node=NODES, module=MODULES), max_size=2),
    allow_removals=st.booleans(),
    empty=st.booleans(),
    at=TEXT,
)


REQUESTS = st.builds(
    Request,
    id=IDS,
    module=MODULES,
    repository=st.just("/srv/git/a"),
    commit=st.sampled_from(["a" * 40, "b" * 40]),
    ref=st.just("HEAD"),
    paths=st.sampled_from([(".",), ("b", "a")]),
    verify=st.booleans(),
)
LOGS = st.lists(TEXT, max_size=2)


def _stands_alone(manifest: Module) -> bool:
    try:
        return bool(Catalogue(modules=(manifest,)).modules)
    except CatalogueError:
        return False


BUILT = st.builds(
    Built,
    request=IDS,
    builder=NODES,
    # Any other is refused where it is read: nobody can say it.
    manifest=MANIFESTS.filter(_stands_alone),
    commit=COMMITS,
    artifact=ARTIFACTS,
    shut=st.sampled_from(Shut),
    same=st.none() | st.booleans(),
    log=LOGS,
)
FROM_BUILDERS: st.SearchStrategy[FromBuilder] = st.one_of(
    st.builds(Taken, request=IDS, builder=NODES),
    BUILT,
    st.builds(Failed, request=IDS, builder=st.none() | NODES, step=st.sampled_from(Step), why=TEXT, log=LOGS),
)


def _said(taken: int | None, finished: bool, **rest: Any) -> Said:
    return Said(generation=taken, applied=taken if finished else None, **rest)


SAID = st.builds(
    _said,
    taken=st.none() | GENERATIONS,
    finished=st.booleans(),
    node=NODES,
    machine=TEXT,
    doing=st.sampled_from(Doing),
    modules=named(MODULES),
    capabilities=CAPABILITIES,
    why=st.lists(TEXT, max_size=2),
    left_out=GENERATIONS,
    refused=st.none() | GENERATIONS,
    healthy=st.none() | st.booleans(),
)
