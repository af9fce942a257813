"""dnf: Fedora and its relatives, with rpm's database. With another root it is `--installroot`.

dnf takes configuration and repositories from the root where it has them. Packages are kept where they are
fetched to (`keepcache`): dnf would throw all of them away with the first that is installed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from attrs import evolve

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

_OPTIONS = (
    "--color=never",
    "--setopt=clean_requirements_on_remove=False",
    # As with apt: what is declared and what that needs.
    "--setopt=install_weak_deps=False",
    "--setopt=keepcache=True",
    # The host waits itself, and not for ever.
    "--setopt=exit_on_lock=True",
    # A package that cannot be had in its newest version is no reason to install nothing of it.
    "--setopt=best=False",
)
_DATABASES = ("usr/lib/sysimage/rpm", "var/lib/rpm", "root/.rpmdb")
"""Where rpm may have its database; the last is where the rpm of Debian has it."""
_FILES = ("rpmdb.sqlite", "Packages", "Packages.db")
_LOCKED = 200
"""What dnf ends with when another process holds its lock."""


class Dnf:
    """dnf, and rpm's database."""

    name = "dnf"

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._root = machine.root

    def has_database(self) -> bool:
        """Whether rpm has a database here; asking rpm would make one."""
        return any(self._is_database(folder) for folder in _DATABASES)

    def has_packages(self) -> bool:
        """A database of rpm counts as used: the other managers were looked at before."""
        return True

    def installed(self) -> Mapping[str, Presence] | Failed:
        """What rpm knows. It has nothing halfway: a package whose script failed is installed."""
        place = self._machine.run(command("rpm", "--eval", "%{_dbpath}", seconds=QUERY))
        if not place.well or not self._is_database(place.output.strip()):
            return Failed(why=f"the database of rpm in {self._root} is none that the rpm here would use")
        asked = command(
            "rpm", f"--root={self._root}", "-qa", "--queryformat=%{NAME}\\t%{ARCH}\\n", seconds=QUERY
        )
        ended = self._machine.run(asked)
        if not ended.well or ended.errors.strip():
            return Failed(why=ended.words)
        rows = [line.split("\t") for line in ended.output.splitlines()]
        names = [name for row in rows for name in (row[0], ".".join(row))]
        return dict.fromkeys(names, Presence.INSTALLED)

    def simulate_install(self, names: Sequence[str]) -> Transaction | Failed:
        """What `dnf install` would do; where a package is not in the lists, they are read anew once."""
        ended = self._known("--assumeno", "install", *names)
        return self._said(ended, names)

    def fetch(self, names: Sequence[str]) -> Failed | None:
        """Into dnf's own cache. Whether something would have to go for it, is asked when its turn comes."""
        ended = self._known("--assumeyes", "install", "--downloadonly", "--allowerasing", *names)
        return None if ended.well else Failed(why=_words(ended))

    def install(self, names: Sequence[str]) -> Done | Failed:
        """A script that fails at the end of an installation is no failure to dnf; here it is."""
        ended = self._dnf("--assumeyes", "install", *names, seconds=ACTING)
        return _outcome(ended)

    def simulate_remove(self, names: Sequence[str]) -> Transaction | Failed:
        """What `dnf remove` would do."""
        ended = self._dnf("--assumeno", "--cacheonly", "remove", *names, seconds=QUERY)
        protected = _PROTECTED.search(ended.errors)
        if protected:
            return Transaction(removed=names, protected=protected[1].split(", "))
        return self._said(ended, names)

    def remove(self, names: Sequence[str], purge: Collection[str]) -> Done | Failed:
        """There is nothing to purge: rpm keeps only configuration that somebody edited, and renames it."""
        ended = self._dnf("--assumeyes", "--cacheonly", "remove", *names, seconds=ACTING)
        return _outcome(ended)

    def asked_for(self) -> Collection[str] | Failed:
        """What dnf has as user-installed."""
        asked = ("--cacheonly", "--quiet", "repoquery", "--userinstalled", "--queryformat=%{name}")
        ended = self._dnf(*asked, seconds=QUERY)
        return ended.output.split() if ended.well else Failed(why=_words(ended))

    def mark_needed(self, name: str) -> Failed | None:
        """`dnf mark remove` removes the mark, not the package."""
        ended = self._dnf("--cacheonly", "mark", "remove", name, seconds=QUERY)
        return None if ended.well else Failed(why=_words(ended))

    def _is_database(self, folder: str) -> bool:
        return any((self._root / folder.lstrip("/") / file).is_file() for file in _FILES)

    def _said(self, ended: Ended, names: Sequence[str]) -> Transaction | Failed:
        """Told no, dnf ends with 1; so the table tells whether it would have gone on."""
        if _EXCLUDED.search(_all(ended)):
            return Transaction(held=names)
        if ended.well or "Operation aborted" in ended.errors:
            return _transaction(ended.output)
        return Failed(why=_words(ended))

    def _known(self, *arguments: str) -> Ended:
        """Run dnf; where it does not know a package, or cannot get it any more, with newer lists."""
        ended = self._dnf(*arguments, seconds=FETCHING)
        old = not ended.well and _OLD_LISTS.search(ended.errors) and not _EXCLUDED.search(_all(ended))
        return self._dnf("--refresh", *arguments, seconds=FETCHING) if old else ended

    def _dnf(self, *arguments: str, seconds: float) -> Ended:
        root = () if self._root == Path("/") else (f"--installroot={self._root}", *self._release())
        asked = command("dnf", *_OPTIONS, *root, *arguments, seconds=seconds)
        return patiently(self._machine, asked, lambda ended: ended.code == _LOCKED)

    def _release(self) -> tuple[str, ...]:
        """The release for the addresses of repositories: dnf finds it only in packages that it knows."""
        for place in ("etc/os-release", "usr/lib/os-release"):
            file = self._root / place
            found = _VERSION.search(file.read_text("utf-8", "replace")) if file.is_file() else None
            if found:
                return (f"--releasever={found[1]}",)
        return ()


_VERSION = re.compile(r'^VERSION_ID="?([A-Za-z0-9._-]+)"?$', re.MULTILINE)
_PROTECTED = re.compile(r"removing the following protected packages: (.+)")
_EXCLUDED = re.compile(r"filtered out by exclude filtering")
_OLD_LISTS = re.compile(r"Unable to find a match|No more mirrors to try|Error downloading packages")
_SECTION = re.compile(r"([A-Z][A-Za-z ]+):$")
_ROW = re.compile(r" (\S+)")
_REPLACING = re.compile(r" {2,}replacing +(\S+?)(?:\.[a-z0-9_]+)? ")
_FIELDS = {
    "Installing": "installed",
    "Upgrading": "upgraded",
    "Downgrading": "downgraded",
    "Removing": "removed",
}


def _transaction(output: str) -> Transaction:
    """Read dnf's table: a heading, and under it one package a line, its name first.

    A name that is too long for its column stands in it all the same. `replacing` is of a package that goes.
    """
    found: dict[str, list[str]] = {field: [] for field in _FIELDS.values()}
    field, name = None, ""
    for line in output.partition("Transaction Summary")[0].splitlines():
        heading, row, replacing = _SECTION.match(line), _ROW.match(line), _REPLACING.match(line)
        if heading:
            field = _FIELDS.get(heading[1].split()[0])
        elif replacing and replacing[1] != name:
            found["removed"].append(replacing[1])
        elif row and field:
            name = row[1]
            found[field].append(name)
    return evolve(Transaction(), **found)


_FAILED_SCRIPT = re.compile(r"Error in \S+ scriptlet in rpm package|scriptlet failed")
_SCRIPT = re.compile(r"Running scriptlet: .*\n((?:(?! {2}\S).*\n)*)")
_HINTS = re.compile(r"\(try to add")


def _outcome(ended: Ended) -> Done | Failed:
    if not ended.well:
        return Failed(why=_words(ended))
    if _FAILED_SCRIPT.search(_all(ended)):
        script = _SCRIPT.search(ended.output)
        return Failed(why=said(script[1] if script else "", ended.errors))
    return Done()


def _words(ended: Ended) -> str:
    errors = [line for line in ended.errors.splitlines() if not _HINTS.match(line)]
    filtered = [line for line in ended.output.splitlines() if _EXCLUDED.search(line)]
    return said(*filtered, *errors) if errors and ended.code is not None else ended.words


def _all(ended: Ended) -> str:
    return f"{ended.output}\n{ended.errors}"
