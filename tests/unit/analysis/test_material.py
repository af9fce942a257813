"""Material faults beside a resolution (design, part 6).

> for everything after the resolution (exit codes, unsettled takes, push) that node counts as refused.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from mesh_core import Mesh, Module, Plan, PutModule, resolve
from mesh_core.analysis.material import Settled, may_be_immaterial, settle
from mesh_core.analysis.proposal import propose, with_material
from mesh_core.change import Assign, Change, Unassign
from mesh_core.model.declaration import Declaration
from mesh_core.model.material import MaterialFault
from tests.unit.analysis.builders import DATABASE, mesh, module, node

WEBSITE = {"name": "website", "scope": "mesh"}


def template(text: str) -> dict[str, Any]:
    return {"resources": [{"kind": "file", "path": "/t", "template": text}]}


POSTGRES = module("postgres", DATABASE)
WEB = module("web", WEBSITE, requires=["database"], **template("bad"))
CADDY = module("caddy", requires=[{"name": "website", "from": "every"}], **template("some"))


def may_have(one: Module) -> bool:
    return any("template" in resource.attributes for resource in one.resources)


class Looking:
    """A find that knows two templates: `bad` is a fault anywhere, `some` where a from-every has nobody."""

    def __init__(self) -> None:
        self.looked: list[str] = []

    def __call__(self, declaration: Declaration) -> Iterator[MaterialFault]:
        self.looked.append(declaration.node)
        for declared in declaration.modules:
            texts = [resource.attributes.get("template") for resource in declared.resources]
            nobody = any(answer.every and not answer.given for answer in declared.answers)
            if "bad" in texts or ("some" in texts and nobody):
                yield fault(declaration.node, declared.name)


def fault(on: str, of: str) -> MaterialFault:
    return MaterialFault(node=on, module=of, resource="path:/t", why="it names what is not there")


def settled(of: Mesh, looking: Looking | None = None) -> Settled:
    return settle(of, resolve(of), may_have=may_have, find=looking or Looking())


def unsettled(of: Settled, name: str) -> list[str]:
    plan = of.resolution.nodes[name]
    assert isinstance(plan, Plan)
    return [take.node for take in plan.unsettled]


def test_the_node_counts_as_refused_and_is_planned_all_the_same() -> None:
    of = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("pi", "web")])
    found = settled(of)
    assert found.faults == (fault("pi", "web"),)
    assert found.refused == {"pi"}
    assert found.resolution == resolve(of), "it is none of the node's problems"


def test_a_take_from_it_is_unsettled_as_one_from_a_refused_node_is() -> None:
    shop = module("shop", requires=["website"])
    nodes = [node("nas", "postgres"), node("pi", "web"), node("vps", "shop"), node("x", "shop", "gone")]
    found = settled(mesh([POSTGRES, WEB, shop], nodes))
    assert found.refused == {"pi", "x"}
    assert unsettled(found, "vps") == ["pi"]
    assert unsettled(found, "pi") == [], "a taker of a taker is not"


def test_whoever_loses_one_of_every_by_that_is_looked_at_again_without_it() -> None:
    nodes = [node("attic", "caddy"), node("nas", "postgres"), node("pi", "web")]
    looking = Looking()
    found = settled(mesh([POSTGRES, WEB, CADDY], nodes), looking)
    assert found.faults == (fault("pi", "web"), fault("attic", "caddy")), "the cause stands first"
    assert unsettled(found, "attic") == ["pi"]
    assert looking.looked == ["attic", "pi", "attic"]


def test_whoever_still_has_another_of_every_has_no_fault() -> None:
    nodes = [node("attic", "caddy"), node("b", "page"), node("nas", "postgres"), node("pi", "web")]
    found = settled(mesh([POSTGRES, WEB, CADDY, module("page", WEBSITE)], nodes))
    assert found.refused == {"pi"}
    assert unsettled(found, "attic") == ["pi"]


def test_a_take_from_one_that_is_unsettled_is_rendered_all_the_same() -> None:
    """> an unsettled take is rendered with the exports that the provider was last sent (part 11)"""
    shop = module("shop", requires=["website"], **template("good"))
    looking = Looking()
    found = settled(
        mesh([POSTGRES, WEB, shop], [node("nas", "postgres"), node("pi", "web"), node("vps", "shop")]),
        looking,
    )
    assert found.refused == {"pi"}
    assert looking.looked == ["pi", "vps"], "nothing of its declaration changed, so it is looked at once"


def test_only_nodes_with_a_template_are_looked_at() -> None:
    looking = Looking()
    of = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("pi", "web"), node("x", "web", "gone")])
    settled(of, looking)
    assert looking.looked == ["pi"], "nor those that are refused"
    without = mesh([POSTGRES], [node("nas", "postgres")])
    assert settle(without, resolve(without), may_have=may_have, find=looking).faults == ()
    assert looking.looked == ["pi"]


@pytest.mark.parametrize(
    ("attributes", "speaks"),
    [
        ({"template": "x"}, True),
        ({"content": "x"}, False),
        ({"content": "a template: x"}, False),
        ({}, False),
        ({"kind": "tree"}, True),
        ({"kind": "tree", "artifact": f"sha256:{'a' * 64}", "from": "oci:/srv"}, False),
    ],
)
def test_whether_anything_may_be_immaterial_at_all(attributes: dict[str, str], speaks: bool) -> None:
    resource = {"kind": "file", "path": "/t", **attributes}
    assert may_be_immaterial(mesh([module("a", resources=[resource])], [])) is speaks


def proposed(of: Mesh, *changes: Change) -> Any:
    proposal = propose(of, changes)
    return with_material(proposal, settled(of), settled(proposal.after))


def test_a_change_that_gives_a_node_a_fault_takes_a_persons_word() -> None:
    of = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("pi")])
    proposal = proposed(of, Assign(node="pi", module="web"))
    assert proposal.material == (fault("pi", "web"),)
    assert proposal.harmful
    assert not proposal.consequences.harmful


def test_a_fault_that_was_there_is_not_new_nor_is_one_of_a_node_that_was_refused() -> None:
    of = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("pi", "web"), node("x", "gone", "web")])
    proposal = proposed(of, Assign(node="nas", module="web"))
    assert [one.node for one in proposal.material] == ["nas"]
    mended = proposed(of, Unassign(node="x", module="gone"))
    assert mended.material == ()
    assert mended.consequences.mended == (), "another reason is no mending"


def test_what_no_longer_has_a_fault_is_mended() -> None:
    of = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("pi", "web")])
    good = mesh([POSTGRES, module("web", WEBSITE, requires=["database"])], []).catalogue.get("web")
    assert good is not None
    proposal = proposed(of, PutModule(module=good))
    assert proposal.consequences.mended == ("pi",)
    assert not proposal.harmful
