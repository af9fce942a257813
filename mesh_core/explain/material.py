"""A material fault in sentences, and as plain data."""

from __future__ import annotations

from typing import Any

from mesh_core.model.material import MaterialFault


def headline(fault: MaterialFault) -> str:
    """Whose resource cannot be made, where, and why."""
    return f"{fault.module} on {fault.node} cannot be made: {_shown(fault.resource)}: {fault.why}"


def below(fault: MaterialFault) -> tuple[str, ...]:
    """What would do: a build; or, where a template is wrong, a manifest that is mended by a person."""
    if fault.unbuilt:
        source = f"mesh source set {fault.module} REPOSITORY"
        return (f"fix: mesh build {fault.module}     (where it has no source: {source} first)",)
    return (
        "a template sees node.name, module.name, module.version, and answers.NAME of what it requires",
        f"fix: mend the manifest of {fault.module}, and add it again: mesh module add FILE",
    )


def material_to_data(fault: MaterialFault) -> dict[str, Any]:
    """A material fault as plain data."""
    return {"node": fault.node, "module": fault.module, "resource": fault.resource, "why": fault.why}


def _shown(identity: str) -> str:
    """`/etc/motd`, or `package zsh`."""
    kind, _, rest = identity.partition(":")
    return rest if kind == "path" else f"{kind} {rest}"
