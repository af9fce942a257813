"""hypothesis strategies for meshes, small ones in which much happens; names only are given here."""

from mesh_core.testing.strategies.of_changes import changed_meshes, changes, vocabulary_of
from mesh_core.testing.strategies.of_documents import (
    documents,
    documents_of,
    meshes_and_documents,
)
from mesh_core.testing.strategies.of_meshes import meshes, nodes, pins, reports
from mesh_core.testing.strategies.of_modules import (
    Trouble,
    catalogues,
    modules,
    resources,
)
from mesh_core.testing.strategies.of_names import (
    Vocabulary,
    capability_names,
    claim_names,
    module_names,
    node_names,
    provision_names,
    versions,
    vocabularies,
)

__all__ = [
    "Trouble",
    "Vocabulary",
    "capability_names",
    "catalogues",
    "changed_meshes",
    "changes",
    "claim_names",
    "documents",
    "documents_of",
    "meshes",
    "meshes_and_documents",
    "module_names",
    "modules",
    "node_names",
    "nodes",
    "pins",
    "provision_names",
    "reports",
    "resources",
    "versions",
    "vocabularies",
    "vocabulary_of",
]
