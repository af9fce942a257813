"""A root with rpm's database, for dnf with `--installroot`; its packages are built by rpmbuild."""

import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.integration.host.packages.tiny import Tiny, bare_root, need, put, run

CONFIGURATION = "[main]\ngpgcheck=False\nprotected_packages=kept\n"
SHELL = "lab-shell"
"""What provides /bin/sh, which every package with a script needs: it is in the root from the beginning."""
REPOSITORY = """[lab]
name=lab
baseurl=http://127.0.0.1:{port}
enabled=1
gpgcheck=0
metadata_expire=0
"""


class Quiet(SimpleHTTPRequestHandler):
    """Serves the repository, and says nothing of it."""

    def log_message(self, format: str, *args: object) -> None:
        pass


class DnfRoot:
    """dnf, with `--installroot`."""

    manager = "dnf"

    def __init__(self, folder: Path) -> None:
        need("dnf", "rpm", "rpmbuild", "createrepo_c")
        self.root, self._folder = folder / "root", folder / "repository"
        self._build = folder / "build"
        self._folder.mkdir()
        # What dnf can read in place it does not fetch, so it is served.
        handler = partial(Quiet, directory=str(self._folder))
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        bare_root(self.root)
        put(self.root / "etc/dnf/dnf.conf", CONFIGURATION)
        put(self.root / "etc/yum.repos.d/lab.repo", REPOSITORY.format(port=self._server.server_port))
        put(self.root / "etc/os-release", "ID=lab\nVERSION_ID=1\n")
        run("rpm", "--root", self.root, "--initdb")
        self.offer(Tiny(name=SHELL))
        run("rpm", "--root", self.root, "--install", self._folder / f"{SHELL}-1.0.rpm")

    def offer(self, *packages: Tiny) -> None:
        self.publish(*packages)
        shutil.rmtree(self.root / "var/cache/dnf", ignore_errors=True)

    def publish(self, *packages: Tiny) -> None:
        new = [package for package in packages if repr(package) not in BUILT]
        if new:
            build(new, self._build)
        for package in packages:
            name = f"{package.name}-{package.version}.rpm"
            if package in new:
                BUILT[repr(package)] = (self._build / "RPMS" / name).read_bytes()
            (self._folder / name).write_bytes(BUILT[repr(package)])
        run("createrepo_c", "--quiet", "--update", "--no-database", self._folder)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def by_hand(self, *names: str) -> None:
        self._dnf("install", *names)

    def ask_for(self, name: str) -> None:
        self._dnf("mark", "install", name)

    def off_by_hand(self, *names: str) -> None:
        self._dnf("remove", *names)

    def hold(self, name: str) -> None:
        put(self.root / "etc/dnf/dnf.conf", f"{CONFIGURATION}exclude={name}\n")

    def withdraw(self) -> None:
        for package in self._folder.glob("*.rpm"):
            package.unlink()

    def spoil(self) -> None:
        (database,) = self.root.rglob("rpmdb.sqlite")
        for beside in database.parent.glob("rpmdb.sqlite-*"):
            beside.unlink()
        put(database, "nonsense\n" * 1000)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Its locks name a process that runs."""
        lock = self.root / "var/cache/dnf/metadata_lock.pid"
        locks = [
            lock,
            self.root / "var/cache/dnf/download_lock.pid",
            self.root / "var/lib/dnf/rpmdb_lock.pid",
        ]
        for lock in locks:
            put(lock, str(os.getpid()))
        yield
        for lock in locks:
            lock.unlink()

    def installed(self) -> dict[str, str]:
        said = run("rpm", "--root", self.root, "-qa", "--queryformat", "%{NAME} %{VERSION}\n")
        found = {line.split()[0]: line.split()[1] for line in said.splitlines()}
        del found[SHELL]
        return found

    def _dnf(self, *arguments: str) -> str:
        return run("dnf", "-y", "--quiet", f"--installroot={self.root}", "--releasever=1", *arguments)


BUILT: dict[str, bytes] = {}
"""The packages that were built already: many tests have the same."""


def build(packages: Sequence[Tiny], build: Path) -> None:
    specs = []
    for package in packages:
        spec = build / f"{package.name}.spec"
        put(spec, spec_of(package))
        specs.append(spec)
    defines = {"_topdir": build, "_rpmdir": build / "RPMS", "_rpmfilename": "%{NAME}-%{VERSION}.rpm"}
    defines |= {"_build_id_links": "none", "__os_install_post": "%{nil}", "_binary_payload": "w0.gzdio"}
    options = [part for name, value in defines.items() for part in ("--define", f"{name} {value}")]
    run("rpmbuild", "-bb", "--quiet", *options, *specs)


def spec_of(package: Tiny) -> str:
    head = {
        "Name": package.name,
        "Version": package.version,
        "Release": "1",
        "Summary": f"{package.name} of the lab",
        "License": "none",
        "BuildArch": "noarch",
        "AutoReqProv": "no",
        "Provides": "/bin/sh" if package.name == SHELL else "",
        "Requires": ", ".join(package.depends),
        "Conflicts": ", ".join(package.conflicts),
        "Obsoletes": ", ".join(package.replaces),
    }
    lines = [f"{key}: {value}" for key, value in head.items() if value]
    lines += ["%description", "of the lab", "%install", "mkdir -p %{buildroot}"]
    for path, content in package.files.items():
        lines += [f"mkdir -p %{{buildroot}}{Path(path).parent}", f"cat >%{{buildroot}}{path} <<'END'"]
        lines += [content.rstrip("\n"), "END"]
    if package.before_install:
        lines += ["%pre -p /bin/sh", package.before_install]
    if package.after_install:
        lines += ["%post -p /bin/sh", package.after_install]
    lines += ["%files"]
    for path in package.files:
        lines.append(f"%config(noreplace) {path}" if path in package.conffiles else path)
    return "\n".join(lines) + "\n"
