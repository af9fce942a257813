"""The sentences of the design, word for word (part 6), each from a mesh in which it is so."""

from mesh_core import Mesh, explain, resolve
from tests.unit.analysis.builders import DATABASE, POSTGRES, WEB, mesh, module, node


def said(of: Mesh, name: str) -> str:
    resolution = resolve(of)
    (refusal,) = (refusal for refusal in resolution.refusals if refusal.node == name)
    return explain(refusal, of, resolution)


def test_no_node_runs_a_provider() -> None:
    postgres = module("postgres", DATABASE, capabilities=["systemd"])
    of = mesh([postgres, WEB], [node("nas", capabilities={"systemd": True}), node("pi", "web")])
    assert said(of, "pi") == (
        "refused: web on pi needs 'database' (scope mesh), and no node runs a provider\n"
        "  pi -> web (assigned) -> requires database\n"
        "  modules that provide it: postgres\n"
        "  fix: mesh assign nas postgres"
    )


def test_two_nodes_provide_it() -> None:
    of = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("vps", "postgres"), node("pi", "web")])
    assert said(of, "pi") == (
        "refused: web on pi needs 'database', and 2 nodes provide it: nas (postgres), vps (postgres)\n"
        "  the mesh does not choose where data lives\n"
        "  fix: mesh pin pi database nas     or: mesh pin pi database vps"
    )


def test_pinned_at_a_node_that_does_not_provide_it() -> None:
    """Unpinning would do as well, and is the third that is shown; where two problems share what is shown,
    this one has two.
    """
    sentence = (
        "refused: pi is pinned to take 'database' from vps, and vps does not provide it\n"
        "  nas provides it, and the mesh does not fall back\n"
        "  fix: mesh pin pi database nas     or: mesh assign vps postgres"
    )
    nodes = [node("nas", "postgres"), node("vps")]
    alone = mesh([POSTGRES, WEB], [*nodes, node("pi", "web", pins={"database": "vps"})])
    assert said(alone, "pi") == f"{sentence}     or: mesh unpin pi database"
    beside = mesh([POSTGRES, WEB], [*nodes, node("pi", "web", "zzz", pins={"database": "vps"})])
    assert said(beside, "pi").startswith(f"{sentence}\nrefused: 'zzz'")


def test_a_node_that_never_reported() -> None:
    """Others take from ml, so that taking it away mends nothing: there is no fix to show."""
    ml = module("ml", {"name": "models", "scope": "mesh"}, capabilities=["gpu"])
    of = mesh([ml, module("chat", requires=["models"])], [node("attic", "ml"), node("pi", "chat")])
    assert said(of, "attic") == (
        "refused: ml on attic needs 'gpu'; attic has never reported "
        "(it counts as having nothing until it does)"
    )
