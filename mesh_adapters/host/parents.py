"""The directories above a path that are not there: they come along with it, and go when they are empty."""

from __future__ import annotations

import posixpath

from mesh_adapters.host.kind import Brought, Failed
from mesh_adapters.host.machine import Machine
from mesh_core import Resource
from mesh_core.reconcile import Action


def missing_parents(action: Action, resource: Resource, machine: Machine) -> Brought | Failed:
    """What has to be made before something can be put at the resource's path, the topmost first."""
    if action.target is None:
        return Brought()
    missing: list[Resource] = []
    parent = posixpath.dirname(str(resource.path))
    try:
        while parent != "/" and not machine.files.is_there(parent):
            missing.append(Resource(kind="directory", path=parent))
            parent = posixpath.dirname(parent)
    except OSError as error:
        return Failed(why=f"{parent}: {error.strerror or error}")
    return Brought(resources=tuple(reversed(missing)), made_first=True)
