"""Where the broker is and who one is there: the settings, and that no password is where others see it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mesh_adapters.broker import RabbitAddress
from mesh_cli.exits import Stop
from mesh_cli.settings import broker_credential, broker_named
from mesh_cli.wiring_broker import opened_broker, rabbit_named, with_login
from tests.integration.cli.program import mesh, ok

SECRET = "hunter2"


@pytest.fixture
def config(folder: Path) -> Path:
    """The config file, not there yet."""
    path = folder.parent / "home/.config/meshwright/config.toml"
    path.parent.mkdir(parents=True)
    return path


def credential(path: Path, account: str = "mesh.control", mode: int = 0o600) -> Path:
    path.write_text(json.dumps({"account": account, "password": SECRET}))
    path.chmod(mode)
    return path


def setup(*words: object) -> tuple[int, str, str]:
    ran = mesh("broker", "setup", "--admin", "admin.json", "--json", *words)
    assert SECRET not in ran.out + ran.err
    return ran.code, ran.error["code"], ran.err


def test_a_flag_beats_a_variable_beats_the_file(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Stop) as caught:
        broker_named(None)
    assert (caught.value.exit_code, caught.value.code) == (5, "no-broker")
    config.write_text("broker = 'amqp://configured'\nbroker_credential = 'secret.json'\n")
    assert broker_named(None).url == "amqp://configured"
    assert broker_credential() == config.parent / "secret.json"
    monkeypatch.setenv("MESH_BROKER", "amqp://variable")
    monkeypatch.setenv("MESH_BROKER_CREDENTIAL", "here.json")
    assert broker_named(None).url == "amqp://variable"
    assert broker_credential() == Path("here.json")
    assert broker_named("amqp://flag").url == "amqp://flag"
    monkeypatch.delenv("MESH_BROKER_CREDENTIAL")
    config.unlink()
    assert broker_credential() == config.parent / "broker.json"


def test_certificates_are_named_from_beside_the_config_file(config: Path) -> None:
    config.write_text("broker = 'amqps://configured?ca=ca.pem'\n")
    assert rabbit_named(None).ca == str(config.parent / "ca.pem")
    assert rabbit_named("amqps://flag?ca=ca.pem").ca == "ca.pem"


@pytest.mark.parametrize(
    "url", [f"amqp://me:{SECRET}@nas", f"amqps://:{SECRET}@nas/mesh", f"amqp://x:{SECRET}@"]
)
def test_a_password_in_an_address_is_refused_wherever_it_stands(
    config: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    code, error, said = setup("--broker", url)
    assert (code, error) == (64, "password-in-address")
    assert str(config.parent / "broker.json") in said
    config.write_text(f"broker = '{url}'\n")
    code, error, said = setup()
    assert (code, error) == (1, "password-in-address")
    assert str(config) in said
    monkeypatch.setenv("MESH_BROKER", url)
    code, error, said = setup()
    assert (code, error) == (1, "password-in-address")
    assert said.startswith("MESH_BROKER has a password")


def test_what_is_no_address(folder: Path) -> None:
    assert setup("--broker", "redis://nas")[:2] == (64, "bad-address")
    assert setup("--broker", "memory://")[:2] == (1, "no-accounts")
    ran = mesh(
        "node", "invite", "pi", "--admin", "admin.json", "--broker", "amqp://nas", "--reach", "memory://"
    )
    assert ran.code == 64


def test_in_one_process_no_credential_is_needed(folder: Path) -> None:
    with opened_broker("memory://demo") as broker:
        broker.add_nodes(["pi"])
        assert broker.waiting(["pi"]) == {"pi": 0}
    with pytest.raises(RuntimeError):
        broker.add_nodes(["pi"])


def test_the_credential_is_read_from_its_file(config: Path) -> None:
    place = config.parent / "broker.json"
    with pytest.raises(Stop) as caught:
        with_login(rabbit_named("amqp://nas"), "amqp://nas")
    assert (caught.value.exit_code, caught.value.code) == (5, "no-credential")
    assert str(place) in caught.value.lines[0]
    credential(place)
    address = with_login(rabbit_named("amqp://nas/mesh"), "amqp://nas/mesh")
    assert address == RabbitAddress(
        host="nas", port=5672, account="mesh.control", password=SECRET, virtual_host="mesh"
    )
    assert with_login(rabbit_named("amqp://mesh.control@nas"), "amqp://mesh.control@nas").password == SECRET
    with pytest.raises(Stop) as caught:
        with_login(rabbit_named("amqp://other@nas"), "amqp://other@nas")
    assert caught.value.code == "other-account"


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (None, 0o640, "chmod 600"),
        (None, 0o604, "chmod 600"),
        ("{}", 0o600, "one JSON object"),
        (f'{{"account": "", "password": "{SECRET}"}}', 0o600, "one JSON object"),
        (f'{{"account": "a:b", "password": "{SECRET}"}}', 0o600, "one JSON object"),
        (f'{{"account": "a", "password": "{SECRET}", "x": 1}}', 0o600, "one JSON object"),
        (f"{SECRET}\n", 0o600, "one JSON object"),
        ("[" * 9000, 0o600, "one JSON object"),
        (" " * 20000 + "{}", 0o600, "one JSON object"),
    ],
)
def test_a_credential_that_is_not_fit(config: Path, content: str | None, mode: int, said: str) -> None:
    place = credential(config.parent / "broker.json", mode=mode)
    if content is not None:
        place.write_text(content)
    with pytest.raises(Stop) as caught:
        with_login(rabbit_named("amqp://nas"), "amqp://nas")
    assert (caught.value.exit_code, caught.value.code) == (1, "bad-credential")
    assert said in caught.value.lines[0]
    assert SECRET not in caught.value.lines[0]


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        ({"rabbitmqctl": True}, 0o644, "chmod 600"),
        ({"rabbitmqctl": False}, 0o600, "one JSON object"),
        ({"management": "http://nas:15672"}, 0o600, "one JSON object"),
        ({"management": "nas:15672", "account": "a", "password": SECRET}, 0o600, "URL like"),
        ({"management": f"http://a:{SECRET}@nas", "account": "a", "password": SECRET}, 0o600, "URL like"),
        ({"management": "ftp://nas", "account": "a", "password": SECRET}, 0o600, "URL like"),
        ({"management": "http://nas:x", "account": "a", "password": SECRET}, 0o600, "URL like"),
        ({"management": "http://nas/?a", "account": "a", "password": SECRET}, 0o600, "URL like"),
    ],
)
def test_an_administrators_file_that_is_not_fit(
    folder: Path, content: dict[str, object], mode: int, said: str
) -> None:
    (folder / "admin.json").write_text(json.dumps(content))
    (folder / "admin.json").chmod(mode)
    code, error, words = setup("--broker", "amqp://nas")
    assert (code, error) == (1, "bad-credential")
    assert said in words


def test_an_administrators_file_that_is_missing(folder: Path) -> None:
    ok("init", "--store", "mesh.db")
    code, error, words = setup("--broker", "amqp://nas")
    assert (code, error) == (1, "bad-credential")
    assert "cannot be read: No such file" in words
