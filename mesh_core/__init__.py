"""meshwright's core: what every node of a mesh should be, as a pure function.

Only the public names are here. `resolve(mesh_from_data(json.load(file)))` is the whole of it.
"""

from mesh_core.analysis.dependency_graph import dependency_graph
from mesh_core.change import (
    Assign,
    Change,
    DropModule,
    DropNode,
    DropSource,
    NoSuchNode,
    PutModule,
    PutNode,
    Report,
    SetPin,
    SetSource,
    Unassign,
    Unpin,
    apply,
    apply_all,
)
from mesh_core.delivery import Delivery
from mesh_core.event import Event
from mesh_core.explain import explain
from mesh_core.faults import CatalogueError, InvalidValue
from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Claim, Module, Provision, Requirement, Scope
from mesh_core.model.node import Capability, Node, Pin, Verdict
from mesh_core.model.resolution import (
    Answer,
    Binding,
    Dependent,
    Plan,
    PlannedModule,
    Reason,
    Refusal,
    Resolution,
)
from mesh_core.model.resource import Resource
from mesh_core.model.source import Source
from mesh_core.problems import Offer, Problem
from mesh_core.resolve import resolve
from mesh_core.wire.data import (
    mesh_to_data,
    module_to_data,
    resolution_to_data,
)
from mesh_core.wire.document import mesh_from_data, module_from_data
from mesh_core.wire.faults import Fault, WireError

__all__ = [
    "Answer",
    "Assign",
    "Binding",
    "Capability",
    "Catalogue",
    "CatalogueError",
    "Change",
    "Claim",
    "Delivery",
    "Dependent",
    "DropModule",
    "DropNode",
    "DropSource",
    "Event",
    "Fault",
    "InvalidValue",
    "Mesh",
    "Module",
    "NoSuchNode",
    "Node",
    "Offer",
    "Pin",
    "Plan",
    "PlannedModule",
    "Problem",
    "Provision",
    "PutModule",
    "PutNode",
    "Reason",
    "Refusal",
    "Report",
    "Requirement",
    "Resolution",
    "Resource",
    "Scope",
    "SetPin",
    "SetSource",
    "Source",
    "Unassign",
    "Unpin",
    "Verdict",
    "WireError",
    "apply",
    "apply_all",
    "dependency_graph",
    "explain",
    "mesh_from_data",
    "mesh_to_data",
    "module_from_data",
    "module_to_data",
    "resolution_to_data",
    "resolve",
]
