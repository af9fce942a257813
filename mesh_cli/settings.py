"""Where things are: a flag beats an environment variable beats the config file beats the default."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from mesh_cli.exits import Exit, Stop

STORE_VARIABLE = "MESH_STORE"
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
    configured = _configured_store()
    if configured is not None:
        return configured
    from platformdirs import user_data_path

    try:
        return user_data_path("meshwright") / "mesh.db"
    except RuntimeError:
        raise Stop(Exit.OUT_OF_REACH, "no-store", _NO_HOME) from None


def _configured_store() -> Path | None:
    path = config_file()
    if path is None:
        return None
    said = _config(path).get("store")
    if said is None:
        return None
    try:
        return path.parent / Path(said).expanduser()
    except RuntimeError:
        line = f"{path}: 'store' begins with {Path(said).parts[0]!r}, and there is no such home directory"
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
    unknown = sorted(config.keys() - {"store"})
    if unknown:
        raise Stop(Exit.FAILED, "bad-config", f"{path}: unknown key {unknown[0]!r}; the key here is 'store'")
    store = config.get("store", "mesh.db")
    if not isinstance(store, str) or not store:
        raise Stop(Exit.FAILED, "bad-config", f"{path}: 'store' is the path of the store, as text")
    return config
