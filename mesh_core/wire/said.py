"""Hellos and reports <-> the bytes of a message (design, parts 8 and 11).

    {"format": 1, "node": "pi", "machine": "6f3c...", "generation": 43, "at": "2026-12-01T22:20:02Z"}
    {"format": 1, "node": "pi", "machine": "6f3c...", "generation": 43, "applied": 43, "doing": "failed",
     "modules": ["web"], "capabilities": {"systemd": true}, "why": ["service web: ..."],
     "at": "2026-12-01T22:20:02Z"}

`at` is when it was sent, by the machine's own clock. What there is none of is left out. A report is at most
256 KiB: over it lines of `why` are cut, and counted.
"""

from __future__ import annotations

from typing import Any

from attrs import evolve

from mesh_core.canonical import canonical_json
from mesh_core.faults import InvalidValue
from mesh_core.model.instant import is_instant
from mesh_core.model.said import Hello, Report
from mesh_core.wire.data import report_to_data as capabilities_to_data
from mesh_core.wire.entries import HelloEntry, ReportEntry
from mesh_core.wire.faults import Fault, WireError, shown
from mesh_core.wire.message import data_of, entry_of
from mesh_core.wire.text import REPORT_LIMIT

FORMAT = 1
_INSTANT = "wanted an instant in UTC, to the second: 2026-12-01T22:20:02Z"


def hello_to_bytes(hello: Hello) -> bytes:
    """A hello as it is sent."""
    data = {"format": FORMAT, "node": hello.node, "machine": hello.machine, "generation": hello.generation}
    return _bytes(data | {"key": hello.key, "at": hello.at})


def report_to_bytes(report: Report, limit: int = REPORT_LIMIT) -> bytes:
    """A report as it is sent, in at most `limit` bytes: what is too much is cut from the end of `why`."""
    whole = _bytes(report_to_data(report))
    while len(whole) > limit and report.why:
        kept = len(report.why) // 2
        cut = len(report.why) - kept
        report = evolve(report, why=report.why[:kept], left_out=report.left_out + cut)
        whole = _bytes(report_to_data(report))
    return whole


def report_to_data(report: Report) -> dict[str, Any]:
    """A report as plain data."""
    return {
        "format": FORMAT,
        "node": report.node,
        "machine": report.machine,
        "generation": report.generation,
        "applied": report.applied,
        "doing": report.doing.value,
        "modules": list(report.modules),
        "capabilities": capabilities_to_data(report.capabilities),
        "why": list(report.why),
        "left_out": report.left_out,
        "refused": report.refused,
        "healthy": report.healthy,
        "failed": list(report.failed),
        "key": report.key,
        "at": report.at,
    }


def _bytes(data: dict[str, Any]) -> bytes:
    given = {key: value for key, value in data.items() if value is not None and value not in ([], {})}
    if not data.get("left_out"):
        given.pop("left_out", None)
    return canonical_json(given).encode()


def read_hello(content: bytes) -> Hello:
    """The hello in a message's bytes. Raises `WireError`."""
    entry = entry_of(data_of(content, REPORT_LIMIT), HelloEntry)
    try:
        return Hello(
            node=entry.node,
            machine=entry.machine,
            generation=entry.generation,
            key=entry.key,
            at=_instant(entry.at),
        )
    except InvalidValue as error:
        raise _unfit(error) from None


def read_said(content: bytes) -> Report:
    """The report in a message's bytes. Raises `WireError`."""
    entry = entry_of(data_of(content, REPORT_LIMIT), ReportEntry)
    try:
        return Report(
            node=entry.node,
            machine=entry.machine,
            generation=entry.generation,
            applied=entry.applied,
            doing=entry.doing,
            modules=entry.modules,
            capabilities=entry.capabilities,
            why=entry.why,
            left_out=entry.left_out,
            refused=entry.refused,
            healthy=entry.healthy,
            failed=entry.failed,
            key=entry.key,
            at=_instant(entry.at),
        )
    except InvalidValue as error:
        raise _unfit(error) from None


def _instant(given: str | None) -> str | None:
    if given is None or is_instant(given):
        return given
    raise WireError([Fault(path="$.at", found=f"found {shown(given)}", wanted=_INSTANT)])


def _unfit(error: InvalidValue) -> WireError:
    return WireError([Fault(path="$", found=str(error), wanted="what a host says")])
