"""What a builder is to do and where: a flag beats a variable beats the file builder.toml beats the default.

    registry = "docker://registry.example.org/mesh"
    registry_credentials = "registry.json"      # of skopeo or podman, mode 0600
    git_identity = "/etc/mesh-builder/id_ed25519"

Each key has a variable, `MESH_BUILDER_` and its name in capitals. No secret stands here: only which files
have one. A relative path of the file begins beside it, any other where one is.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import asdict, field, frozen

from mesh_cli.exits import Exit, Stop

VARIABLES = "MESH_BUILDER_"
_PATHS = {
    "registry_credentials": "the path of a file with the registry's logins, as skopeo login writes it",
    "registry_certificates": "the path of a folder with *.crt of the authorities that vouch for the registry",
    "git_credentials": "the path of a file with names and passwords for https, as git's credential store has",
    "git_identity": "the path of a private key for ssh",
    "git_known_hosts": "the path of a file with the hosts that ssh may talk to",
    "git_authorities": "the path of a PEM file with the authorities that vouch for https",
    "base_images": "the path of a containers-registries.conf for the images that others begin with",
    "state": "the path of the folder that the builder works in",
}
_FLAGS = {
    "allow_container": "true where images may be made",
    "without_sandbox": "true where builds may go without bubblewrap",
}
_KEYS = {"registry": "where artifacts go, oci:/FOLDER or docker://HOST[:PORT]/PREFIX", **_PATHS, **_FLAGS}
_TRUE, _FALSE = ("1", "true", "yes"), ("0", "false", "no")


@frozen(kw_only=True)
class Places:
    """Where a builder finds its file and its credential, and works where nobody says another place."""

    config: Path
    credential: Path
    state: Path


@frozen(kw_only=True)
class Settings:
    """What a builder is told. `registry_said` is where the registry was."""

    registry: str
    registry_said: str
    state: Path
    paths: Mapping[str, Path] = field(factory=dict)
    allow_container: bool = False
    without_sandbox: bool = False

    def path(self, key: str) -> Path | None:
        """The file of that key; None where none was said."""
        return self.paths.get(key)


def places(root: Path, credential: str, *, privileged: bool) -> Places:
    """The machine's places under a root directory, else those of somebody who is not root."""
    if privileged or root != Path("/"):
        config = root / "etc/mesh-builder/builder.toml"
        return Places(config=config, credential=root / credential, state=root / "var/lib/mesh-builder")
    from platformdirs import user_config_path, user_state_path

    try:
        state = user_state_path("meshwright") / "builder"
        config = user_config_path("meshwright") / "builder.toml"
    except RuntimeError:
        line = "there is no home directory to keep a builder in; --root says another place"
        raise Stop(Exit.OUT_OF_REACH, "no-home", line) from None
    return Places(config=config, credential=state / "credential.json", state=state)


def settings(found: Places, flags: Mapping[str, Any], variables: Mapping[str, str] = os.environ) -> Settings:
    """What was said, by whichever way. Stops at what is not understood, and where no registry is named."""
    said = {**_in_file(found.config), **_in_environment(variables), **_of_flags(flags)}
    if "registry" not in said:
        line = (
            f"no registry is named; say it with --registry, {VARIABLES}REGISTRY or 'registry' in "
            f"{found.config} ({_KEYS['registry']})"
        )
        raise Stop(Exit.OUT_OF_REACH, "no-registry", line)
    registry, where = said["registry"]
    paths = {key: Path(said[key][0]) for key in _PATHS if key in said}
    return Settings(
        registry=registry,
        registry_said=where,
        state=paths.pop("state", found.state),
        paths=paths,
        **{key: bool(said[key][0]) for key in _FLAGS if key in said},
    )


def to_text(told: Settings) -> str:
    """The same as one argument of a command: names of files, and nothing that is in them."""
    return json.dumps(asdict(told), default=str)


def from_text(text: str) -> Settings:
    """What `to_text` gave."""
    data = json.loads(text)
    paths = {key: Path(path) for key, path in data.pop("paths").items()}
    return Settings(**data | {"state": Path(data["state"]), "paths": paths})


_Said = dict[str, tuple[Any, str]]
"""By key: the value, and where it was said."""


def _of_flags(flags: Mapping[str, Any]) -> _Said:
    return {
        key: (Path(value).absolute() if key in _PATHS else value, f"--{key.replace('_', '-')}")
        for key, value in flags.items()
        if value not in (None, False)
    }


def _in_environment(variables: Mapping[str, str]) -> _Said:
    found: _Said = {}
    for key in _KEYS:
        variable = VARIABLES + key.upper()
        value = variables.get(variable)
        if not value:
            continue
        if key in _FLAGS and value.lower() not in _TRUE + _FALSE:
            line = f"{variable} is neither of {', '.join(_TRUE)} nor of {', '.join(_FALSE)}"
            raise Stop(Exit.FAILED, "bad-config", line)
        flag = value.lower() in _TRUE if key in _FLAGS else value
        found[key] = (Path(value).absolute() if key in _PATHS else flag, variable)
    return found


def _in_file(path: Path) -> _Said:
    try:
        config = tomllib.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        raise _unread(path, str(error.strerror)) from None
    except UnicodeDecodeError:
        raise _unread(path, "it is no UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise _unread(path, f"no TOML: {error}") from None
    unknown = sorted(config.keys() - _KEYS.keys())
    if unknown:
        line = f"{path}: unknown key {unknown[0]!r}; the keys here are {', '.join(map(repr, _KEYS))}"
        raise Stop(Exit.FAILED, "bad-config", line)
    return {key: (_valued(path, key, value), f"{key!r} in {path}") for key, value in config.items()}


def _unread(path: Path, why: str) -> Stop:
    return Stop(Exit.FAILED, "bad-config", f"{path} cannot be read: {why}")


def _valued(path: Path, key: str, value: object) -> object:
    fits = isinstance(value, bool) if key in _FLAGS else isinstance(value, str) and bool(value)
    if not fits:
        kind = "without quotes" if key in _FLAGS else "as text"
        raise Stop(Exit.FAILED, "bad-config", f"{path}: {key!r} is {_KEYS[key]}, {kind}")
    return (path.parent / str(value)).absolute() if key in _PATHS else value
