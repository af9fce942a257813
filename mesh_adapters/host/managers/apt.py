"""apt: Debian and its children. With another root it is the root's own configuration, lists and database.

Questions about configuration files are answered with the local file; nothing else is asked. Recommendations
are not installed: a machine has what is declared and what that needs, and a module that wants more says so.
Nothing is ever removed along with an installation (`--no-remove`), and autoremove is never called.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from attrs import evolve, frozen

from mesh_adapters.host.commands import Ended, command
from mesh_adapters.host.kind import Done, Failed
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.managers.manager import (
    ACTING,
    FETCHING,
    LOCKED,
    QUERY,
    Presence,
    Transaction,
    patiently,
    said,
)

_OPTIONS = (
    "--quiet",
    "--yes",
    "--option=APT::Install-Recommends=false",
    "--option=APT::Get::AutomaticRemove=false",
    "--option=Dpkg::Options::=--force-confdef",
    "--option=Dpkg::Options::=--force-confold",
    f"--option=DPkg::Lock::Timeout={LOCKED:.0f}",
    "--option=Dpkg::Use-Pty=false",
)
_SAY_ALL = ("--allow-downgrades", "--allow-remove-essential", "--allow-change-held-packages")
"""For simulations alone: apt is to say all that it would do, and the host refuses."""
_ENVIRONMENT = {
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTCHANGES_FRONTEND": "none",
    "NEEDRESTART_SUSPEND": "1",
}
_FORMAT = "${Package}\t${Architecture}\t${Essential}${Protected}\t${db:Status-Want}\t${db:Status-Status}\n"
_ABSENT = frozenset({"not-installed", "config-files"})
_WHOLE = frozenset({"installed", "triggers-awaited", "triggers-pending"})

# Where the root is another one. `Dir` alone would leave the parts of the configuration and dpkg's status as
# they are on the machine that the host runs on; on the command line it would come too late for the former.
_IN_ROOT = """
Dir "{root}";
Dir::State::status "{root}/var/lib/dpkg/status";
DPkg::Options {{ "--root={root}"; }};
"""


@frozen(kw_only=True)
class _Row:
    """A package in dpkg's database."""

    status: str
    kept: bool
    """Essential or protected."""
    held: bool


class Apt:
    """apt-get, and dpkg's database."""

    name = "apt"

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._database = machine.root / "var/lib/dpkg"

    def has_database(self) -> bool:
        """Whether dpkg has a status file here."""
        return (self._database / "status").is_file()

    def has_packages(self) -> bool:
        """Whether there is anything in it."""
        return (self._database / "status").stat().st_size > 0

    def installed(self) -> Mapping[str, Presence] | Failed:
        """What dpkg knows. A package whose triggers have yet to run is installed."""
        rows = self._rows()
        if isinstance(rows, Failed):
            return rows
        there = {name: row.status for name, row in rows.items() if row.status not in _ABSENT}
        return {
            name: Presence.INSTALLED if status in _WHOLE else Presence.HALFWAY
            for name, status in there.items()
        }

    def simulate_install(self, names: Sequence[str]) -> Transaction | Failed:
        """What `apt-get install` would do; where a package is not in the lists, they are updated once."""
        return self._simulate("install", names)

    def fetch(self, names: Sequence[str]) -> Failed | None:
        """Into apt's own archive of packages."""
        ended = self._known("install", "--download-only", *names, seconds=FETCHING)
        return None if ended.well else Failed(why=_words(ended))

    def install(self, names: Sequence[str]) -> Done | Failed:
        """`apt-get install` also tries again what failed before, so a failure may be another package's."""
        before = self.installed()
        if isinstance(before, Failed):
            return before
        ended = self._apt("install", "--no-remove", *names, seconds=ACTING)
        if ended.well:
            return Done()
        there = self.installed()
        if isinstance(there, Failed):
            return Failed(why=_words(ended))
        if all(there.get(name) is Presence.INSTALLED for name in names):
            return Done(notes=(f"apt had trouble with another package: {_words(ended)}",))
        self._back_out(
            sorted(name for name in there.keys() - before.keys() if there[name] is Presence.HALFWAY)
        )
        return Failed(why=_words(ended))

    def _back_out(self, unpacked: Sequence[str]) -> None:
        """Take away what was only just unpacked, where something that it needs did not come.

        Else apt would install nothing at all any more until a person mends that.
        """
        # Each is in the list with its architecture, and most without it as well.
        names = [name for name in unpacked if ":" not in name or name.split(":")[0] not in unpacked]
        if names and not self._apt("check", seconds=QUERY).well:
            root = f"--root={self._machine.root}"
            self._machine.run(
                command("dpkg", root, "--remove", *names, seconds=ACTING, environment=_ENVIRONMENT)
            )

    def simulate_remove(self, names: Sequence[str]) -> Transaction | Failed:
        """What `apt-get remove` would do."""
        return self._simulate("remove", names)

    def remove(self, names: Sequence[str], purge: Collection[str]) -> Done | Failed:
        """`apt-get remove`, and dpkg's purge of what is removed by then: apt's own takes more."""
        ended = self._apt("remove", *names, seconds=ACTING)
        there = self.installed()
        if isinstance(there, Failed):
            return there
        if any(name in there for name in names):
            return Failed(why=_words(ended))
        going = [name for name in names if name in purge]
        if going:
            root = f"--root={self._machine.root}"
            purged = self._machine.run(
                command("dpkg", root, "--purge", *going, seconds=ACTING, environment=_ENVIRONMENT)
            )
            if not purged.well:
                return Failed(why=_words(purged))
        return Done() if ended.well else Done(notes=(f"apt had trouble: {_words(ended)}",))

    def asked_for(self) -> Collection[str] | Failed:
        """What is marked as installed manually."""
        ended = self._mark("showmanual", seconds=QUERY)
        return ended.output.split() if ended.well else Failed(why=_words(ended))

    def mark_needed(self, name: str) -> Failed | None:
        """Mark it as installed automatically."""
        ended = self._mark("auto", name, seconds=QUERY)
        return None if ended.well else Failed(why=_words(ended))

    def _rows(self) -> dict[str, _Row] | Failed:
        asked = command(
            "dpkg-query",
            f"--admindir={self._database}",
            "--show",
            f"--showformat={_FORMAT}",
            seconds=QUERY,
        )
        ended = self._machine.run(asked)
        if not ended.well and "no packages found" not in ended.errors:
            return Failed(why=ended.words)
        lines = [line.split("\t") for line in ended.output.splitlines()]
        native = next((arch for name, arch, *_ in lines if name == "dpkg"), None)
        rows: dict[str, _Row] = {}
        for name, arch, kept, want, status in lines:
            row = _Row(status=status, kept="yes" in kept, held=want == "hold")
            rows[f"{name}:{arch}"] = row
            if native is None or arch in (native, "all"):
                rows[name] = row
        return rows

    def _simulate(self, what: str, names: Sequence[str]) -> Transaction | Failed:
        rows = self._rows()
        if isinstance(rows, Failed):
            return rows
        ended = self._known(what, "--simulate", *_SAY_ALL, *names, seconds=QUERY)
        if not ended.well:
            return Failed(why=_words(ended))
        transaction = _transaction(ended.output)
        changed = (
            *transaction.installed,
            *transaction.upgraded,
            *transaction.downgraded,
            *transaction.removed,
        )
        return evolve(
            transaction,
            held=[name for name in changed if name in rows and rows[name].held],
            protected=[name for name in transaction.removed if name in rows and rows[name].kept],
        )

    def _known(self, *arguments: str, seconds: float) -> Ended:
        """Run apt-get; where it does not know a package, or cannot get it any more, with newer lists."""
        ended = self._apt(*arguments, seconds=seconds)
        if ended.well or not _OLD_LISTS.search(ended.errors):
            return ended
        updated = self._apt("update", seconds=FETCHING)
        return self._apt(*arguments, seconds=seconds) if updated.well else updated

    def _apt(self, *arguments: str, seconds: float) -> Ended:
        with _configuration(self._machine.root) as environment:
            asked = command("apt-get", *_OPTIONS, *arguments, seconds=seconds, environment=environment)
            return patiently(self._machine, asked, _locked)

    def _mark(self, *arguments: str, seconds: float) -> Ended:
        with _configuration(self._machine.root) as environment:
            return self._machine.run(
                command("apt-mark", *arguments, seconds=seconds, environment=environment)
            )


_OLD_LISTS = re.compile(
    r"Unable to locate package|has no installation candidate|Couldn't find any package|Unable to fetch some|"
    r"Failed to fetch"
)
_OTHER_LOCK = re.compile(r"Could not get lock \S*/(lists|archives)/lock")


def _locked(ended: Ended) -> bool:
    """Whether it was a lock for which apt itself does not wait."""
    return _OTHER_LOCK.search(ended.errors) is not None


@contextmanager
def _configuration(root: Path) -> Iterator[dict[str, str]]:
    """The environment in which apt works on this root."""
    if root == Path("/"):
        yield _ENVIRONMENT
        return
    with NamedTemporaryFile("w", prefix="mesh-host-apt-", suffix=".conf") as file:
        file.write(_IN_ROOT.format(root=root))
        file.flush()
        yield {**_ENVIRONMENT, "APT_CONFIG": file.name}


_LINE = re.compile(r"(Inst|Remv|Purg) (\S+)( \[[^]]*\])?")
_SECTION = re.compile(r"packages will be DOWNGRADED:\n((?: .*\n)+)")


def _transaction(output: str) -> Transaction:
    """`Inst` with a version in brackets is of a package that is there already."""
    lines = [match.groups() for match in map(_LINE.match, output.splitlines()) if match]
    section = _SECTION.search(output)
    downgraded = section[1].split() if section else []
    changed = [name for what, name, version in lines if what == "Inst" and version]
    return Transaction(
        installed=[name for what, name, version in lines if what == "Inst" and not version],
        upgraded=[name for name in changed if name not in downgraded],
        downgraded=downgraded,
        removed=[name for what, name, _ in lines if what in ("Remv", "Purg")],
    )


_PROGRESS = re.compile(
    r"(Setting up|Unpacking|Preparing|Selecting|Removing|Purging|Processing|Get:|\(Reading|Need to|"
    r"After this|Fetched|Reading|Building|\d+ upgraded|\d+ not fully)"
)
_USELESS = re.compile(r"E: Sub-process .* returned an error code")


def _words(ended: Ended) -> str:
    """Its own words: what the script of a package said is in them, before what dpkg says of it."""
    if ended.code is None:
        return ended.words
    errors = [
        line for line in ended.errors.partition("Errors were encountered")[0].splitlines() if line.strip()
    ]
    errors = [line for line in errors if not _USELESS.match(line)]
    if errors and errors[0].startswith("dpkg: error processing"):
        errors = _script(ended.output) + errors
    if "unmet dependencies" in ended.output:
        errors = [line for line in ended.output.splitlines() if " : " in line] + errors
    return said(*errors) if errors else ended.words


def _script(output: str) -> list[str]:
    """The last that a script said on its output."""
    lines = [line for line in output.splitlines() if line.strip()]
    return [line for line in lines if not _PROGRESS.match(line)][-2:]
