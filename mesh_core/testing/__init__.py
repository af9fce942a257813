"""What a resolver is tested with: strategies for meshes, the laws, and a slow literal oracle.

It needs hypothesis (`pip install meshwright[testing]`). For a resolver of one's own, a function from
a `Mesh` to a `Resolution`:

    from mesh_core.testing import check_all

    def test_resolver() -> None:
        check_all(resolve)
"""

from mesh_core.testing.laws import (
    LAWS,
    Law,
    Resolver,
    check_all,
    check_determinism,
    check_harmless_pin,
    check_isolation,
    check_locality,
    check_minimality,
    check_monotone_capabilities,
    check_no_silent_choice,
    check_order,
    check_soundness,
    check_verdicts_do_not_choose,
)
from mesh_core.testing.oracle import document_facts, resolve_literally
from mesh_core.testing.strategies import (
    Trouble,
    Vocabulary,
    catalogues,
    changed_meshes,
    changes,
    documents,
    documents_of,
    meshes,
    meshes_and_documents,
    modules,
    nodes,
    vocabularies,
    vocabulary_of,
)

__all__ = [
    "LAWS",
    "Law",
    "Resolver",
    "Trouble",
    "Vocabulary",
    "catalogues",
    "changed_meshes",
    "changes",
    "check_all",
    "check_determinism",
    "check_harmless_pin",
    "check_isolation",
    "check_locality",
    "check_minimality",
    "check_monotone_capabilities",
    "check_no_silent_choice",
    "check_order",
    "check_soundness",
    "check_verdicts_do_not_choose",
    "document_facts",
    "documents",
    "documents_of",
    "meshes",
    "meshes_and_documents",
    "modules",
    "nodes",
    "resolve_literally",
    "vocabularies",
    "vocabulary_of",
]
