"""What was taken in of the machines' reports, and what was sent, as lines and as data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mesh_cli.output import FORMAT, flush, say, visible
from mesh_core.explain.builds import ID, heard
from mesh_core.explain.words import counted, span
from mesh_core.wire.builds import said_to_data
from mesh_core.wire.said import report_to_data

if TYPE_CHECKING:
    from mesh_cli.wiring_flows import Collected, Publishing, Requested
    from mesh_core.model.said import Report


def collected_lines(collected: Collected) -> Iterator[str]:
    """A line for each node that said something."""
    for node, report in sorted(collected.reports.items()):
        yield visible(f"{node}: {_report(report)}{_how_old(collected.waited.get(node))}")
    for node in sorted(collected.hellos):
        sent = ", and was sent its declaration" if node in collected.answered else ""
        yield f"{node}: said hello{sent}"
    for node in sorted(set(collected.answered) - set(collected.hellos)):
        yield f"{node}: was sent its declaration again, which it had not taken"
    for node, count in sorted(collected.stale.items()):
        yield f"{node}: {counted(count, 'report')} older than what is known, left out"
    for node, machine in sorted(collected.strangers.items()):
        yield visible(f"{node}: another machine ({machine}) speaks under its name, and was given nothing")
        yield f"  if it is the one that is meant: mesh node invite {node}"
    for node, count in sorted(collected.strange.items()):
        yield f"{node}: {counted(count, 'message')} that nobody can read, set aside"

    for one in collected.builds:
        yield from map(visible, heard(one.build, one.said, one.becoming))
    for build, count in sorted(collected.uncounted.items()):
        yield f"build {build[:ID]}: {counted(count, 'answer')} that came too late, left out"


def requested_lines(requested: Requested) -> Iterator[str]:
    """A line for each request for a build that was sent, or could not be."""
    for build in requested.confirmed:
        yield f"build {build[:ID]}: asked for"
    for build, outcome in sorted(requested.failed.items()):
        yield visible(f"build {build[:ID]}: not sent, and still pending: {getattr(outcome, 'why', outcome)}")


def requested_to_data(requested: Requested) -> dict[str, Any]:
    """The same as plain data."""
    return {"asked": list(requested.confirmed), "not_asked": sorted(requested.failed)}


def _report(report: Report) -> str:
    at = f" generation {report.applied}" if report.applied is not None else ""
    why = f": {report.why[0]}" if report.why else ""
    more = f" (and {len(report.why) - 1 + report.left_out} more)" if len(report.why) > 1 else ""
    return f"{report.doing.value}{at}{why}{more}"


def _how_old(seconds: int | None) -> str:
    """That a report is of another day: what it says may not be so any more."""
    return "" if seconds is None else f" (said {span(seconds)} ago)"


def published_lines(published: Publishing) -> Iterator[str]:
    """A line for each node that something was sent to, or could not be."""
    for node, generation in sorted(published.confirmed.items()):
        yield f"{node}: sent generation {generation}"
    for node, outcome in sorted(published.failed.items()):
        yield visible(f"{node}: not sent, and still pending: {getattr(outcome, 'why', outcome)}")


def collected_to_data(collected: Collected) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "reports": {node: report_to_data(report) for node, report in sorted(collected.reports.items())},
        "hellos": sorted(collected.hellos),
        "answered": sorted(collected.answered),
        "stale": dict(sorted(collected.stale.items())),
        "strangers": dict(sorted(collected.strangers.items())),
        "strange": dict(sorted(collected.strange.items())),
        "waited": dict(sorted(collected.waited.items())),
        "builds": [
            {**said_to_data(one.said), "became": None if one.becoming is None else _code(one.becoming)}
            for one in collected.builds
        ],
        "uncounted": dict(sorted(collected.uncounted.items())),
    }


def _code(becoming: object) -> str:
    return type(becoming).__name__.lower()


def published_to_data(published: Publishing) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "sent": dict(sorted(published.confirmed.items())),
        "pending": {
            node: {"code": type(outcome).__name__.lower(), "why": getattr(outcome, "why", None)}
            for node, outcome in sorted(published.failed.items())
        },
    }


class Noticing:
    """Says what a daemon does, a line at a time, at once."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json

    def begun(self, broker: str) -> None:
        """It is at work."""
        if self._as_json:
            self._object({"event": "serving", "broker": broker})
        else:
            say(visible(f"serving at {broker} (ctrl-c ends it)"))
        flush()

    def __call__(self, news: Any) -> None:
        """What a round did; an outage when it begins, and None when it is over."""
        if news is None or isinstance(news, Exception):
            self._outage(news)
        elif isinstance(getattr(news, "confirmed", None), tuple):
            self._said("asked", requested_to_data(news), list(requested_lines(news)))
        elif hasattr(news, "confirmed"):
            self._said("sent", published_to_data(news), list(published_lines(news)))
        else:
            self._said("collected", collected_to_data(news), list(collected_lines(news)))
        flush()

    def _outage(self, error: Exception | None) -> None:
        if error is None:
            self._said("well", {}, ["it is back"])
        else:
            self._said("outage", {"message": str(error)}, [f"{visible(str(error))}; waiting for it"])

    def _said(self, event: str, data: dict[str, Any], lines: list[str]) -> None:
        if self._as_json:
            self._object({"event": event, **data})
        else:
            say(lines)

    def _object(self, data: dict[str, Any]) -> None:
        say(json.dumps({"format": FORMAT} | data))
