"""What builders say, taken in (design, part 9): in one transaction with what it makes of the catalogue.

> An answer counts once, whoever was listening
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import field, frozen

from mesh_core.analysis.proposal import Proposal
from mesh_core.builds.becoming import Becomes, Becoming, Holds, becoming
from mesh_core.change import PutModule
from mesh_core.event import Event
from mesh_core.model.build import Build, Built, Failed, Said, Step
from mesh_core.model.mesh import Mesh
from mesh_core.model.origin import FromBuild
from mesh_core.ports import DELIVERIES, Delivery, Kind, Session, SetAside
from mesh_core.wire.builds import read_builder, read_request
from mesh_core.wire.faults import WireError

Judge: TypeAlias = Callable[[Mesh, PutModule], Proposal]
"""What a manifest would do to whom, material faults included. Raises `CatalogueError`."""

GIVEN_UP = f"{DELIVERIES} builders were lost with it, one after the other"


@frozen(kw_only=True)
class Heard:
    """What was heard of one build, and what it made of the catalogue, if it made anything."""

    build: Build
    said: Said
    becoming: Becoming | None = None


@frozen(kw_only=True)
class Uncounted:
    """What a builder said and does not count: the build is over, or not known."""

    said: Said


@frozen(kw_only=True)
class Unread:
    """A message that is nothing that a builder says; `builder` is whose it was, where that is known."""

    builder: str = field(default="")


def take_answer(session: Session, delivery: Delivery, at: str, judge: Judge) -> Heard | Uncounted | Unread:
    """Write down what one message says, and what comes of it.

    A manifest that would harm nobody is current from then on; another is held. Raises what the session
    raises.
    """
    said = _said(delivery)
    if said is None:
        return Unread(builder=delivery.node)
    said = _of_its_module(said, session.build(said.request))
    try:
        counts = session.builder_said(said, at)
    except ValueError:  # nor is one that no store can hold
        return Unread(builder=delivery.node)
    if not counts:
        return Uncounted(said=said)
    build = session.build(said.request)
    assert build is not None
    made = _make(session, build, said, at, judge) if isinstance(said, Built) else None
    return Heard(build=build, said=said, becoming=made)


def _said(delivery: Delivery) -> Said | None:
    """What a message says; None for what is none, or is said by another builder than it came from."""
    if isinstance(delivery.content, SetAside):
        return None
    try:
        if delivery.kind is Kind.GIVEN_UP:
            return _given_up(delivery.content)
        said = read_builder(delivery.content)
    except WireError:
        return None
    return said if said.builder == delivery.node else None


def _of_its_module(said: Said, build: Build | None) -> Said:
    """What is said; a manifest of another module than was asked for is a failure, whoever made it."""
    if not isinstance(said, Built) or build is None or said.manifest.name == build.request.module:
        return said
    why = f"the manifest is that of {said.manifest.name}, and {build.request.module} was asked for"
    return Failed(request=said.request, builder=said.builder, step=Step.MANIFEST, why=why, log=said.log)


def _given_up(content: bytes) -> Failed:
    request = read_request(content)
    return Failed(request=request.id, builder=None, step=Step.REQUEST, why=GIVEN_UP)


def _make(session: Session, build: Build, built: Built, at: str, judge: Judge) -> Becoming:
    mesh = session.mesh()
    made = becoming(build, _made_current(session, build), lambda change: judge(mesh, change))
    if isinstance(made, Becomes):
        command = f"(build {built.request} of {build.request.module})"
        session.record(Event(at=at, who=built.builder, command=command, changes=[made.change]))
    elif isinstance(made, Holds):
        session.hold(build.request.module, built.request)
    return made


def _made_current(session: Session, build: Build) -> Build | None:
    """The build that made what is current of its module, if one did."""
    current = session.put_of(build.request.module)
    made_by = current.origin if current is not None else None
    return session.build(made_by.build) if isinstance(made_by, FromBuild) else None
