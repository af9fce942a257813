"""Events that are refused: "then nothing of this event is recorded, and the session goes on"."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore
from mesh_core import (
    Assign,
    Capability,
    CatalogueError,
    Change,
    DropModule,
    DropNode,
    InvalidValue,
    Mesh,
    Module,
    Node,
    NoSuchNode,
    Provision,
    PutModule,
    PutNode,
    Report,
    Resource,
    Scope,
    Unassign,
    apply_all,
)
from mesh_core.ports import ModuleInUse
from tests.integration.store.helpers import POSTGRES, event, homelab, record


@pytest.mark.parametrize(
    ("change", "refusal"),
    [
        (Assign(node="gone", module="web"), NoSuchNode),
        (DropNode(node="gone"), NoSuchNode),
        (Assign(node="pi", module="No Name"), InvalidValue),
        (Report(node="pi", capabilities=(Capability(name="a"), Capability(name="a"))), InvalidValue),
        (
            PutModule(
                module=Module(
                    name="mysql",
                    version="8",
                    provides=[Provision(name="database", scope=Scope.NODE)],
                )
            ),
            CatalogueError,
        ),
        (DropModule(module="web"), ModuleInUse),
    ],
)
def test_a_refused_event_leaves_nothing_and_the_session_goes_on(
    path: Path, change: Change, refusal: type[Exception]
) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        before = store.mesh()
        later = Assign(node="pi", module="postgres")
        with store.writing() as session:
            with pytest.raises(refusal):
                session.record(event(Assign(node="vps", module="half-way"), change))
            assert session.mesh() == before
            session.record(event(later))
        assert store.mesh() == apply_all(before, [later])
        assert [entry.number for entry in store.history()] == [2, 1]


def test_a_refused_manifest_is_not_remembered_by_the_session(store: SqliteStore) -> None:
    """The session knows the catalogue between changes; what was taken back is not in it."""
    provides = [Provision(name="shell", scope=Scope.MESH)]
    odd = Module(name="zsh", version="1", provides=provides)
    plain = Module(name="bash", version="1", provides=[Provision(name="shell")])
    with store.writing() as session:
        with pytest.raises(NoSuchNode):
            session.record(event(PutModule(module=odd), DropNode(node="gone")))
        session.record(event(PutModule(module=plain)))
    assert list(store.mesh().catalogue) == [plain]


def test_a_module_that_was_forgotten_is_in_nobodys_way(store: SqliteStore) -> None:
    """Not in the same session either, and not in the same event."""
    shell = [Provision(name="shell", scope=Scope.MESH)]
    record(store, PutModule(module=Module(name="zsh", version="1", provides=shell)))
    bash = Module(name="bash", version="1", provides=[Provision(name="shell")])
    record(store, DropModule(module="zsh"), PutModule(module=bash))
    assert list(store.mesh().catalogue) == [bash]


def test_a_manifest_that_would_not_read_back_is_not_written(store: SqliteStore) -> None:
    """For it would be there for good, and the store unreadable. No value is known that gets so far."""
    deep: dict[str, object] = {}
    for _ in range(100):
        deep = {"deeper": deep}
    resource = Resource(kind="file", path="/etc/motd", attributes_json={})
    object.__setattr__(resource, "attributes_json", json.dumps(deep))
    with pytest.raises(ValueError, match="levels"):
        record(store, PutModule(module=Module(name="deep", version="1", resources=[resource])))
    assert store.mesh() == Mesh()
    assert store.manifests("deep") == ()


def test_a_module_in_use_is_not_forgotten_and_the_refusal_says_where(path: Path) -> None:
    """Design, part 2: assigned is what a person said; declared is what the machine was told."""
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        record(store, Assign(node="vps", module="postgres"))
        with pytest.raises(ModuleInUse) as caught:
            record(store, DropModule(module="postgres"))
        assert caught.value.module == "postgres"
        assert caught.value.assigned_to == ("nas", "vps")
        assert caught.value.declared_on == ("nas",)

        unassign = [Unassign(node=node, module="postgres") for node in ("nas", "vps")]
        with pytest.raises(ModuleInUse) as caught:
            record(store, *unassign, DropModule(module="postgres"))
        assert (caught.value.assigned_to, caught.value.declared_on) == ((), ("nas",))
        assert store.mesh().catalogue.get("postgres") == POSTGRES

        with store.writing() as session:
            session.declare("nas", [])
            session.record(event(*unassign, DropModule(module="postgres")))
        assert store.mesh().catalogue.get("postgres") is None


def test_forgetting_what_the_catalogue_does_not_have_changes_nothing(store: SqliteStore) -> None:
    record(store, PutNode(node=Node(name="pi", assigned=["ghost"])))
    before = store.mesh()
    record(store, DropModule(module="ghost"))
    assert store.mesh() == before
