"""The resolution document (design, part 5)."""

import json

from mesh_core import Mesh, mesh_from_data, resolution_to_data, resolve
from mesh_core.wire.fingerprint import fingerprint
from tests.unit.wire.test_read import PART_4

PART_5 = """
{
  "format": 1,
  "nodes": {
    "attic": {
      "status": "refused",
      "problems": [{"capability": "gpu", "code": "missing-capability", "module": "ml", "verdict": "never-reported"}]
    },
    "nas": {
      "status": "planned",
      "modules": [{"name": "postgres", "version": "16.2", "reason": "assigned", "by": []}],
      "answers": [],
      "takes": [],
      "unsettled": []
    },
    "pi": {
      "status": "planned",
      "modules": [
        {"name": "zsh", "version": "5.9", "reason": "pulled-in", "by": [{"module": "web", "requires": "shell"}]},
        {"name": "web", "version": "1.4.0", "reason": "assigned", "by": []}
      ],
      "answers": [{"provision": "database", "every": false, "node": "nas", "module": "postgres", "required_by": ["web"]}],
      "takes": [{"provision": "database", "every": false, "node": "nas", "module": "postgres", "required_by": ["web"]}],
      "unsettled": []
    }
  }
}
"""  # noqa: E501 - verbatim


def test_the_example_of_the_design() -> None:
    document = json.loads(PART_4)
    document["modules"].append({"name": "ml", "version": "1", "capabilities": ["gpu"]})
    document["nodes"].insert(0, {"name": "attic", "assign": ["ml"]})
    assert resolution_to_data(resolve(mesh_from_data(document))) == json.loads(PART_5)


def test_nodes_are_sorted_and_nothing_is_left_out() -> None:
    document = {"format": 1, "nodes": [{"name": "b", "assign": ["zzz"]}, {"name": "a"}]}
    found = resolution_to_data(resolve(mesh_from_data(document)))
    assert [*found["nodes"]] == ["a", "b"]
    assert found["nodes"]["a"] == {
        "status": "planned",
        "modules": [],
        "answers": [],
        "takes": [],
        "unsettled": [],
    }
    assert resolution_to_data(resolve(Mesh())) == {"format": 1, "nodes": {}}


def test_a_node_that_answers_itself_and_one_that_is_unsettled() -> None:
    """> `answers` has one entry for each answering offer [...], also where the node itself runs the provider;
    > `takes` has those of them that live elsewhere [...]; `unsettled` has those takes whose node is refused
    """
    document = {
        "format": 1,
        "modules": [
            {
                "name": "db",
                "version": "1",
                "provides": [{"name": "database", "scope": "mesh"}],
                "capabilities": ["g"],
            },
            {"name": "web", "version": "1", "requires": ["database"]},
        ],
        "nodes": [{"name": "nas", "assign": ["db", "web"]}, {"name": "pi", "assign": ["web"]}],
    }
    take = {"provision": "database", "every": False, "node": "nas", "module": "db", "required_by": ["web"]}
    refused = resolution_to_data(resolve(mesh_from_data(document)))["nodes"]
    assert refused["nas"]["status"] == "refused"
    assert (refused["pi"]["answers"], refused["pi"]["takes"], refused["pi"]["unsettled"]) == ([take],) * 3
    document["nodes"][0]["capabilities"] = {"g": True}  # type: ignore[index]
    planned = resolution_to_data(resolve(mesh_from_data(document)))["nodes"]
    assert (planned["nas"]["answers"], planned["nas"]["takes"], planned["nas"]["unsettled"]) == (
        [take],
        [],
        [],
    )
    assert (planned["pi"]["answers"], planned["pi"]["takes"], planned["pi"]["unsettled"]) == (
        [take],
        [take],
        [],
    )


def test_a_fingerprint_is_that_of_canonical_json() -> None:
    digest = "43258cff783fe7036d8a43033f830adfc60ec037382473548ac742b888292777"
    assert fingerprint({"b": 1, "a": 2}) == fingerprint({"a": 2, "b": 1})
    assert fingerprint({"a": 1, "b": 2}) == digest
    assert len({fingerprint(value) for value in (1, 1.0, True, "1", [1])}) == 5
