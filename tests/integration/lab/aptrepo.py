"""A local apt repository of tiny packages, each made from a value, and the only one that a machine knows."""

import hashlib
import io
import shutil
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from tests.integration.lab.machine import LabMachine

IN_MACHINE = "/srv/repo"
SOURCE = f"deb [trusted=yes] file://{IN_MACHINE} ./\n"

# What debhelper writes for a package with a service: enabled and started when it is installed, stopped
# when it is removed, forgotten when it is purged.
SERVICE_SCRIPTS = {
    "postinst": """
if [ "$1" = configure ]; then
    deb-systemd-helper unmask {unit} >/dev/null || true
    if deb-systemd-helper --quiet was-enabled {unit}; then
        deb-systemd-helper enable {unit} >/dev/null || true
    else
        deb-systemd-helper update-state {unit} >/dev/null || true
    fi
    if [ -d /run/systemd/system ]; then
        systemctl --system daemon-reload >/dev/null || true
        if [ -n "$2" ]; then action=restart; else action=start; fi
        deb-systemd-invoke $action {unit} >/dev/null || true
    fi
fi
""",
    "prerm": """
if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
    deb-systemd-invoke stop {unit} >/dev/null || true
fi
""",
    "postrm": """
if [ "$1" = remove ]; then deb-systemd-helper mask {unit} >/dev/null || true; fi
if [ "$1" = purge ]; then
    deb-systemd-helper purge {unit} >/dev/null || true
    deb-systemd-helper unmask {unit} >/dev/null || true
fi
if [ -d /run/systemd/system ]; then systemctl --system daemon-reload >/dev/null || true; fi
""",
}

# What the host's apt was told (proxies, hooks, pins) is not for the machine; nor what it had fetched.
USE_IT_ALONE = """
set -e
rm -rf /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/preferences.d /etc/apt/preferences
rm -rf /etc/apt/apt.conf /var/lib/apt/lists "$1"
mkdir -p /etc/apt/sources.list.d /etc/apt/apt.conf.d /etc/apt/preferences.d /var/lib/apt/lists "$1"
tar --extract --no-same-owner --directory "$1"
"""


@frozen(kw_only=True)
class Package:
    """A package for every architecture. A file that begins with `#!` can be executed."""

    name: str
    version: str = "1.0"
    depends: str = ""
    conflicts: str = ""
    fields: Mapping[str, str] = {}
    """More of the control file, as `{"Provides": "editor"}`."""
    files: Mapping[str, str] = {}
    conffiles: tuple[str, ...] = ()
    """Those of `files` that belong to the person who edits them."""
    scripts: Mapping[str, str] = {}
    """preinst, postinst, prerm, postrm: what comes after `#!/bin/sh` and `set -e`."""
    unit: str = ""
    """The text of a systemd unit NAME.service; it is handled as Debian's own packages do."""

    @property
    def file_name(self) -> str:
        """An epoch is not in the name of the file."""
        return f"{self.name}_{self.version.split(':')[-1]}_all.deb"


class AptRepository:
    """A flat repository: the packages and their index in one folder."""

    def __init__(self, folder: Path, *packages: Package) -> None:
        self._folder = folder
        self._index: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self.add(*packages)

    def add(self, *packages: Package) -> None:
        """Build them; a machine sees them after the next `install_into`."""
        for package in packages:
            deb = build(package, self._folder)
            self._index[deb.name] = index_entry(package, deb)
        (self._folder / "Packages").write_text("\n".join(self._index.values()))

    def install_into(self, machine: LabMachine) -> None:
        """Make it the one repository that the machine's apt knows, and let apt read it."""
        machine.run(["sh", "-c", USE_IT_ALONE, "sh", IN_MACHINE], input=self._packed())
        machine.write("/etc/apt/sources.list", SOURCE.encode())
        machine.run(["apt-get", "--quiet", "--quiet", "update"])

    def _packed(self) -> bytes:
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            for name in ("Packages", *self._index):
                archive.add(self._folder / name, name)
        return packed.getvalue()


def build(package: Package, folder: Path) -> Path:
    """Write the package's .deb into `folder`."""
    tree = folder / f"{package.name}.tree"
    shutil.rmtree(tree, ignore_errors=True)
    for path, content in all_files(package).items():
        put(tree / path.lstrip("/"), content)
    put(tree / "DEBIAN/control", control(package))
    if package.conffiles:
        put(tree / "DEBIAN/conffiles", "".join(f"{path}\n" for path in package.conffiles))
    for name, text in all_scripts(package).items():
        put(tree / "DEBIAN" / name, f"#!/bin/sh\nset -e\n{text}")
    deb = folder / package.file_name
    argv = ["dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(deb)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tree)
    deb.chmod(0o644)  # apt reads it as its own user
    return deb


def put(path: Path, content: str) -> None:
    """Write a file with modes that do not depend on the umask, which dpkg-deb would refuse or keep."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for folder in path.parents:
        if folder.name.endswith(".tree"):
            break
        folder.chmod(0o755)
    path.write_text(content)
    path.chmod(0o755 if content.startswith("#!") else 0o644)


def all_files(package: Package) -> dict[str, str]:
    unit = {f"/lib/systemd/system/{package.name}.service": package.unit} if package.unit else {}
    return {**package.files, **unit}


def all_scripts(package: Package) -> dict[str, str]:
    """The package's own, with what its service asks for after them."""
    scripts = dict(package.scripts)
    if package.unit:
        for name, text in SERVICE_SCRIPTS.items():
            mine = text.format(unit=f"{package.name}.service")
            scripts[name] = f"{scripts.get(name, '')}\n{mine}"
    return scripts


def control(package: Package) -> str:
    fields = {
        "Package": package.name,
        "Version": package.version,
        "Architecture": "all",
        "Maintainer": "the lab <lab@example.org>",
        "Depends": package.depends,
        "Conflicts": package.conflicts,
        **package.fields,
        "Description": f"{package.name} of the lab",
    }
    return "".join(f"{name}: {value}\n" for name, value in fields.items() if value)


def index_entry(package: Package, deb: Path) -> str:
    content = deb.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    return f"{control(package)}Filename: ./{deb.name}\nSize: {len(content)}\nSHA256: {digest}\n"
