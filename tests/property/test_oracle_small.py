"""The resolver against the literal oracle, on small meshes in documents as people write them.

The oracle was written from the text of design, parts 3 to 5, alone; where the two differ one of them
reads it wrongly.
"""

from typing import Any

from hypothesis import given, settings

from mesh_core import Refusal, mesh_from_data, resolution_to_data, resolve
from mesh_core.canonical import canonical_json
from mesh_core.model.resolution import Outcome
from mesh_core.testing import document_facts, documents, resolve_literally

EXAMPLES = settings(max_examples=5 * settings().max_examples)


@EXAMPLES
@given(document=documents())
def test_the_resolution_is_what_the_oracle_says(document: dict[str, Any]) -> None:
    resolution = resolve(mesh_from_data(document))
    found, expected = resolution_to_data(resolution), resolve_literally(document)
    # As text: 1 and true are equal in Python, and the order of a list is part of the document.
    assert found == expected
    assert canonical_json(found) == canonical_json(expected)
    facts = document_facts(document)
    assert {outcome.node: public(outcome) for outcome in resolution.outcomes} == facts


def public(outcome: Outcome) -> dict[str, Any]:
    """What is public of a node, planned or refused, in the shape of the oracle's facts."""
    answers = [
        {
            "provision": answer.provision,
            "every": answer.every,
            "node": answer.node,
            "module": answer.module,
            "required_by": [*answer.required_by],
        }
        for answer in outcome.answers
    ]
    if isinstance(outcome, Refusal):
        assert [module.name for module in outcome.stuck] == sorted(outcome.members - {*outcome.order})
    return {
        "members": sorted(outcome.members),
        "order": [*outcome.order],
        "bindings": [[b.module, b.requires, b.provider] for b in outcome.bindings],
        "answers": answers,
    }
