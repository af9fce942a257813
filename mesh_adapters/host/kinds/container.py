"""`container`: an image, run by Podman in a unit of systemd, `mesh-NAME.service`.

    {kind = "container", name = "web", image = "docker.io/library/caddy@sha256:…", ports = ["8080:80"]}

An image is named by its digest only, so that what runs is what was declared. The unit is a plain one that
runs `podman run`, since quadlets need Podman 4.4. The image is fetched ahead of time, and stays when the
mesh lets go.
"""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from mesh_adapters.host.attributes import paths, text, texts
from mesh_adapters.host.commands import Ended, command
from mesh_adapters.host.files import words_of
from mesh_adapters.host.kind import (
    Acted,
    Attribute,
    AttributeFault,
    Brought,
    Context,
    Done,
    Failed,
    Observed,
    Prepared,
    SimpleKind,
    Unobservable,
)
from mesh_adapters.host.kinds.service import without_running
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.parents import missing_parents
from mesh_adapters.host.systemd import SETTLED, Unit, bring_up, change, look_at, look_at_one, reread
from mesh_core import Resource
from mesh_core.reconcile import LET_GO, Action, Fact, State, Wanted

PULL_SECONDS = 1800.0
_ASK_SECONDS = 60.0
_NO_SUCH_PROGRAM = 127

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,100}")
_IMAGE = re.compile(r"[a-z0-9][a-z0-9.-]*(:\d+)?(/[a-z0-9][a-z0-9._-]*)+@sha256:[0-9a-f]{64}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

_NOTHING = "none"
"""The fact `unit` where there is no file of a unit."""


def _is_environment(value: Any) -> bool:
    return isinstance(value, dict) and all(
        isinstance(text, str) and _VARIABLE.fullmatch(name) for name, text in value.items()
    )


class Container(SimpleKind):
    """The kind `container`. Its unit has to be active for `settled` seconds after its start.

    What is not there has a state as well: no file of a unit, not enabled, not running. Making one takes
    several steps, and who was killed between them finds each fact as it was or as it was to be.
    """

    name = "container"
    place: Literal["path", "name"] = "name"
    attributes: tuple[Attribute, ...] = (
        text("image", "an image by its digest, like docker.io/library/caddy@sha256:…", needed=True),
        texts("command"),
        Attribute(name="environment", wanted="an object of names and texts", fits=_is_environment),
        texts("volumes", 'a list of texts like "/srv/web:/data:ro"'),
        texts("ports", 'a list of texts like "8080:80"'),
        text("network", 'text like "host" or "none"'),
        paths("restart_on"),
    )

    def __init__(self, settled: float = SETTLED) -> None:
        self._settled = settled

    def faults(self, resource: Resource) -> Iterator[AttributeFault]:
        """Its name is one for a unit, its image has a digest, and no text would break the unit."""
        if _NAME.fullmatch(str(resource.name)) is None:
            wanted = "letters, digits and _ . -, as the name of a container has"
            yield AttributeFault(key="name", found=f"found {resource.name!r}", wanted=wanted)
        image = resource.attributes.get("image")
        if isinstance(image, str) and _IMAGE.fullmatch(image) is None:
            yield AttributeFault(key="image", found=f"found {image!r}", wanted=_what_an_image_is(image))
        for key, value in resource.attributes.items():
            if any(_CONTROL.search(item) for item in _texts_in(value)):
                yield AttributeFault(key=key, found="a control character", wanted="text without one")

    def prepare(self, resource: Resource, context: Context) -> Prepared:
        """Its unit as it is to be written, enabled and running."""
        content = unit_of(resource).encode()
        facts: dict[str, Fact] = {"unit": _digest(content), "enabled": True, "running": True}
        wanted = Wanted(
            identity=resource.identity,
            kind=self.name,
            state=State(facts=facts),
            watches=[f"path:{path}" for path in resource.attributes.get("restart_on", [])],
        )
        return Prepared(wanted=wanted, content=content)

    def on(self, machine: Machine, state: State) -> State:
        """Nothing runs under a root."""
        return state if machine.running else without_running(state)

    def observe(self, resources: Sequence[Resource], machine: Machine) -> Mapping[str, Observed]:
        """The unit's file, and whether it is enabled and running."""
        units = look_at([_unit_name(resource) for resource in resources], machine)
        if isinstance(units, Unobservable):
            return {resource.identity: units for resource in resources}
        return {r.identity: self._seen(r, units[_unit_name(r)], machine) for r in resources}

    def fetch(self, resources: Sequence[Resource], machine: Machine) -> Failed | None:
        """The images, unless they are there. Where there is no Podman yet, they come with the start."""
        if not machine.running:
            return None
        for image in dict.fromkeys(str(resource.attributes["image"]) for resource in resources):
            there = _podman(machine, "image", "exists", image, seconds=_ASK_SECONDS)
            if there.code == _NO_SUCH_PROGRAM:
                return None
            failed = None if there.well else _pull(image, machine)
            if failed is not None:
                return failed
        return None

    def brings(self, action: Action, resource: Resource, machine: Machine) -> Brought | Failed:
        """The directory of units, in an image that has none yet."""
        if action.act in LET_GO:
            return Brought()
        return missing_parents(action, Resource(kind="file", path=_unit_path(resource)), machine)

    def act(self, action: Action, resource: Resource, content: bytes | None, machine: Machine) -> Acted:
        """Write its unit, enable it, (re)start it; or take all of that off again."""
        try:
            if action.act in LET_GO:
                return _take_off(resource, machine) or Done()
            return self._make(action, resource, content or b"", machine) or Done()
        except OSError as error:
            return Failed(why=words_of(error, _unit_path(resource)))

    def _seen(self, resource: Resource, unit: Unit, machine: Machine) -> Observed:
        path = _unit_path(resource)
        try:
            found = machine.files.look(path)
        except OSError as error:
            return Unobservable(why=words_of(error, path))
        file = _NOTHING if found is None else _short(found.sha256 or found.type)
        enabled = unit.enabled and unit.loaded
        facts: dict[str, Fact] = {"unit": file, "enabled": enabled, "running": unit.runs(time.monotonic())}
        return self.on(machine, State(facts=facts))

    def _make(self, action: Action, resource: Resource, content: bytes, machine: Machine) -> Failed | None:
        if action.before is not None and action.before.get("unit") != _NOTHING:
            why = f"{_unit_path(resource)} was there before the mesh; move it away, and apply again"
            return Failed(why=why)
        name, facts = _unit_name(resource), {} if action.observed is None else action.observed.as_data()
        rewritten = facts.get("unit") != _digest(content)
        owner = "root" if machine.privileged else None
        if rewritten:
            machine.files.write(_unit_path(resource), content, mode="0644", owner=owner, group=owner)
        failed = reread(machine) or (None if facts.get("enabled") else change(machine, "enable", name))
        if failed is not None or not machine.running:
            return failed
        if facts.get("running") and not rewritten and not action.because:
            return None
        return self.fetch([resource], machine) or bring_up(name, "restart", machine, self._settled)


def unit_of(resource: Resource) -> str:
    """The text of its unit."""
    given, name = resource.attributes, f"mesh-{resource.name}"
    options = [f"--network={given['network']}"] if "network" in given else []
    options += [f"--env={key}={value}" for key, value in sorted(given.get("environment", {}).items())]
    options += [f"--volume={volume}" for volume in given.get("volumes", [])]
    options += [f"--publish={port}" for port in given.get("ports", [])]
    run = ["podman", "run", "--rm", "--replace", f"--name={name}", "--log-driver=none", *options]
    return _UNIT.format(
        name=resource.name,
        run=" ".join(_quoted(word) for word in [*run, given["image"], *given.get("command", [])]),
        container=name,
    )


# It is replaced and removed by its name, one that nobody else gives: what a crash left behind does not keep
# it from starting. Its output goes to the journal of the unit, and only there.
_UNIT = """\
# Written by mesh-host for the container {name}. What is changed here is put back.
[Unit]
Description=Container {name}
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart={run}
ExecStop=-podman stop --ignore --time=10 {container}
ExecStopPost=-podman rm --force --ignore {container}
Restart=always
RestartSec=2
TimeoutStopSec=60
SuccessExitStatus=137 143

[Install]
WantedBy=multi-user.target
"""

_SAID_OTHERWISE = {"\\": "\\\\", '"': '\\"', "%": "%%", "$": "$$", "\n": "\\n", "\t": "\\t"}


def _quoted(word: str) -> str:
    """A word as systemd reads it back: nothing in it is expanded."""
    if re.fullmatch(r"[A-Za-z0-9_./:@=,+-]+", word):
        return word
    return '"' + "".join(_SAID_OTHERWISE.get(character, character) for character in word) + '"'


def _take_off(resource: Resource, machine: Machine) -> Failed | None:
    name, path = _unit_name(resource), _unit_path(resource)
    unit = look_at_one(name, machine)
    if isinstance(unit, Unobservable):
        return Failed(why=unit.why)
    failed = None if unit.down else change(machine, "stop", name)
    if failed is None and unit.loaded and unit.enabled:
        failed = change(machine, "disable", name)
    if failed is not None:
        return failed
    if machine.files.look(path) is not None:
        machine.files.remove(path)
    failed = reread(machine)
    if failed is None and machine.running:
        change(machine, "reset-failed", name)  # it refuses where nothing of it failed, as it should
    return failed


def _pull(image: str, machine: Machine) -> Failed | None:
    pulled = _podman(machine, "pull", "--quiet", image, seconds=PULL_SECONDS)
    return None if pulled.well else Failed(why=f"podman pull {image}: {pulled.words}")


def _podman(machine: Machine, *arguments: str, seconds: float) -> Ended:
    return machine.run(command("podman", *arguments, seconds=seconds))


def _what_an_image_is(image: str) -> str:
    if "@sha256:" not in image:
        return (
            "an image is named by its digest (NAME@sha256:…), since what a tag names changes; "
            f"skopeo inspect docker://{image} shows the digest"
        )
    return "a registry, a name without a tag, and a digest, like docker.io/library/caddy@sha256:…"


def _texts_in(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(item)


def _unit_name(resource: Resource) -> str:
    return f"mesh-{resource.name}.service"


def _unit_path(resource: Resource) -> str:
    return f"/etc/systemd/system/{_unit_name(resource)}"


def _digest(content: bytes) -> str:
    return _short(hashlib.sha256(content).hexdigest())


def _short(sha256: str) -> str:
    """As much of a digest as tells two units apart: it is shown to people."""
    return sha256[:16]
