"""Where things are: a flag beats an environment variable beats the config file beats the default."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any, NamedTuple

from mesh_cli.exits import Exit, Stop

STORE_VARIABLE = "MESH_STORE"
BROKER_VARIABLE = "MESH_BROKER"
CREDENTIAL_VARIABLE = "MESH_BROKER_CREDENTIAL"
_KEYS = {
    "store": "the path of the store",
    "broker": "the broker's address, amqp(s)://host:port/vhost",
    "broker_credential": "the path of the file with the broker's account and password",
    "git_credentials": "the path of a file with names and passwords for https, as git's credential store has",
    "git_identity": "the path of a private key for ssh",
    "git_known_hosts": "the path of a file with the hosts that ssh may talk to",
}
_NO_CREDENTIAL = (
    "there is no home directory to keep the broker's credential in; say where it is with "
    "MESH_BROKER_CREDENTIAL"
)
_NO_BROKER = (
    "no broker is named; say where it is with --broker, MESH_BROKER or 'broker' in the config file "
    "(amqp://HOST, amqps://HOST)"
)
_NO_CACHE = "there is no home directory to keep copies of repositories in; set HOME or XDG_CACHE_HOME"
_NO_HOME = "there is no home directory to keep a store in; say where it is with --store or MESH_STORE"


def config_file() -> Path | None:
    """The config file, in the platform's place; None for somebody who has no home."""
    from platformdirs import user_config_path

    try:
        return user_config_path("meshwright") / "config.toml"
    except RuntimeError:
        return None


def store_path(flag: Path | None) -> Path:
    """Where the store is.

    A relative path of the flag or the variable begins where the person is; one of the config file
    beside that file, so that it names the same store from everywhere.
    """
    if flag is not None:
        return flag
    variable = os.environ.get(STORE_VARIABLE)
    if variable:
        return Path(variable)
    configured = _configured("store")
    if configured is not None:
        return configured
    from platformdirs import user_data_path

    try:
        return user_data_path("meshwright") / "mesh.db"
    except RuntimeError:
        raise Stop(Exit.OUT_OF_REACH, "no-store", _NO_HOME) from None


class Named(NamedTuple):
    """A broker's address as somebody said it, where they said it, and from where its paths begin."""

    url: str
    where: str
    folder: Path


def broker_named(flag: str | None) -> Named:
    """The broker that is meant. Stops where none is."""
    named = broker_said(flag)
    if named is None:
        raise Stop(Exit.OUT_OF_REACH, "no-broker", _NO_BROKER)
    return named


def broker_said(flag: str | None) -> Named | None:
    """The same, and None where no broker is meant."""
    if flag is not None:
        return Named(flag, "--broker", Path())
    variable = os.environ.get(BROKER_VARIABLE)
    if variable:
        return Named(variable, BROKER_VARIABLE, Path())
    path = config_file()
    said = None if path is None else _config(path).get("broker")
    if path is None or said is None:
        return None
    return Named(said, f"'broker' in {path}", path.parent)


def broker_credential() -> Path:
    """Where the file with the broker's account and password is, or is to be; paths begin as a store's do."""
    variable = os.environ.get(CREDENTIAL_VARIABLE)
    if variable:
        return Path(variable)
    path = config_file()
    if path is None:
        raise Stop(Exit.OUT_OF_REACH, "no-credential", _NO_CREDENTIAL)
    return _configured("broker_credential") or path.parent / "broker.json"


def repositories_folder() -> Path:
    """Where copies of repositories are kept, which may be removed at any time."""
    from platformdirs import user_cache_path

    try:
        return user_cache_path("meshwright") / "repositories"
    except RuntimeError:
        raise Stop(Exit.FAILED, "no-home", _NO_CACHE) from None


def git_files() -> dict[str, Path]:
    """The files that git may use, by what they are; those that are not said are not in it."""
    found = {}
    for name in ("credentials", "identity", "known_hosts"):
        variable = os.environ.get(f"MESH_GIT_{name.upper()}")
        said = Path(variable) if variable else _configured(f"git_{name}")
        if said is not None:
            found[name] = said
    return found


def _configured(key: str) -> Path | None:
    """The path that the config file has under that key; a relative one begins beside it."""
    path = config_file()
    if path is None:
        return None
    said = _config(path).get(key)
    if said is None:
        return None
    try:
        return path.parent / Path(said).expanduser()
    except RuntimeError:
        line = f"{path}: {key!r} begins with {Path(said).parts[0]!r}, and there is no such home directory"
        raise Stop(Exit.FAILED, "bad-config", line) from None


def _config(path: Path) -> dict[str, Any]:
    try:
        config = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise Stop(Exit.FAILED, "bad-config", f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Stop(Exit.FAILED, "bad-config", f"{path} cannot be read: it is no UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise Stop(Exit.FAILED, "bad-config", f"{path} cannot be read: no TOML: {error}") from None
    unknown = sorted(config.keys() - _KEYS.keys())
    if unknown:
        line = f"{path}: unknown key {unknown[0]!r}; the keys here are {', '.join(map(repr, _KEYS))}"
        raise Stop(Exit.FAILED, "bad-config", line)
    for key, value in config.items():
        if not isinstance(value, str) or not value:
            raise Stop(Exit.FAILED, "bad-config", f"{path}: {key!r} is {_KEYS[key]}, as text")
    return config
