"""A root with pacman's database, and a repository of packages written by hand: plain tar archives."""

import hashlib
import io
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.integration.host.packages.tiny import Tiny, bare_root, need, put, run

CONFIGURATION = """[options]
Architecture = auto
SigLevel = Never
HoldPkg = kept
[lab]
Server = file://{folder}
"""


class PacmanRoot:
    """pacman, with `--root`."""

    manager = "pacman"

    def __init__(self, folder: Path) -> None:
        need("pacman")
        self.root, self._folder = folder / "root", folder / "repository"
        self._packages: dict[str, tuple[Tiny, Path]] = {}
        self._folder.mkdir()
        bare_root(self.root)
        for place in ("var/lib/pacman", "var/cache/pacman/pkg"):
            (self.root / place).mkdir(parents=True)
        put(self.root / "etc/pacman.conf", CONFIGURATION.format(folder=self._folder))
        self.offer()

    def offer(self, *packages: Tiny) -> None:
        self.publish(*packages)
        self._pacman("-Syy")

    def publish(self, *packages: Tiny) -> None:
        for package in packages:
            self._packages[package.name] = (package, built(package, self._folder))
        write_index(list(self._packages.values()), self._folder / "lab.db")

    def close(self) -> None:
        pass

    def by_hand(self, *names: str) -> None:
        self._pacman("-S", *names)

    def ask_for(self, name: str) -> None:
        self._pacman("-D", "--asexplicit", name)

    def off_by_hand(self, *names: str) -> None:
        self._pacman("-R", *names)

    def hold(self, name: str) -> None:
        configuration = self.root / "etc/pacman.conf"
        put(configuration, configuration.read_text().replace("[lab]", f"IgnorePkg = {name}\n[lab]"))

    def withdraw(self) -> None:
        for archive in self._folder.glob("*.pkg.tar"):
            archive.unlink()

    def spoil(self) -> None:
        put(self.root / "var/lib/pacman/local/ALPM_DB_VERSION", "1\n")

    @contextmanager
    def lock(self) -> Iterator[None]:
        lock = self.root / "var/lib/pacman/db.lck"
        lock.touch()
        yield
        lock.unlink()

    def installed(self) -> dict[str, str]:
        lines = self._pacman("-Q", check=False).splitlines()  # where there is nothing it ends with 1
        return {name: version.removesuffix("-1") for name, version in (line.split() for line in lines)}

    def _pacman(self, *arguments: str, check: bool = True) -> str:
        options = ("--root", self.root, "--config", self.root / "etc/pacman.conf", "--cachedir")
        return run(
            "pacman", *options, self.root / "var/cache/pacman/pkg", "--noconfirm", *arguments, check=check
        )


def built(package: Tiny, folder: Path) -> Path:
    archive = folder / f"{package.name}-{package.version}-1-any.pkg.tar"
    info = {
        "pkgname": [package.name],
        "pkgbase": [package.name],
        "pkgver": [f"{package.version}-1"],
        "pkgdesc": [f"{package.name} of the lab"],
        "builddate": ["1"],
        "packager": ["the lab"],
        "size": ["1"],
        "arch": ["any"],
        "depend": relations(package),
        "conflict": [*package.conflicts, *package.replaces],
        "replaces": list(package.replaces),
        "backup": [path.lstrip("/") for path in package.conffiles],
    }
    text = "".join(f"{key} = {value}\n" for key, values in info.items() for value in values)
    files = {".PKGINFO": text}
    scripts = {"pre_install": package.before_install}
    scripts |= dict.fromkeys(("post_install", "post_upgrade"), package.after_install)
    functions = [f"{name}() {{\n{script}\n}}\n" for name, script in scripts.items() if script]
    if functions:
        files[".INSTALL"] = "".join(functions)
    files |= {path.lstrip("/"): content for path, content in package.files.items()}
    with tarfile.open(archive, "w") as tar:
        for name, content in files.items():
            add(tar, name, content)
    return archive


def add(tar: tarfile.TarFile, name: str, content: str) -> None:
    data = content.encode()
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o644
    tar.addfile(member, io.BytesIO(data))


def relations(package: Tiny) -> list[str]:
    return [relation.replace(" ", "") for relation in package.depends]


def write_index(packages: list[tuple[Tiny, Path]], index: Path) -> None:
    with tarfile.open(index, "w") as tar:
        for package, archive in packages:
            content = archive.read_bytes()
            facts = {
                "FILENAME": [archive.name],
                "NAME": [package.name],
                "VERSION": [f"{package.version}-1"],
                "CSIZE": [str(len(content))],
                "ISIZE": ["1"],
                "SHA256SUM": [hashlib.sha256(content).hexdigest()],
                "ARCH": ["any"],
                "DEPENDS": relations(package),
                "CONFLICTS": [*package.conflicts, *package.replaces],
                "REPLACES": list(package.replaces),
            }
            text = "".join(
                f"%{key}%\n" + "".join(f"{v}\n" for v in values) + "\n"
                for key, values in facts.items()
                if values
            )
            add(tar, f"{package.name}-{package.version}-1/desc", text)
