"""Where things are: a flag beats an environment variable beats the config file beats the default."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from mesh_cli.exits import Exit, Stop

STORE_VARIABLE = "MESH_STORE"


def config_file() -> Path:
    """The config file, in the platform's place."""
    from platformdirs import user_config_path

    return user_config_path("meshwright") / "config.toml"


def store_path(flag: Path | None) -> Path:
    """Where the store is."""
    if flag is not None:
        return flag
    variable = os.environ.get(STORE_VARIABLE)
    if variable:
        return Path(variable)
    configured = _config().get("store")
    if configured is not None:
        return Path(configured).expanduser()
    from platformdirs import user_data_path

    return user_data_path("meshwright") / "mesh.db"


def _config() -> dict[str, Any]:
    path = config_file()
    try:
        config = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Stop(Exit.FAILED, "bad-config", f"{path} cannot be read: {error}") from None
    unknown = sorted(config.keys() - {"store"})
    if unknown:
        raise Stop(Exit.FAILED, "bad-config", f"{path}: unknown key {unknown[0]!r}; the key here is 'store'")
    if not isinstance(config.get("store", ""), str):
        raise Stop(Exit.FAILED, "bad-config", f"{path}: 'store' is the path of the store, as text")
    return config
