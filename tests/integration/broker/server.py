"""A RabbitMQ of one's own: Debian's, as a child process, on ports and in a folder of its own.

Needs no service and touches none. It and its epmd are ended by their process ids, and by the kernel
when whoever started them ends first.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType

from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.topology import CONTROL_PLANE, Permissions

PROGRAMS = Path("/usr/lib/rabbitmq/bin")
NEEDED = ("epmd", "erl", "setpriv", "openssl")
START_SECONDS = 90

CONFIGURATION = r"""
listeners.tcp.1 = 127.0.0.1:{port}
listeners.ssl.1 = 127.0.0.1:{tls_port}
ssl_options.certfile = {folder}/server.pem
ssl_options.keyfile = {folder}/server.key
ssl_options.verify = verify_none
ssl_options.fail_if_no_peer_cert = false
default_user = control
default_pass = control-secret
default_permissions.configure = {configure}
default_permissions.read = {read}
default_permissions.write = {write}
management.tcp.ip = 127.0.0.1
management.tcp.port = {management_port}
disk_free_limit.absolute = 1MB
log.file.level = info
"""

CERTIFICATES = """
set -e
for ca in ca other; do
    openssl req -x509 -newkey rsa:2048 -nodes -keyout $ca.key -out $ca.pem -subj "/CN=$ca" -days 2 2>/dev/null
done
openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=localhost 2>/dev/null
printf 'subjectAltName=DNS:localhost\\n' >names
openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out server.pem -days 2 \
    -extfile names 2>/dev/null
"""


def why_not() -> str | None:
    """One line that says why there can be no RabbitMQ here; None where there can."""
    if not (PROGRAMS / "rabbitmq-server").exists():
        return "no RabbitMQ is installed (sh scripts/system_packages.sh)"
    lacking = [name for name in NEEDED if shutil.which(name) is None]
    return f"RabbitMQ needs {', '.join(lacking)} on PATH" if lacking else None


class RabbitServer:
    """A running broker; `with RabbitServer() as server:` starts it and leaves nothing behind."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="meshwright-rabbit-"))
        ports = free_ports(5)
        self.port, self.tls_port, self.management_port, self._epmd_port, self._distribution_port = ports
        self._broker: subprocess.Popen[bytes] | None = None
        self._epmd: subprocess.Popen[bytes] | None = None
        self._write_files()

    def _write_files(self) -> None:
        for name in ("mnesia", "log", "home"):
            (self.folder / name).mkdir()
        (self.folder / "enabled_plugins").write_text("[rabbitmq_management].\n")
        (self.folder / "rabbitmq.conf").write_text(
            CONFIGURATION.format(
                port=self.port,
                tls_port=self.tls_port,
                management_port=self.management_port,
                folder=self.folder,
                configure=CONTROL_PLANE.configure,
                read=CONTROL_PLANE.read,
                write=CONTROL_PLANE.write,
            )
        )
        subprocess.run(["sh", "-c", CERTIFICATES], cwd=self.folder, check=True, timeout=60)

    @property
    def environment(self) -> dict[str, str]:
        """What the broker and its tools are started with: nothing of the machine's own RabbitMQ."""
        folder = self.folder
        return {
            "PATH": os.environ["PATH"],
            "HOME": f"{folder}/home",
            "LANG": "C.UTF-8",
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"mesh-{self.port}@localhost",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_MNESIA_BASE": f"{folder}/mnesia",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_CONFIG_FILE": f"{folder}/rabbitmq.conf",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{folder}/advanced.config",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/rabbitmq-env.conf",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/enabled_plugins",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
            # One scheduler, which sleeps when it has nothing to do: a test machine has few processors.
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": (
                "+S 1:1 +sbwt none -kernel inet_dist_use_interface {127,0,0,1}"
            ),
            # Its start script then becomes the broker instead of waiting for it: one process id.
            "detached": "true",
        }

    def start(self) -> None:
        """Start it, with what it had when it was killed, and wait until it takes connections."""
        if self._epmd is None:
            self._epmd = self._spawn(["epmd", "-port", str(self._epmd_port), "-address", "127.0.0.1"])
        self._broker = self._spawn([str(PROGRAMS / "rabbitmq-server")])
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if self._broker.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"RabbitMQ did not start:\n{(self.folder / 'said').read_text()}")
            time.sleep(0.1)

    def _spawn(self, argv: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "said").open("ab") as said:
            return subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *argv],
                cwd=self.folder,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                connection.sendall(b"AMQP\0\0\x09\x01")
                return connection.recv(1) == b"\x01"
        except OSError:
            return False

    @property
    def management(self) -> str:
        """Where its management interface is; `control` is its administrator."""
        return f"http://127.0.0.1:{self.management_port}"

    @property
    def pid(self) -> int:
        """The broker's process."""
        assert self._broker is not None
        return self._broker.pid

    def kill(self) -> None:
        """End the broker as a power switch would, except that the disk has all that was written."""
        if self._broker is not None:
            self._broker.kill()
            self._broker.wait(30)
            self._broker = None

    def freeze(self) -> None:
        """Stop it from doing anything, connections stay open."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def ctl(self, *arguments: str) -> str:
        """Run rabbitmqctl; what it prints."""
        done = subprocess.run(
            [str(PROGRAMS / "rabbitmqctl"), "--quiet", *arguments],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"rabbitmqctl {arguments}: {done.stdout}{done.stderr}")
        return done.stdout

    def add_account(self, account: str, permissions: Permissions) -> None:
        """An account whose password is its name and `-secret`."""
        self.ctl("add_user", account, f"{account}-secret")
        self.ctl("set_permissions", account, permissions.configure, permissions.write, permissions.read)

    def address(self, account: str = "control") -> RabbitAddress:
        """The broker, as this account."""
        return RabbitAddress(host="127.0.0.1", port=self.port, account=account, password=f"{account}-secret")

    def tls_address(self, host: str = "localhost", ca: str = "ca") -> RabbitAddress:
        """The broker over TLS, whose certificate is for localhost and signed by `ca`."""
        return RabbitAddress(
            host=host,
            port=self.tls_port,
            account="control",
            password="control-secret",
            tls=True,
            ca=str(self.folder / f"{ca}.pem"),
        )

    def stop(self) -> None:
        """End it and its epmd, and remove its folder."""
        self.kill()
        if self._epmd is not None:
            self._epmd.kill()
            self._epmd.wait(30)
            self._epmd = None
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> RabbitServer:
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


def free_ports(count: int) -> list[int]:
    """Ports of 127.0.0.1 that nobody uses at this moment, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
