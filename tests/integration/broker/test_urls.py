"""Which URL means which broker, the credential file, and that no sentence has a password."""

import os
from pathlib import Path

import pytest

from mesh_adapters.broker import BadAddress, MemoryAddress, RabbitAddress, has_password, parse, read_file

SECRET = "hunter2"


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("memory://", MemoryAddress()),
        ("memory://demo", MemoryAddress(name="demo")),
        (
            "amqp://pi:hunter2@nas.lan",
            RabbitAddress(host="nas.lan", port=5672, account="pi", password=SECRET),
        ),
        (
            "AMQP://pi:hunter2@nas.lan:5000/",
            RabbitAddress(host="nas.lan", port=5000, account="pi", password=SECRET),
        ),
        (
            "amqps://p%40i:h%2Fu%25@[::1]/my%2Fmesh?ca=/etc/mesh/ca.pem",
            RabbitAddress(
                host="::1",
                port=5671,
                account="p@i",
                password="h/u%",
                virtual_host="my/mesh",
                tls=True,
                ca="/etc/mesh/ca.pem",
            ),
        ),
        ("amqp://localhost", RabbitAddress(host="localhost", port=5672, account="guest", password="guest")),
        ("amqp://pi@nas", RabbitAddress(host="nas", port=5672, account="pi", password="")),
    ],
)
def test_what_is_understood(url: str, address: object) -> None:
    assert parse(url) == address


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("filesystem://", "drops what is sent once its control folder is gone"),
        ("filesystem://pi:hunter2@x", "both measured"),
        ("sqla+sqlite:///mesh.db", "not yet saved when that host is killed"),
        ("sqlalchemy+postgresql://pi:hunter2@x/y", "not yet saved when that host is killed"),
        ("redis://:hunter2@x:6379/0", "newest message alone"),
        ("mongodb+srv://pi:hunter2@x", "newest message alone"),
        ("pyamqp://pi:hunter2@x", "use RabbitMQ, amqp://"),
        ("hunter2://x", "names no broker"),
        ("hunter2", "no URL"),
        ("amqp:pi:hunter2@x", "no URL"),
        ("", "no URL"),
        ("amqp://", "names no host"),
        ("amqp://pi:hunter2@", "names no host"),
        ("amqp://pi:hunter2@x:port", "malformed"),
        ("amqp://pi:hunter2/y@x", "malformed"),
        ("amqp://pi:[hunter2@x", "malformed"),
        ("amqp://pi:hunter2@x/a/b", "%2F"),
        ("amqp://pi:hunter2@x?heartbeat=hunter2", "only ?ca=FILE"),
        ("amqp://pi:hunter2@x?hunter2", "malformed"),
        ("amqp://pi:hunter2@x#hunter2", "only ?ca=FILE"),
        ("amqp://pi:hunter2@x?ca=/ca.pem", "goes with amqps"),
        ("amqps://pi:hunter2@x?ca=", "goes with amqps"),
        ("amqps://pi:hunter2@x?ca=a&ca=b", "only ?ca=FILE"),
        ("memory://pi:hunter2@x", "takes a name"),
        ("memory://x/y", "takes a name"),
    ],
)
def test_what_is_refused_and_never_with_its_password(url: str, why: str) -> None:
    found = parse(url)
    assert isinstance(found, BadAddress)
    assert why in found.why
    assert SECRET not in found.why
    assert SECRET not in repr(found)


def test_an_address_does_not_show_its_password() -> None:
    address = parse("amqps://pi:hunter2@[::1]:1/x")
    assert SECRET not in f"{address} {address!r}"
    assert str(address) == "amqps://[::1]:1"


@pytest.mark.parametrize(
    ("url", "has"),
    [
        ("amqp://pi:hunter2@x", True),
        ("amqp://:hunter2@x", True),
        ("amqp://pi:@x", True),
        ("amqp://pi:a@b@x", True),
        ("amqp://pi:a/b@x", True),
        ("amqp://pi@x", False),
        ("amqp://x:5672", False),
        ("memory://", False),
    ],
)
def test_a_url_with_a_password_is_known(url: str, has: bool) -> None:
    assert has_password(url) is has


# The credential file.


def written(path: Path, content: bytes, mode: int = 0o600) -> str:
    path.write_bytes(content)
    path.chmod(mode)
    return str(path)


def why(path: str) -> str:
    found = read_file(path)
    assert isinstance(found, BadAddress)
    assert SECRET not in repr(found)
    assert path in found.why
    return found.why


@pytest.mark.parametrize("mode", [0o600, 0o400])
@pytest.mark.parametrize(
    "content", [b"amqp://pi:hunter2@nas", b"amqp://pi:hunter2@nas\n", b"\n  amqp://pi:hunter2@nas \r\n\n"]
)
def test_a_file_of_ones_own_is_read(tmp_path: Path, content: bytes, mode: int) -> None:
    expected = RabbitAddress(host="nas", port=5672, account="pi", password=SECRET)
    assert read_file(written(tmp_path / "broker", content, mode)) == expected


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o601])
def test_a_file_that_others_may_use_is_refused_unread(tmp_path: Path, mode: int) -> None:
    path = written(tmp_path / "broker", b"amqp://pi:hunter2@nas", mode)
    assert f"chmod 600 {path}" in why(path)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b"amqp://pi:hunter2@nas\namqp://pi:hunter2@vps\n",
        b"\xff amqp://pi:hunter2@nas",
        b"amqp://pi:hunter2@nas" + bytes(20_000),
    ],
)
def test_a_file_that_is_not_one_line_is_refused(tmp_path: Path, content: bytes) -> None:
    assert "one line" in why(written(tmp_path / "broker", content))


def test_what_is_no_such_file_is_refused(tmp_path: Path) -> None:
    assert "No such file" in why(str(tmp_path / "missing"))
    assert "no plain file" in why(str(tmp_path))
    os.mkfifo(tmp_path / "pipe", 0o600)
    assert "no plain file" in why(str(tmp_path / "pipe"))
    assert "redis:// is refused" in why(written(tmp_path / "redis", b"redis://:hunter2@x"))
