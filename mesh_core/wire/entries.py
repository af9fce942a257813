"""The documents of design, part 4, as they are written: one class for each object, one field for each key.

An entry tells a key that is missing from one that is empty, which the values of `model` do not. The types
say the grammar; `wire.shape` checks it. Nothing here leaves `wire`, but for `NodeEntry`.
"""

from __future__ import annotations

from typing import Any, NewType

from attrs import field, frozen

from mesh_core.model.build import Shut, Step
from mesh_core.model.check import Check
from mesh_core.model.module import Scope
from mesh_core.model.network import PORT, Peers
from mesh_core.model.node import Capability, Pin
from mesh_core.model.recipe import Recipe
from mesh_core.model.resource import Resource
from mesh_core.model.said import Doing

NodeName = NewType("NodeName", str)
ModuleName = NewType("ModuleName", str)
ProvisionName = NewType("ProvisionName", str)
ClaimName = NewType("ClaimName", str)
CapabilityName = NewType("CapabilityName", str)
Version = NewType("Version", str)
From = NewType("From", str)
Exports = NewType("Exports", dict[str, Any])
Report = NewType("Report", tuple[Capability, ...])
Pins = NewType("Pins", tuple[Pin, ...])
Format = NewType("Format", int)
Count = NewType("Count", int)
NodeNetwork = NewType("NodeNetwork", object)
DeclaredAnswers = NewType("DeclaredAnswers", dict[str, Any])
Repository = NewType("Repository", str)
SourcePath = NewType("SourcePath", str)
SourcePaths = NewType("SourcePaths", tuple[SourcePath, ...])
Ref = NewType("Ref", str)
CommitId = NewType("CommitId", str)
Digest = NewType("Digest", str)
RequestId = NewType("RequestId", str)
Sources = NewType("Sources", dict[str, Any])
Instant = NewType("Instant", str)
Lines = NewType("Lines", tuple[str, ...])
NetworkAddress = NewType("NetworkAddress", str)
NetworkRange = NewType("NetworkRange", str)
NetworkKey = NewType("NetworkKey", str)
HostAndPort = NewType("HostAndPort", str)
Site = NewType("Site", str)
Port = NewType("Port", int)
Names = NewType("Names", dict[str, str])


@frozen(kw_only=True)
class ProvisionEntry:
    """`{"name": "database", "scope": "mesh", "exports": {"port": "5432"}}`, or `"shell"`."""

    name: ProvisionName
    scope: Scope = Scope.NODE
    exports: Exports = field(factory=lambda: Exports({}))


@frozen(kw_only=True)
class RequirementEntry:
    """`{"name": "metrics", "from": "every"}`, or `"database"`."""

    name: ProvisionName
    from_: From = From("one")


@frozen(kw_only=True)
class ClaimEntry:
    """`{"name": "scheduler", "scope": "mesh"}`, or `"port:443"`."""

    name: ClaimName
    scope: Scope = Scope.NODE


@frozen(kw_only=True)
class VerdictEntry:
    """`{"present": false, "detail": "no device"}`, or `true`."""

    present: bool
    detail: str | None = None


@frozen(kw_only=True)
class ModuleEntry:
    """A module manifest."""

    name: ModuleName
    version: Version
    requires: tuple[RequirementEntry, ...] = ()
    provides: tuple[ProvisionEntry, ...] = ()
    claims: tuple[ClaimEntry, ...] = ()
    capabilities: tuple[CapabilityName, ...] = ()
    resources: tuple[Resource, ...] = ()
    checks: tuple[Check, ...] = ()
    build: Recipe | None = None


@frozen(kw_only=True)
class SourceEntry:
    """`{"repository": "https://git.example/web", "paths": ["deploy"], "ref": "stable"}`, or its address."""

    repository: Repository
    paths: SourcePaths = SourcePaths((SourcePath("."),))
    ref: Ref = Ref("HEAD")


@frozen(kw_only=True)
class NetworkEntry:
    """`{"range": "10.77.0.0/24", "peers": "full", "port": 51821}`, or its range."""

    range: NetworkRange
    peers: Peers = Peers.TAKES
    port: Port = Port(PORT)
    retired: tuple[NetworkAddress, ...] = ()


@frozen(kw_only=True)
class EndpointEntry:
    """`{"at": "192.168.1.5:51820", "site": "home"}`, or `"vps.example.org:51820"`."""

    at: HostAndPort
    site: Site | None = None

    @property
    def identity(self) -> str:
        """What stands once in a list."""
        return self.at if self.site is None else f"{self.at} ({self.site})"


@frozen(kw_only=True)
class AttachmentEntry:
    """How a node is attached to the overlay."""

    address: NetworkAddress | None = None
    key: NetworkKey | None = None
    endpoints: tuple[EndpointEntry, ...] = ()
    site: Site | None = None
    relay: bool = False


@frozen(kw_only=True)
class NodeEntry:
    """A node; None stands for a key that the document does not have."""

    name: NodeName
    assign: tuple[ModuleName, ...] | None = None
    capabilities: Report | None = None
    pins: Pins | None = None
    network: AttachmentEntry | None = None


@frozen(kw_only=True)
class GivenEntry:
    """What answers a requirement, in a declaration."""

    node: NodeName
    module: ModuleName
    exports: Exports = field(factory=lambda: Exports({}))
    address: NetworkAddress | None = None

    @property
    def identity(self) -> str:
        """What stands once in a list."""
        return f"{self.node}/{self.module}"


@frozen(kw_only=True)
class DeclaredModuleEntry:
    """A module in a declaration. `answers` is from the provision to one `GivenEntry` or a tuple of them."""

    name: ModuleName
    version: Version
    resources: tuple[Resource, ...] = ()
    answers: DeclaredAnswers = field(factory=lambda: DeclaredAnswers({}))
    checks: tuple[Check, ...] = ()


@frozen(kw_only=True)
class PeerEntry:
    """A machine that a node talks to directly."""

    node: NodeName
    key: NetworkKey
    addresses: tuple[NetworkAddress, ...]
    endpoint: HostAndPort | None = None
    keepalive: Count = Count(0)

    @property
    def identity(self) -> str:
        """What stands once in a list."""
        return self.node


@frozen(kw_only=True)
class DeclaredNetworkEntry:
    """The overlay as one node is told of it."""

    address: NetworkAddress
    range: NetworkRange
    port: Port = Port(PORT)
    relay: bool = False
    peers: tuple[PeerEntry, ...] = ()
    names: Names = field(factory=lambda: Names({}))


@frozen(kw_only=True)
class DeclarationEntry:
    """A declaration document."""

    format: Format
    node: NodeName
    generation: Count
    network: NodeNetwork
    modules: tuple[DeclaredModuleEntry, ...]
    items: Count
    digest: str
    allow_removals: bool = False
    empty: bool = False


@frozen(kw_only=True)
class HelloEntry:
    """What a host says when it starts."""

    format: Format
    node: NodeName
    machine: str
    generation: Count | None = None
    key: NetworkKey | None = None
    at: str | None = None


@frozen(kw_only=True)
class ReportEntry:
    """How it stands with a machine, in its own words."""

    format: Format
    node: NodeName
    machine: str
    generation: Count | None = None
    applied: Count | None = None
    doing: Doing
    modules: tuple[ModuleName, ...] = ()
    capabilities: Report = Report(())
    why: tuple[str, ...] = ()
    left_out: Count = Count(0)
    refused: Count | None = None
    healthy: bool | None = None
    failed: tuple[ModuleName, ...] = ()
    key: NetworkKey | None = None
    at: str | None = None


@frozen(kw_only=True)
class FilesEntry:
    """`"files"`, or `{"kind": "files"}`: the module's folder as it is."""

    kind: str = "files"


@frozen(kw_only=True)
class ShellEntry:
    """`{"kind": "shell", "commands": ["make"], "output": "dist"}`."""

    kind: str
    commands: Lines
    output: SourcePath = SourcePath("dist")
    network: bool = False
    seconds: Count | None = None


@frozen(kw_only=True)
class ContainerEntry:
    """`{"kind": "container", "file": "Containerfile"}`."""

    kind: str
    file: SourcePath = SourcePath("Containerfile")
    network: bool = False
    seconds: Count | None = None


@frozen(kw_only=True)
class RequestEntry:
    """What a builder is asked for."""

    format: Format
    request: RequestId
    module: ModuleName
    repository: Repository
    ref: Ref
    paths: SourcePaths
    commit: CommitId
    verify: bool = False


@frozen(kw_only=True)
class TakenEntry:
    """A builder has begun."""

    format: Format
    request: RequestId
    builder: NodeName
    said: str


@frozen(kw_only=True)
class BuiltEntry:
    """A build came to its end."""

    format: Format
    request: RequestId
    builder: NodeName
    said: str
    module: ModuleEntry
    commit: CommitId
    committed_at: Instant
    content: Digest
    artifact: Digest
    place: str
    shut: Shut
    same: bool | None = None
    log: Lines = Lines(())


@frozen(kw_only=True)
class FailedEntry:
    """A build did not; without a builder the broker gave the request up."""

    format: Format
    request: RequestId
    builder: NodeName | None = None
    said: str
    step: Step
    why: str
    log: Lines = Lines(())
