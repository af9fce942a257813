"""What is no problem but likely a mistake.

> `lint` tells of pins that do nothing and of whatever else is no problem but likely a mistake.
> (design, part 3)
"""

from collections.abc import Iterator

from mesh_core import Fault, Mesh, Pin, Resource
from mesh_core.analysis.lint import (
    IdlePin,
    IdleReason,
    NobodyOffers,
    Unfit,
    UnknownKind,
    UnusedModule,
    lint,
)
from mesh_core.model.check import Check
from tests.unit.analysis.builders import DATABASE, POSTGRES, WEB, mesh, module, node

METRICS = {"name": "metrics", "scope": "mesh"}
GRAFANA = module("grafana", requires=[{"name": "metrics", "from": "every"}])
EXPORTER = module("exporter", METRICS)


def idle(why: IdleReason, provision: str = "database", name: str = "pi") -> IdlePin:
    return IdlePin(node=name, pin=Pin(provision=provision, node="nas"), why=why)


def test_nothing_to_tell() -> None:
    assert lint(Mesh()) == ()
    of = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("pi", "web", pins={"database": "nas"})])
    assert lint(of) == ()


def test_a_pin_that_does_something_wrong_is_a_problem_and_not_told_here() -> None:
    assert (
        lint(mesh([POSTGRES, WEB], [node("x", "postgres"), node("pi", "web", pins={"database": "nas"})]))
        == ()
    )


def test_a_pin_that_nothing_on_the_node_asks_for() -> None:
    of = mesh([POSTGRES], [node("nas", "postgres"), node("pi", pins={"database": "nas"})])
    assert lint(of) == (idle(IdleReason.NOT_REQUIRED),)


def test_a_pin_of_what_is_not_mesh_scoped() -> None:
    web = module("web", requires=["shell"])
    pins = {"shell": "nas", "nowhere": "nas"}
    of = mesh([module("zsh", "shell"), web], [node("pi", "web", pins=pins)])
    assert lint(of) == (
        idle(IdleReason.NOT_MESH_SCOPED, "nowhere"),
        idle(IdleReason.NOT_MESH_SCOPED, "shell"),
    )


def test_a_pin_of_what_is_only_asked_from_every() -> None:
    of = mesh([GRAFANA, EXPORTER], [node("nas", "exporter"), node("pi", "grafana", pins={"metrics": "nas"})])
    assert lint(of) == (idle(IdleReason.ONLY_FROM_EVERY, "metrics"),)
    both = mesh(
        [GRAFANA, EXPORTER, module("one", requires=["metrics"])],
        [node("nas", "exporter"), node("pi", "grafana", "one", pins={"metrics": "nas"})],
    )
    assert lint(both) == ()


def test_a_requirement_from_every_that_nobody_answers() -> None:
    of = mesh([GRAFANA, EXPORTER], [node("pi", "grafana")])
    assert lint(of) == (
        NobodyOffers(node="pi", provision="metrics", required_by=("grafana",)),
        UnusedModule(module="exporter"),
    )


def test_modules_that_nothing_uses() -> None:
    modules = [module("web", requires=["shell"]), module("zsh", "shell"), module("a"), module("c", DATABASE)]
    assert lint(mesh(modules, [node("pi", "web", "unknown")])) == (
        UnusedModule(module="a"),
        UnusedModule(module="c"),
    )
    assert [type(found) for found in lint(mesh(modules, []))] == [UnusedModule] * 4


def test_by_node_then_the_modules() -> None:
    nodes = [node("pi", "grafana", pins={"x": "nas"}), node("b", "grafana"), node("nas")]
    found = lint(mesh([GRAFANA, EXPORTER], nodes))
    assert [getattr(entry, "node", None) for entry in found] == ["b", "pi", "pi", None]


class Known:
    """One kind of resource and one of checks; both know nothing but `mode`."""

    def names(self) -> frozenset[str]:
        return frozenset({"file"})

    def check_names(self) -> frozenset[str]:
        return frozenset({"tcp"})

    def takes(self, kind: str, attribute: str) -> bool:
        return True

    def resource_faults(self, resource: Resource) -> Iterator[Fault]:
        if resource.kind in self.names() and "mdoe" in resource.attributes:
            yield Fault(path=".mdoe", found="unknown attribute", wanted="a file knows mode")

    def check_faults(self, check: Check) -> Iterator[Fault]:
        if check.kind in self.check_names() and "prot" in check.attributes:
            yield Fault(path=".prot", found="unknown attribute", wanted="a check tcp knows port")


def test_kinds_that_are_not_known_and_what_was_recorded_before_they_were() -> None:
    """> the control plane checks the attributes of the kinds that it knows and lints the others (part 4)"""
    odd = {"kind": "fiel", "path": "/a", "mdoe": ""}
    wrong = {"kind": "file", "path": "/b", "mdoe": ""}
    of = mesh(
        [
            module("a", resources=[odd, wrong], checks=[{"kind": "icmp"}, {"kind": "tcp", "prot": 1}]),
            module("b", resources=[{**odd, "path": "/c"}]),
        ],
        [node("pi", "a", "b")],
    )
    assert lint(of) == (), "who knows no kind says nothing of them"
    assert lint(of, Known()) == (
        Unfit(module="a", why="$.resources[1].mdoe: unknown attribute; a file knows mode"),
        Unfit(module="a", why="$.checks[1].prot: unknown attribute; a check tcp knows port"),
        UnknownKind(what="resource", kind="fiel", modules=("a", "b"), near="file"),
        UnknownKind(what="check", kind="icmp", modules=("a",)),
    )
