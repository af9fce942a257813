"""`mesh-host apply`: make the machine what it is declared to be."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from mesh_cli import reading
from mesh_cli.exits import Exit, Stop
from mesh_cli.host import wiring
from mesh_cli.host.privileges import may_change
from mesh_cli.options import JsonOption
from mesh_cli.output import say, say_json
from mesh_cli.roots import RootOption, root_of


def apply(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A declaration (JSON), or -.", show_default=False)
    ],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done; do nothing.")] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="With --dry-run: files that not everybody may read, too.")
    ] = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make this machine what a declaration says.

    What was declared before and no longer is, is taken off, and nothing else; what was there before
    comes back. What fails is said, the rest is done, and the next run goes on from there.
    Ends with 3 where the declaration is not taken, with 4 where a part or a check failed.

    Example: mesh-host apply --dry-run --root /tmp/try laptop.json
    """
    from mesh_core.wire.text import DECLARATION_LIMIT

    if diff and not dry_run:
        raise Stop(Exit.USAGE, "no-dry-run", "--diff shows more of --dry-run; say both")
    place = root_of(root)
    content = reading.bytes_of(file, DECLARATION_LIMIT)
    if dry_run:
        _would(content, file, place, as_json=as_json, private=diff)
        return
    may_change(place, f"apply {file}", trying=f"apply --root DIR {file}")
    outcome = _done(content, file, place, as_json=as_json)
    if outcome["state"] != "applied" or not all(check["passed"] for check in outcome["checks"]):
        raise typer.Exit(Exit.SOME_REFUSED)


def _would(content: bytes, file: str, place: Path, *, as_json: bool, private: bool) -> None:
    with wiring.journal_looked_at(place) as journal:
        host = wiring.host(place, journal)
        decided = wiring.decide(content, file, host)
        plan = wiring.planned_with_differences(decided, host, private=private)
    if as_json:
        say_json(plan)
        return
    from mesh_cli.host.render import Rendering

    view = Rendering(plan)
    say([*view.before(), *view.actions(), *view.after(), view.sum()])


def _done(content: bytes, file: str, place: Path, *, as_json: bool) -> dict[str, Any]:
    from mesh_cli.wiring import now

    with wiring.journal_at_work(place) as journal:
        host = wiring.host(place, journal)
        outcome = wiring.same_again(content, host)
        if outcome is None:
            outcome = _anew(content, file, host, as_json=as_json)
        elif not as_json:
            _tell_after(outcome)
        remembered = {key: value for key, value in outcome.items() if key != "changed"}
        journal.remember(at=now(), status=remembered)
    if as_json:
        say_json(outcome)
    return outcome


def _anew(content: bytes, file: str, host: wiring.Host, *, as_json: bool) -> dict[str, Any]:
    decided = wiring.decide(content, file, host)
    if as_json:
        return _interruptible(decided, host, _nobody)
    from mesh_cli.host.render import Rendering

    view = Rendering(wiring.planned(decided))
    say(view.before())
    outcome = _interruptible(decided, host, lambda data: say(view.action(data)))
    _tell_after(outcome)
    return outcome


def _tell_after(outcome: dict[str, Any]) -> None:
    from mesh_cli.host.render import Rendering

    view = Rendering(outcome)
    say([*view.after(), view.sum()])


def _nobody(_data: dict[str, Any]) -> None:
    """Watches nothing: JSON is printed whole."""


def _interruptible(decided: wiring.Decided, host: wiring.Host, watch: Any) -> dict[str, Any]:
    try:
        return wiring.do(decided, host, watch)
    except KeyboardInterrupt:
        line = "interrupted; what was done stands in the journal, and the next apply goes on from there"
        raise Stop(Exit.INTERRUPTED, "interrupted", line) from None
