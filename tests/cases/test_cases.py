"""The cases: a mesh in, its resolution out, as the documents of design, parts 4 and 5.

Each file says what it shows. Its resolution was written from the text by hand. `facts`, where there
are some, are what is public of every node, refused ones too: `bindings` are module, name, provider.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from mesh_core import mesh_from_data, resolution_to_data, resolve
from mesh_core.problems import CODES
from mesh_core.testing import document_facts, resolve_literally
from tests.property.kinds import KINDS, kinds
from tests.property.test_oracle_small import public

CASES = {path.stem: json.loads(path.read_text("utf-8")) for path in Path(__file__).parent.glob("*.json")}
EACH = pytest.mark.parametrize("case", CASES.values(), ids=CASES)


def spelled(data: Any) -> str:
    """Data as text: 1 and true are equal in Python, and not in a document."""
    return json.dumps(data, sort_keys=True)


@EACH
def test_the_resolver_answers_as_written(case: dict[str, Any]) -> None:
    found = resolution_to_data(resolve(mesh_from_data(case["mesh"])))
    assert found == case["resolution"]
    assert spelled(found) == spelled(case["resolution"])
    assert [*found["nodes"]] == sorted(found["nodes"])


@EACH
def test_the_oracle_answers_as_written(case: dict[str, Any]) -> None:
    assert spelled(resolve_literally(case["mesh"])) == spelled(case["resolution"])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if "facts" in case])
def test_the_public_facts_are_as_written(name: str) -> None:
    case = CASES[name]
    assert document_facts(case["mesh"]) == case["facts"]
    outcomes = resolve(mesh_from_data(case["mesh"])).outcomes
    assert {outcome.node: public(outcome) for outcome in outcomes} == case["facts"]


def test_there_is_a_case_for_every_kind_of_problem_and_plan() -> None:
    shown: set[str] = set()
    codes: set[str] = set()
    for case in CASES.values():
        mesh = mesh_from_data(case["mesh"])
        resolution = resolve(mesh)
        shown |= kinds(mesh, resolution)
        codes |= {problem.code for refusal in resolution.refusals for problem in refusal.problems}
        assert case["says"]
        assert {*case} <= {"says", "mesh", "resolution", "facts"}
    assert shown == KINDS
    assert codes == {*CODES}
