"""How a node ended what it was sent, by its own report; and the fingerprint of a whole plan."""

from __future__ import annotations

from mesh_core.analysis.material import Settled
from mesh_core.explain.material import material_to_data
from mesh_core.model.mesh import Mesh
from mesh_core.model.said import Doing
from mesh_core.model.sent import Standing
from mesh_core.wire.data import module_to_data, resolution_to_data
from mesh_core.wire.fingerprint import fingerprint
from mesh_core.wire.network import attachment_to_data, network_to_data


def has_ended(standing: Standing, generation: int) -> bool:
    """Whether its host is done with that generation, or with a newer one, or has refused it."""
    report = standing.report
    if report is None:
        return False
    if report.doing is Doing.REFUSED:
        return (report.refused or 0) >= generation
    return report.doing is not Doing.APPLYING and (report.applied or 0) >= generation


def ended_well(standing: Standing, generation: int) -> bool:
    """Whether everything of it is as declared, and no check says otherwise."""
    report = standing.report
    if report is None or not has_ended(standing, generation):
        return False
    return report.doing in (Doing.APPLIED, Doing.DRIFTED) and report.healthy is not False


def plan_fingerprint(mesh: Mesh, found: Settled) -> str:
    """What tells whether a plan is still the one that was shown: what is on each node, and of what.

    Where there is a network, who is attached to it and how counts as well.
    """
    data = {
        "resolution": resolution_to_data(found.resolution),
        "material": [material_to_data(fault) for fault in found.faults],
        "modules": [module_to_data(module) for module in mesh.catalogue],
    }
    if mesh.network is not None:
        data["network"] = network_to_data(mesh.network)
        data["attached"] = {node.name: attachment_to_data(node.network) for node in mesh.nodes}
    return fingerprint(data)
