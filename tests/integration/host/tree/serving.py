"""A registry that does what a test says: a small server over TLS, in a thread of the test, on loopback."""

from __future__ import annotations

import ssl
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

from tests.integration.build.registry import CERTIFICATES
from tests.integration.host.tree.artifacts import Made

Answer = Callable[[BaseHTTPRequestHandler, bytes], None]


def certificates(folder: Path) -> None:
    """An authority, and what it says of `localhost`."""
    subprocess.run(["sh", "-c", CERTIFICATES], cwd=folder, check=True, timeout=60)


def plainly(request: BaseHTTPRequestHandler, content: bytes) -> None:
    request.send_response(200)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content)


class Serving:
    """Serves the blobs of artifacts; `answers` says by digest how else, and `seen` is what was asked."""

    def __init__(self, folder: Path, *artifacts: Made) -> None:
        self.blobs = {digest: content for one in artifacts for digest, content in one.blobs.items()}
        self.answers: dict[str, Answer] = {}
        self.seen: list[tuple[str, str | None]] = []
        self.ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "server.pem", folder / "server.key")
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def host(self) -> str:
        return f"localhost:{self._server.server_port}"

    @property
    def source(self) -> str:
        return f"https://{self.host}/mesh/web"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        serving = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                serving.seen.append((self.path, self.headers.get("Authorization")))
                self.close_connection = True
                digest = self.path.rpartition("/")[2]
                content = serving.blobs.get(digest)
                if content is None:
                    self.send_error(404)
                    return
                with suppress(OSError):  # the other end has had enough
                    serving.answers.get(digest, plainly)(self, content)

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def __enter__(self) -> Serving:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ended.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
