"""pacman: Arch and its relatives. With another root it is `--root`, with the root's own configuration.

The lists of packages are never refreshed here. A refresh (`-Sy`) without an upgrade of everything installs
packages that were built against libraries newer than those of the machine, which Arch does not support; and
an upgrade of everything is not a host's to begin. So a package is had as the last `pacman -Syu` knew it, and
where it is gone from the mirrors by now the failure says what would do.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from mesh_adapters.host.commands import Ended, command
from mesh_adapters.host.kind import Done, Failed
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.managers.manager import (
    ACTING,
    FETCHING,
    QUERY,
    Presence,
    Transaction,
    patiently,
    said,
)

_SYNC = ("--sync", "--needed")


class Pacman:
    """pacman, and its local database."""

    name = "pacman"

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._root = machine.root
        self._local = machine.root / "var/lib/pacman/local"

    def has_database(self) -> bool:
        """Whether pacman has a local database here."""
        return self._local.is_dir()

    def has_packages(self) -> bool:
        """Whether there is a package in it."""
        return any(entry.is_dir() for entry in self._local.iterdir())

    def installed(self) -> Mapping[str, Presence] | Failed:
        """What pacman knows. It has nothing halfway: a package whose script failed is installed."""
        versions = self._versions()
        return versions if isinstance(versions, Failed) else dict.fromkeys(versions, Presence.INSTALLED)

    def simulate_install(self, names: Sequence[str]) -> Transaction | Failed:
        """What `pacman -S` would do. It would remove nothing: asked whether to, it is told no."""
        ended = self._pacman(*_SYNC, "--print", "--print-format=%n %v", *names, seconds=QUERY)
        there = self._versions()
        if not ended.well:
            return Failed(why=_words(ended))
        if isinstance(there, Failed):
            return there
        rows = [line.split(" ") for line in ended.output.splitlines()]
        planned = {row[0]: row[1] for row in rows if len(row) == 2}
        newer = {name for name, version in planned.items() if there.get(name, version) != version}
        older = {name for name in newer if self._is_older(name, planned[name])}
        held = self._configured("IgnorePkg", "IgnoreGroup")
        if isinstance(held, Failed):
            return held
        return Transaction(
            installed=planned.keys() - there.keys(),
            upgraded=newer - older,
            downgraded=older,
            held=_matching(planned, held),
        )

    def fetch(self, names: Sequence[str]) -> Failed | None:
        """Into pacman's own cache of packages."""
        ended = self._pacman(*_SYNC, "--downloadonly", *names, seconds=FETCHING)
        return None if ended.well else Failed(why=_words(ended))

    def install(self, names: Sequence[str]) -> Done | Failed:
        """A script that fails at the end of an installation is no failure to pacman; here it is."""
        return _outcome(self._pacman(*_SYNC, *names, seconds=ACTING))

    def simulate_remove(self, names: Sequence[str]) -> Transaction | Failed:
        """What `pacman -R --cascade` would do; what is in HoldPkg, it would not."""
        protected, held = self._configured("HoldPkg"), self._configured("IgnorePkg", "IgnoreGroup")
        if isinstance(protected, Failed):
            return protected
        if isinstance(held, Failed):
            return held
        asked = ("--remove", "--cascade", "--print", "--print-format=%n")
        ended = self._pacman(*asked, *names, seconds=QUERY)
        kept = [*_HOLD.findall(ended.errors), *_matching(names, protected)]
        if kept:
            return Transaction(removed=names, protected=kept)
        if not ended.well:
            return Failed(why=_words(ended))
        going = ended.output.split()
        return Transaction(removed=going, held=_matching(going, held))

    def remove(self, names: Sequence[str], purge: Collection[str]) -> Done | Failed:
        """`pacman -R`, which keeps edited configuration as .pacsave; where all are purged, it does not."""
        nosave = ["--nosave"] if purge and set(names) <= set(purge) else []
        return _outcome(self._pacman("--remove", *nosave, *names, seconds=ACTING))

    def asked_for(self) -> Collection[str] | Failed:
        """What is installed explicitly."""
        ended = self._pacman("--query", "--quiet", "--explicit", seconds=QUERY)
        failed = not ended.well and ended.errors.strip()  # it ends with 1 where there is none
        return Failed(why=_words(ended)) if failed else ended.output.split()

    def mark_needed(self, name: str) -> Failed | None:
        """Change the reason that it is there for."""
        ended = self._pacman("--database", "--asdeps", name, seconds=QUERY)
        return None if ended.well else Failed(why=_words(ended))

    def _versions(self) -> dict[str, str] | Failed:
        ended = self._pacman("--query", seconds=QUERY)
        # It ends with 1 where there is nothing at all.
        if not ended.well and (ended.errors.strip() or ended.code != 1):
            return Failed(why=ended.words)
        return dict(line.split(" ")[:2] for line in ended.output.splitlines())

    def _is_older(self, name: str, version: str) -> bool:
        """Whether the version is older than what is there: what is there is then more than it needs to be."""
        return self._pacman("--deptest", f"{name}>{version}", seconds=QUERY).well

    def _configured(self, *keys: str) -> list[str] | Failed:
        """What the configuration says for these keys: patterns of names; a group is taken apart."""
        # Asked for one key alone, it says the values without the key.
        asked = command("pacman-conf", *self._where(), "RootDir", *keys, seconds=QUERY)
        ended = self._machine.run(asked)
        if not ended.well:
            return Failed(why=ended.words)
        found: list[str] = []
        for line in ended.output.splitlines():
            key, _, value = line.partition(" = ")
            if key in keys:
                found += self._members(value) if key == "IgnoreGroup" else [value]
        return found

    def _members(self, group: str) -> list[str]:
        return self._pacman("--sync", "--groups", "--quiet", group, seconds=QUERY).output.split()

    def _where(self) -> tuple[str, ...]:
        if self._root == Path("/"):
            return ()
        return (f"--root={self._root}", f"--config={self._root}/etc/pacman.conf")

    def _pacman(self, *arguments: str, seconds: float) -> Ended:
        cache = () if self._root == Path("/") else (f"--cachedir={self._root}/var/cache/pacman/pkg",)
        options = (*self._where(), *cache, "--noconfirm", "--color=never")
        return patiently(self._machine, command("pacman", *options, *arguments, seconds=seconds), _locked)


_HOLD = re.compile(r"warning: (\S+) is designated as a HoldPkg")
_SCRIPT_FAILED = "error: command failed to execute correctly"
_GONE = re.compile(r"failed retrieving file|failed to retrieve|target not found|database file for")


def _matching(names: Iterable[str], patterns: Sequence[str]) -> list[str]:
    return [name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns)]


def _locked(ended: Ended) -> bool:
    return "unable to lock database" in ended.errors


def _outcome(ended: Ended) -> Done | Failed:
    if not ended.well:
        return Failed(why=_words(ended))
    if _SCRIPT_FAILED in ended.errors:
        script = ended.output.partition(":: Processing package changes...")[2]
        return Failed(why=said(script, ended.errors))
    return Done()


def _words(ended: Ended) -> str:
    """Its own words, and where the lists may be too old, what would do."""
    conflict = [line for line in ended.output.splitlines() if re.match(r":: .*(conflict|breaks)", line)]
    words = (
        said(*conflict[-1:], ended.errors) if ended.errors.strip() and ended.code is not None else ended.words
    )
    old = "; its lists may be too old, and the mesh does not refresh them: pacman -Syu"
    return f"{words}{old}" if _GONE.search(ended.errors) else words
