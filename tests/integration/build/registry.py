"""A registry of one's own: Debian's docker-registry, a child process, on a port and in a folder of its own.

It speaks TLS with a certificate of an authority that is thrown away with it. It needs no service and touches
none; it is ended by its process id, and by the kernel when whoever started it ends first.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import pytest

from tests.integration.broker.server import free_ports

NEEDED = ("docker-registry", "skopeo", "openssl", "setpriv")
START_SECONDS = 30

ACCOUNT, PASSWORD = "builder", "builder-secret"
# Of that password, by bcrypt, which is the one that docker-registry knows.
HTPASSWD = "builder:$2b$04$VF6H9MlZVVWz7NPjyqTI/uYybhfbklD8Chsh61nQ8fzSCXX6wLWfm\n"

CONFIGURATION = """
version: 0.1
log: {{level: warn}}
storage: {{filesystem: {{rootdirectory: {folder}/storage}}}}
http:
  addr: 127.0.0.1:{port}
  secret: of-no-use-to-anybody
  tls: {{certificate: {folder}/server.pem, key: {folder}/server.key}}
"""
AUTH = "auth: {{htpasswd: {{realm: test, path: {folder}/htpasswd}}}}\n"

CERTIFICATES = r"""
set -e
curve="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
mkdir ca other
for ca in ca other; do
    openssl req -x509 $curve -keyout $ca/ca.pem -out $ca/ca.crt -subj "/CN=$ca" -days 2 2>/dev/null
done
openssl req $curve -keyout server.key -out server.csr -subj /CN=localhost 2>/dev/null
printf 'subjectAltName=DNS:localhost\n' >names
openssl x509 -req -in server.csr -CA ca/ca.crt -CAkey ca/ca.pem -CAcreateserial -out server.pem -days 2 \
    -extfile names 2>/dev/null
"""


def why_not() -> str | None:
    """One line that says why there can be no registry here; None where there can."""
    lacking = [name for name in NEEDED if shutil.which(name) is None]
    return f"a registry needs {', '.join(lacking)} (sh scripts/system_packages.sh)" if lacking else None


def demand() -> None:
    """Skip a test where there can be no registry; CI skips nothing, so it fails there."""
    why = why_not()
    if why is not None and os.environ.get("CI") == "true":
        pytest.fail(f"{why}; CI skips nothing", pytrace=False)
    if why is not None:
        pytest.skip(why)


@pytest.fixture(scope="module")
def registry() -> Iterator[RegistryServer]:
    """A registry that lets everybody in."""
    demand()
    with RegistryServer() as server:
        yield server


@pytest.fixture(scope="module")
def guarded() -> Iterator[RegistryServer]:
    """A registry that lets in only who has `ACCOUNT` and `PASSWORD`."""
    demand()
    with RegistryServer(auth=True) as server:
        yield server


class RegistryServer:
    """A running registry; `with RegistryServer() as server:` starts it and leaves nothing behind."""

    def __init__(self, *, auth: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="meshwright-registry-"))
        (self.port,) = free_ports(1)
        self._auth = auth
        self._process: subprocess.Popen[bytes] | None = None
        subprocess.run(["sh", "-c", CERTIFICATES], cwd=self.folder, check=True, timeout=60)
        (self.folder / "htpasswd").write_text(HTPASSWD)
        text = CONFIGURATION + (AUTH if auth else "")
        (self.folder / "config.yml").write_text(text.format(folder=self.folder, port=self.port))

    @property
    def host(self) -> str:
        """Where it is, as its certificate calls it."""
        return f"localhost:{self.port}"

    @property
    def certificates(self) -> Path:
        """A folder with the authority that signed its certificate."""
        return self.folder / "ca"

    @property
    def other_certificates(self) -> Path:
        """A folder with an authority that signed nothing."""
        return self.folder / "other"

    def authfile(self, name: str, password: str = PASSWORD, mode: int = 0o600) -> Path:
        """A file that logs in here, as `podman login --authfile` writes it."""
        path = self.folder / name
        login = base64.b64encode(f"{ACCOUNT}:{password}".encode()).decode()
        path.write_text(json.dumps({"auths": {self.host: {"auth": login}}}))
        path.chmod(mode)
        return path

    def start(self) -> None:
        """Start it and wait until it answers."""
        with (self.folder / "said").open("ab") as said:
            self._process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", "docker-registry", "serve", "config.yml"],
                cwd=self.folder,
                env={"PATH": os.environ["PATH"], "HOME": str(self.folder)},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"docker-registry did not start:\n{(self.folder / 'said').read_text()}")
            time.sleep(0.02)

    def _answers(self) -> bool:
        try:
            self.get("/v2/")
        except OSError:
            return False
        return True

    def get(self, path: str, *, accept: str = "*/*") -> bytes:
        """What it says at a path, as somebody who may see all. Raises `OSError`."""
        login = base64.b64encode(f"{ACCOUNT}:{PASSWORD}".encode()).decode()
        headers = {"Accept": accept, "Authorization": f"Basic {login}"}
        request = urllib.request.Request(f"https://{self.host}{path}", headers=headers)
        context = ssl.create_default_context(cafile=self.certificates / "ca.crt")
        with urllib.request.urlopen(request, timeout=10, context=context) as answer:
            content: bytes = answer.read()
            return content

    def freeze(self) -> None:
        """Stop it from doing anything; it takes connections, and answers nothing."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        assert self._process is not None
        os.kill(self._process.pid, signal.SIGCONT)

    def stop(self) -> None:
        """End it, and remove its folder."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            self._process = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> RegistryServer:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
