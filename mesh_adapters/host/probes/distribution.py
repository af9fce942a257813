"""`distribution:debian`, with the version as its detail, from os-release."""

from __future__ import annotations

from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import text
from mesh_core.model.node import Capability


class Distribution:
    """The probe `distribution`."""

    reports: tuple[str, ...] = ("distribution",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """One capability; where nothing says which, `distribution` is absent."""
        release = text(machine.root / "etc/os-release") or text(machine.root / "usr/lib/os-release")
        said = _said(release or "")
        if "ID" not in said:
            why = "there is no os-release" if release is None else "os-release has no ID"
            yield Capability(name="distribution", present=False, detail=why)
            return
        yield Capability(name=f"distribution:{said['ID']}", detail=said.get("VERSION_ID"))


def _said(release: str) -> dict[str, str]:
    import shlex

    pairs = [line.partition("=") for line in release.splitlines() if "=" in line and line[:1] != "#"]
    return {name.strip(): "".join(shlex.split(value)[:1]) for name, _, value in pairs}
