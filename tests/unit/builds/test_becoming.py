"""What an answer makes of the catalogue.

> A built manifest that would leave a planned node refused, or move an answer, does not become current by
> itself
"""

from functools import partial

from attrs import evolve

from mesh_core import Mesh, Module, PutModule, Requirement, Resource, mesh_from_data
from mesh_core.analysis.proposal import Proposal, propose
from mesh_core.builds.becoming import Becomes, Holds, Overtaken, becoming, put, with_artifact
from mesh_core.model.build import Artifact, Build, Built, Request, Shut
from mesh_core.model.origin import FromBuild
from mesh_core.model.source import Commit

DIGEST = f"sha256:{'0' * 64}"
ARTIFACT = Artifact(content=f"sha256:{'1' * 64}", artifact=DIGEST, place="oci:/srv/registry")
COMMIT = Commit(id="a" * 40, at="2026-12-01T22:20:02Z")
REQUEST = Request(
    id="2" * 12, module="web", repository="https://git.example/web", commit=COMMIT.id, ref="HEAD"
)
WEB = Module(name="web", version="2")
MESH = mesh_from_data(
    {
        "format": 1,
        "modules": [{"name": "web", "version": "1"}],
        "nodes": [{"name": "pi", "assign": ["web"]}],
    }
)


def built(manifest: Module = WEB, number: int = 2) -> Build:
    answer = Built(
        request=REQUEST.id,
        builder="nas",
        manifest=manifest,
        commit=COMMIT,
        artifact=ARTIFACT,
        shut=Shut.BUBBLEWRAP,
    )
    return Build(number=number, request=REQUEST, asked_at="", asked_by="", answer=answer)


def judge(mesh: Mesh, change: PutModule) -> Proposal:
    return propose(mesh, [change])


JUDGE = partial(judge, MESH)


def origin(build: str) -> FromBuild:
    return FromBuild(build=build, builder="nas", commit=COMMIT, artifact=ARTIFACT, shut=Shut.BUBBLEWRAP)


def test_what_harms_nobody_is_current_from_now_on() -> None:
    found = becoming(built(), None, JUDGE)
    assert found == Becomes(change=PutModule(module=WEB, origin=origin(REQUEST.id)))


def test_what_would_leave_a_node_refused_waits_for_a_word() -> None:
    needy = evolve(WEB, requires=[Requirement(name="nothing-provides-it")])
    found = becoming(built(needy), None, JUDGE)
    assert isinstance(found, Holds)
    assert found.proposal is not None
    assert found.proposal.consequences.refused


def test_what_cannot_stand_in_the_catalogue_waits_too() -> None:
    """The catalogue cannot take it: so nobody's word does, until something else is mended."""
    disagreeing = {
        "format": 1,
        "modules": [{"name": "db", "version": "1", "provides": [{"name": "database", "scope": "mesh"}]}],
    }
    at_odds = mesh_from_data(
        {"format": 1, "modules": [{"name": "web", "version": "1", "provides": ["database"]}]}
    )
    manifest = at_odds.catalogue.modules[0]
    found = becoming(built(manifest), None, partial(judge, mesh_from_data(disagreeing)))
    assert isinstance(found, Holds)
    assert found.faults


def test_an_older_build_does_not_take_the_place_of_a_newer() -> None:
    """> no clocks in any order: which of two was asked for later is known by their numbers"""
    other = evolve(REQUEST, id="3" * 12)
    newer, older = (evolve(built(number=number), request=other) for number in (3, 1))
    assert becoming(built(), newer, JUDGE) == Overtaken(by=other.id)
    assert isinstance(becoming(built(), older, JUDGE), Becomes)


def test_the_artifact_is_put_into_every_tree() -> None:
    """> The artifact's digest is put into the module's `tree` resources when the answer is recorded."""
    tree, file = Resource(kind="tree", path="/opt/web"), Resource(kind="file", path="/etc/web")
    other = Resource(kind="tree", path="/opt/other", attributes_json={"artifact": DIGEST, "from": "oci:/x"})
    answer = built(evolve(WEB, resources=[tree, file, other])).answer
    assert isinstance(answer, Built)
    filled = evolve(tree, attributes_json={"artifact": DIGEST, "from": "oci:/srv/registry"})
    assert put(answer, None).module.resources == (filled, file, other)
    assert with_artifact(put(answer, None).module, ARTIFACT) == put(answer, None).module
