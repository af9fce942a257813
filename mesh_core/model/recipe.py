"""How a module is built from its source: what a manifest's `build` says.

"files"                                                     the module's folder as it is
{"kind": "shell", "commands": ["make"], "output": "dist"}   commands, and the folder that they fill
{"kind": "container", "file": "Containerfile"}              an image
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from attrs import field, frozen

from mesh_core.faults import BadSource, InvalidValue
from mesh_core.model.source import source_path_fault

SECONDS = 600
"""How long a build may take, where its recipe says nothing."""
MOST_SECONDS = 1200
"""How long one may take at most."""
OVERALL_SECONDS = 1700
"""How long all of it may take, from source to registry: a broker takes a request back after 30 minutes."""


def _commands(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


def _some(_instance: object, _attribute: Any, value: tuple[str, ...]) -> None:
    if not value or not all(command.strip() and "\0" not in command for command in value):
        raise InvalidValue(BadSource(why="a shell build has commands, and none of them is empty"))


def _inside(_instance: object, _attribute: Any, value: str) -> None:
    why = source_path_fault(value)
    if why is not None:
        raise InvalidValue(BadSource(why=why))


def _bounded(_instance: object, _attribute: Any, value: int) -> None:
    if not 1 <= value <= MOST_SECONDS:
        raise InvalidValue(BadSource(why=f"a build takes 1 to {MOST_SECONDS} seconds, not {value}"))


@frozen(kw_only=True)
class Files:
    """The module's folder, as it is at the commit."""


@frozen(kw_only=True)
class Shell:
    """Commands for the shell, run in the module's folder in turn; `output` is the folder that they fill.

    `network` is whether they may use it; `seconds` how long all of it may take. Raises `InvalidValue`.
    """

    commands: tuple[str, ...] = field(converter=_commands, validator=_some)
    output: str = field(default="dist", validator=_inside)
    network: bool = False
    seconds: int = field(default=SECONDS, validator=_bounded)


@frozen(kw_only=True)
class Container:
    """An image, made from a Containerfile in the module's folder. Raises `InvalidValue`."""

    file: str = field(default="Containerfile", validator=_inside)
    network: bool = False
    seconds: int = field(default=SECONDS, validator=_bounded)


Recipe: TypeAlias = Files | Shell | Container
