"""A repository behind https with a password: git's own server program behind a small one on this machine."""

from __future__ import annotations

import base64
import os
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mesh_adapters.build.git import GitSettings, Repositories
from mesh_core.model.source import (
    Commit,
    CommitGone,
    Newest,
    PathGone,
    RefGone,
    RepositoryAway,
    Source,
)
from tests.integration.build.repositories import ENVIRONMENT, Repository, listing

PASSWORD = "s3cr3t-word"
ALLOWED = "Basic " + base64.b64encode(f"reader:{PASSWORD}".encode()).decode()


class Handler(BaseHTTPRequestHandler):
    """Gives each request to `git http-backend`."""

    root: Path
    fetches: list[str]
    """The repositories that were fetched from, each time: whoever fetches asks for the refs first."""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if self.headers["Authorization"] != ALLOWED:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="x"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        given = self._given()
        path, _, query = self.path.partition("?")
        if path.endswith("/info/refs"):
            self.fetches.append(path.split("/")[1])
        environment = ENVIRONMENT | {
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(given)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
        }
        done = subprocess.run(
            ["git", "http-backend"], env=environment, input=given, capture_output=True, check=True
        )
        head, _, body = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        self.send_response(int(fields.pop("Status", "200").split()[0]))
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815 - the name is that of http.server

    def _given(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        given = b""
        while size := int(self.rfile.readline(), 16):
            given += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return given

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl")
    file, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    asked = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    names = ("-addext", "subjectAltName=IP:127.0.0.1")
    argv = ["openssl", *asked.split(), *names, "-keyout", str(key), "-out", str(file)]
    subprocess.run(argv, check=True, capture_output=True)
    return file


@pytest.fixture
def fetches() -> list[str]:
    return []


@pytest.fixture
def address(certificate: Path, fetches: list[str], tmp_path: Path) -> Iterator[str]:
    handler = type("Here", (Handler,), {"root": tmp_path, "fetches": fetches})
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_name("key.pem"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"https://127.0.0.1:{server.server_address[1]}/far/.git"
        server.shutdown()
        thread.join()


def test_over_https_with_a_password_from_a_file(address: str, certificate: Path, tmp_path: Path) -> None:
    far = Repository(tmp_path / "far")
    commit = far.commit({"mod/a": "1", "other": "2"})
    credentials = tmp_path / "with a space and 'quotes'"
    host = address.removeprefix("https://").partition("/")[0]
    line = f"https://reader:{PASSWORD}@{host}\n"

    def near(password: str) -> Repositories:
        credentials.write_text(line.replace(PASSWORD, password))
        credentials.chmod(0o600)
        settings = GitSettings(credentials=credentials, authorities=certificate)
        return Repositories(tmp_path / "near", settings=settings)

    wrong = near("wr0ng-word").look(Source(repository=address))
    assert isinstance(wrong, RepositoryAway)
    assert "Authentication failed" in wrong.why
    assert "wr0ng" not in wrong.why
    assert credentials.read_text() == line.replace(PASSWORD, "wr0ng-word")  # git would take it out

    right = near(PASSWORD)
    answer = right.check_out(address, commit, ("mod",), tmp_path / "into")
    assert isinstance(answer, Commit)
    assert listing(tmp_path / "into") == {"mod": "/", "mod/a": "644 1"}
    assert right.newest(address, "3" * 40, (".",)) == CommitGone(commit="3" * 40)
    for path in (tmp_path / "near").rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes()
    assert os.listdir(tmp_path / "near/home") == []


def test_without_a_password_or_the_certificate(address: str, certificate: Path, tmp_path: Path) -> None:
    Repository(tmp_path / "far").commit({"a": "1"})
    asked = Repositories(tmp_path / "near", settings=GitSettings(authorities=certificate))
    answer = asked.look(Source(repository=address))
    assert isinstance(answer, RepositoryAway)
    assert "terminal prompts disabled" in answer.why
    answer = Repositories(tmp_path / "near").look(Source(repository=address))
    assert isinstance(answer, RepositoryAway)
    assert "certificate" in answer.why


def test_of_many_sources_each_repository_is_fetched_from_once(
    address: str, fetches: list[str], certificate: Path, tmp_path: Path
) -> None:
    far, other = Repository(tmp_path / "far"), Repository(tmp_path / "other")
    shared = far.commit({"mod/a": "1", "shared/b": "1"})
    side = far.commit({"shared/b": "2"})
    far.git("branch", "side", side)
    last = far.commit({"mod/a": "2"})
    elsewhere = other.commit({"x": "1"})
    credentials = tmp_path / "credentials"
    host = address.removeprefix("https://").partition("/")[0]
    credentials.write_text(f"https://reader:{PASSWORD}@{host}\n")
    credentials.chmod(0o600)
    settings = GitSettings(credentials=credentials, authorities=certificate)

    def at(name: str, *paths: str, ref: str = "HEAD") -> Source:
        repository = address.replace("/far/", f"/{name}/")
        return Source(repository=repository, paths=paths or (".",), ref=ref)

    asked = [
        (at("far", "mod"), last),
        (at("other"), elsewhere),
        (at("none"), None),
        (at("far", "shared"), side),
        (at("far", "gone"), PathGone(path="gone")),
        (at("far", "mod"), last),
        (at("far", "mod", ref="side"), shared),
        (at("none", "mod"), None),
        (at("other", ref="side"), RefGone(ref="side")),
    ]
    near = Repositories(tmp_path / "near", settings=settings)
    answers = near.look_at([source for source, _ in asked])
    for answer, (_, expected) in zip(answers, asked, strict=True):
        if expected is None:
            assert isinstance(answer, RepositoryAway)
        else:
            assert (answer.commit.id if isinstance(answer, Newest) else answer) == expected
    assert sorted(fetches) == ["far", "none", "other"]
    assert near.look_at([]) == ()
