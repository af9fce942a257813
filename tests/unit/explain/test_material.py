"""Material faults and declarations in sentences."""

from mesh_core import Resource
from mesh_core.analysis.lint import Unfit, UnknownKind
from mesh_core.declare import declare
from mesh_core.explain.changes import immaterial
from mesh_core.explain.declaration import largest, summary
from mesh_core.explain.lint import lint_to_data, sentence
from mesh_core.explain.material import headline, material_to_data
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.model.material import MaterialFault
from mesh_core.model.resolution import Plan
from mesh_core.resolve import resolve
from tests.unit.analysis.builders import DATABASE, mesh, module, node

WHY = "the template: 'nmae' is undefined"


def fault(on: str, resource: str = "path:/etc/web") -> MaterialFault:
    return MaterialFault(node=on, module="web", resource=resource, why=WHY)


def test_a_fault_in_one_sentence_and_as_data() -> None:
    assert headline(fault("pi")) == f"web on pi cannot be made: /etc/web: {WHY}"
    assert headline(fault("pi", "container:web:1")).startswith("web on pi cannot be made: container web:1: ")
    assert material_to_data(fault("pi")) == {
        "node": "pi",
        "module": "web",
        "resource": "path:/etc/web",
        "why": WHY,
    }


def test_what_a_change_would_give_to_several_nodes_is_told_once() -> None:
    assert list(immaterial(())) == []
    assert list(immaterial((fault("a"), fault("a", "path:/b"), fault("b"), fault("c")))) == [
        "3 nodes would count as refused:",
        f"  web on a cannot be made: /etc/web: {WHY}",
        "    the same on b, c",
        f"  web on a cannot be made: /b: {WHY}",
    ]


def test_a_declaration_in_a_few_lines() -> None:
    motd = {"kind": "file", "path": "/etc/motd", "content": "x"}
    web = module(
        "web",
        requires=["database", "shell", {"name": "logs", "from": "every"}],
        resources=[motd],
        checks=[{"kind": "tcp", "port": 80}],
    )
    postgres = module("postgres", {**DATABASE, "exports": {"port": "5432", "tls": "yes"}})
    logs = module("logs", {"name": "logs", "scope": "mesh"}, capabilities=["x"])
    nodes = [node("pi", "web"), node("nas", "postgres"), node("attic", "logs")]
    of = mesh([web, postgres, module("zsh", "shell"), logs], nodes)
    plan = resolve(of).nodes["pi"]
    assert isinstance(plan, Plan)
    *lines, digest = summary(declare(plan, of, generation=3), plan)
    assert lines == [
        "pi, generation 3: 2 modules, 4 items",
        "  zsh 1",
        "  web 1",
        "      path:/etc/motd",
        "      database: nas (postgres) port=5432, tls=yes",
        "      logs from every: nobody",
        "      shell: pi (zsh)",
        "      checks: tcp",
        "logs from attic is unsettled, since that node is refused; it is left out",
    ]
    assert digest.startswith("digest ")


def test_one_with_nothing_in_it_says_what_that_takes() -> None:
    of = mesh([], [node("pi")])
    plan = resolve(of).nodes["pi"]
    assert isinstance(plan, Plan)
    without, allowed = (
        list(summary(declare(plan, of, generation=1, allow_removals=word), plan)) for word in (False, True)
    )
    assert without[1] == "there is nothing in it, and a host takes that only with --allow-removals"
    assert allowed[1] == "as much may go at once as has to"


def test_the_largest_parts_of_a_declaration() -> None:
    sizes = {"/a": 10, "/b": 1000, "/c": 500, "/d": 400}
    resources = [
        Resource(kind="file", path=p, attributes_json={"content": "x" * n}) for p, n in sizes.items()
    ]
    of = DeclaredModule(name="m", version="1", resources=resources)
    told = largest(Declaration(node="pi", generation=1, modules=[of]))
    assert [line.split(" of ")[0] for line in told] == ["path:/b", "path:/c", "path:/d"]
    assert told[0] == "path:/b of m: 1040 bytes"


def test_kinds_that_are_not_known_and_modules_that_cannot_be_so() -> None:
    unknown = UnknownKind(what="resource", kind="pakage", modules=("a", "b"), near="package")
    assert sentence(unknown) == (
        "no kind of resource 'pakage' is known here (a, b): its attributes are not checked,"
        " and a host may not know it either; did you mean 'package'?"
    )
    assert lint_to_data(unknown) == {
        "code": "unknown-kind",
        "what": "resource",
        "kind": "pakage",
        "near": "package",
        "modules": ["a", "b"],
    }
    assert sentence(UnknownKind(what="check", kind="x", modules=("a",))).endswith("may not know it either")
    unfit = Unfit(module="a", why="$.resources[0].mdoe: unknown attribute; no")
    assert sentence(unfit) == "a cannot be as it is said: $.resources[0].mdoe: unknown attribute; no"
    assert lint_to_data(unfit) == {"code": "unfit", "module": "a", "why": unfit.why}
