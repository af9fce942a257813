"""A root with dpkg's database, and a flat repository of .deb files."""

from contextlib import AbstractContextManager
from pathlib import Path

from tests.integration.host.packages.tiny import Tiny, bare_root, need, put, record_lock, run
from tests.integration.lab.aptrepo import Package, build, index_entry


class AptRoot:
    """apt, with the root's own configuration and lists."""

    manager = "apt"

    def __init__(self, folder: Path) -> None:
        need("apt-get", "dpkg", "dpkg-deb")
        self.root, self._folder = folder / "root", folder / "repository"
        self._index: dict[str, str] = {}
        self._folder.mkdir()
        bare_root(self.root)
        for place in ("etc/apt/apt.conf.d", "etc/apt/preferences.d", "var/lib/dpkg/updates"):
            (self.root / place).mkdir(parents=True)
        for place in ("var/lib/dpkg/info", "var/lib/apt/lists/partial", "var/cache/apt/archives/partial"):
            (self.root / place).mkdir(parents=True)
        put(self.root / "var/lib/dpkg/status", "")
        put(self.root / "etc/apt/sources.list", f"deb [trusted=yes] copy:{self._folder} ./\n")
        self._configuration = folder / "apt.conf"
        put(self._configuration, CONFIGURATION.format(root=self.root))
        self.offer()

    def offer(self, *packages: Tiny) -> None:
        self.publish(*packages)
        self._apt("update")

    def publish(self, *packages: Tiny) -> None:
        for package in packages:
            deb = deb_of(package)
            self._index[package.name] = index_entry(deb, build(deb, self._folder))
        (self._folder / "Packages").write_text("\n".join(self._index.values()))

    def close(self) -> None:
        pass

    def by_hand(self, *names: str) -> None:
        self._apt("install", *names)

    def ask_for(self, name: str) -> None:
        self.by_hand(name)

    def off_by_hand(self, *names: str) -> None:
        self._apt("remove", *names)

    def hold(self, name: str) -> None:
        run("env", f"APT_CONFIG={self._configuration}", "apt-mark", "hold", name)

    def withdraw(self) -> None:
        for deb in self._folder.glob("*.deb"):
            deb.unlink()

    def spoil(self) -> None:
        put(self.root / "var/lib/dpkg/status", "Package: aa\nnonsense\n")

    def lock(self) -> AbstractContextManager[None]:
        return record_lock(self.root / "var/lib/dpkg/lock-frontend")

    def installed(self) -> dict[str, str]:
        shown = "--showformat=${Package} ${Version} ${db:Status-Status}\n"
        said = run("dpkg-query", f"--admindir={self.root}/var/lib/dpkg", "--show", shown)
        lines = [line.split() for line in said.splitlines()]
        return {name: version for name, version, status in lines if status == "installed"}

    def _apt(self, *arguments: str) -> str:
        return run("env", f"APT_CONFIG={self._configuration}", "apt-get", "--quiet", "--yes", *arguments)


CONFIGURATION = """
Dir "{root}";
Dir::State::status "{root}/var/lib/dpkg/status";
DPkg::Options {{ "--root={root}"; }};
"""


def deb_of(package: Tiny) -> Package:
    """A relation in Debian has its version in brackets."""
    depends = [in_brackets(r) if " " in r else r for r in package.depends]
    return Package(
        name=package.name,
        version=package.version,
        depends=", ".join(depends),
        conflicts=", ".join([*package.conflicts, *package.replaces]),
        fields={"Replaces": ", ".join(package.replaces), "Essential": "yes" if package.protected else ""},
        files=package.files,
        conffiles=tuple(package.conffiles),
        scripts={
            name: script
            for name, script in (("preinst", package.before_install), ("postinst", package.after_install))
            if script
        },
    )


def in_brackets(relation: str) -> str:
    """`name (>= version)`; dpkg says `<<` where the others say `<`."""
    name, operator, version = relation.split()
    return f"{name} ({'<<' if operator == '<' else operator} {version})"
