"""What both transports say alike: what is too large, what is set aside, which words an outage has."""

from __future__ import annotations

from collections.abc import Mapping

from mesh_core.ports import (
    ANSWER_LIMIT,
    DECLARATION_LIMIT,
    REPORT_LIMIT,
    REQUEST_LIMIT,
    Kind,
    SetAside,
    Strange,
    TooLarge,
)

COPIES = frozenset({"CC", "BCC"})
"""Headers with which a message asks a broker to send it elsewhere too."""

_LIMITS = {
    Kind.DECLARATION: DECLARATION_LIMIT,
    Kind.REPORT: REPORT_LIMIT,
    Kind.HELLO: REPORT_LIMIT,
    Kind.REQUEST: REQUEST_LIMIT,
    Kind.GIVEN_UP: REQUEST_LIMIT,
    Kind.ANSWER: ANSWER_LIMIT,
}

CLOSED = "this end of the broker has been closed"


def limit_of(kind: Kind) -> int:
    """The most bytes that a body of this kind may have."""
    return _LIMITS[kind]


def too_large(kind: Kind, body: bytes) -> TooLarge | None:
    """What a sender is told of a body over its limit."""
    limit = limit_of(kind)
    return TooLarge(size=len(body), limit=limit) if len(body) > limit else None


def content_of(kind: Kind, body: bytes, headers: Mapping[str, object], account: str) -> bytes | SetAside:
    """The body as it may be handed on, or why it may not."""
    if len(body) > limit_of(kind):
        return SetAside(why=Strange.TOO_LARGE, size=len(body))
    if COPIES & headers.keys():
        return SetAside(why=Strange.COPIED, size=len(body))
    if not account:
        return SetAside(why=Strange.UNSIGNED, size=len(body))
    return body
