"""The one place of `mesh-builder` that names concrete adapters: broker, git, sandbox, registry."""

from __future__ import annotations

import fcntl
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mesh_cli.exits import Exit, Stop

if TYPE_CHECKING:
    from mesh_adapters.build.agent.loop import Builder as Builder
    from mesh_adapters.build.building import Means
    from mesh_adapters.build.git import GitSettings
    from mesh_adapters.build.publishing import Access
    from mesh_adapters.build.registry_text import Registry
    from mesh_adapters.build.sandbox import Missing, Sandbox
    from mesh_adapters.host.notify import Notifier
    from mesh_cli.builder.settings import Places as Places
    from mesh_cli.builder.settings import Settings
    from mesh_core.model.build import Said

_WORK = "mesh_cli.builder.work"


def places_under(root: Path) -> Places:
    """Where the builder of this machine, or of this person, has what is its own."""
    from mesh_adapters.broker.credential import Role
    from mesh_cli.builder.settings import places

    return places(root, Role.BUILDER.place, privileged=os.geteuid() == 0)


def told_for_unit(found: Places) -> Settings:
    """What a builder is told that systemd starts: by its file alone. Stops where it could not work so."""
    from mesh_cli.builder.settings import settings

    told = settings(found, {}, variables={})
    check(told, _nobody)
    return told


def yet_to_say(found: Places) -> str:
    """The option that `mesh-builder run` needs, where no registry is named otherwise."""
    from mesh_cli.builder.settings import settings

    try:
        settings(found, {})
    except Stop as stop:
        return " --registry oci:/FOLDER" if stop.code == "no-registry" else ""
    return ""


def ca_file() -> str:
    """Where in its folder a builder keeps the certificates that it trusts its broker by."""
    from mesh_adapters.broker.credential import CA_FILE

    return CA_FILE


def _nobody(_line: str) -> None:
    """What is said to nobody."""


def ended() -> str:
    """What is said when it was asked to end."""
    from mesh_core.explain.building import stopped

    return stopped()


def notifier() -> Notifier:
    """What systemd is told through."""
    from mesh_adapters.host.notify import Notifier

    return Notifier()


def check(told: Settings, say: Callable[[str], None]) -> None:
    """See that builds can be made here. Stops, or says, where something that they need is missing."""
    registry = _registry(told)
    for why in (_access(told).fault(), _git_fault(told), *_lacking(registry, told)):
        if why is not None:
            raise Stop(Exit.FAILED, "unfit-builder", f"this builder could build nothing: {why}")
    _check_sandbox(told, say)
    _check_images(told, say)


def _lacking(registry: Registry, told: Settings) -> Iterator[str]:
    """What of the machine is missing for good."""
    import shutil

    from mesh_adapters.build.registry_text import RemoteRegistry
    from mesh_adapters.host.commands import PATH

    remote = isinstance(registry, RemoteRegistry)
    for program in ("git", "skopeo") if remote else ("git",):
        if shutil.which(program, path=PATH) is None:
            yield f"{program} is not installed"
    if remote and ":" in str(told.state):
        yield f"skopeo takes no ':' in a path, and there is one in {told.state}"


def _check_sandbox(told: Settings, say: Callable[[str], None]) -> None:
    from mesh_adapters.build.sandbox import Missing, find_sandbox
    from mesh_core.explain.building import no_sandbox, not_shut_in

    found = find_sandbox()
    if not isinstance(found, Missing):
        return
    if not told.without_sandbox:
        raise Stop(Exit.FAILED, "no-sandbox", no_sandbox(found.why))
    say(not_shut_in(found.why))


def _check_images(told: Settings, say: Callable[[str], None]) -> None:
    from mesh_adapters.build.container import find_images
    from mesh_adapters.build.sandbox import Missing

    if told.allow_container:
        found = find_images(True, registries=told.path("base_images"))
        if isinstance(found, Missing):
            say(f"no images are made here: {found.why}")


@contextmanager
def at_work(
    told: Settings,
    found: Places,
    *,
    say: Callable[[str], None],
    heard: Callable[[Mapping[str, Any]], None],
) -> Iterator[Builder]:
    """The builder of the credential, alone in its folder. Stops where it did not join, or cannot work.

    `heard` gets each answer as plain data.
    """
    from mesh_adapters.broker.opening import open_builder
    from mesh_adapters.build.agent.child import Child
    from mesh_adapters.build.agent.kept import Kept
    from mesh_adapters.build.agent.loop import Builder
    from mesh_cli.wiring_joining import reached, role_called
    from mesh_core.explain.building import waiting
    from mesh_core.wire.builds import said_to_data

    with _alone(told.state) as scratch:
        name, address = reached(found.credential, role_called("builder"), told.state)

        def hear(said: Said) -> None:
            heard(said_to_data(said))

        command = work_command(told, name)
        builder = Builder(
            name=name,
            connect=lambda: open_builder(address, name),
            begin=lambda request: Child(command, request, name, scratch),
            kept=Kept(told.state / "answers"),
            say=say,
            heard=hear,
        )
        say(waiting(name, told.registry))
        try:
            yield builder
        finally:
            builder.close()


def work_command(told: Settings, name: str) -> list[str]:
    """What builds, as a program and its arguments: nobody's secret is in them."""
    from mesh_cli.builder.settings import to_text

    # -P: nothing is imported from the directory that somebody happens to be in.
    return [sys.executable, "-P", "-m", _WORK, str(os.getpid()), name, to_text(told)]


def built(content: bytes, told: Settings, name: str, folder: Path, parent: int) -> bytes | None:
    """What is answered to a request, in the process that builds; None where it was asked to end before."""
    from mesh_adapters.build.agent.ending import end_when_asked
    from mesh_adapters.build.building import Stopped, build
    from mesh_adapters.build.sandbox_attend import Watch
    from mesh_core.wire.builds import read_request, said_to_bytes

    asked = end_when_asked(parent)
    try:
        answer = build(read_request(content), _means(told, name), folder, Watch(asked_to_stop=asked))
    except Stopped:
        return None
    return None if asked() else said_to_bytes(answer)


def _means(told: Settings, name: str) -> Means:
    from mesh_adapters.build.building import Means
    from mesh_adapters.build.container import find_images
    from mesh_adapters.build.git import Repositories
    from mesh_adapters.build.recipes import Workshop
    from mesh_adapters.host.knowledge import Knowledge
    from mesh_adapters.host.registry import known_kinds
    from mesh_cli.wiring import now

    images = find_images(told.allow_container, registries=told.path("base_images"))
    return Means(
        builder=name,
        repositories=Repositories(told.state / "repositories", settings=_git(told)),
        workshop=Workshop(sandbox=_sandbox(told), images=images),
        registry=_registry(told),
        access=_access(told),
        kinds=Knowledge(known_kinds()),
        now=now,
    )


def _sandbox(told: Settings) -> Sandbox | Missing:
    """Bubblewrap, wherever it works; none at all only where there is none, and somebody said so."""
    from mesh_adapters.build.sandbox import Missing, NotShutIn, find_sandbox

    found = find_sandbox()
    return NotShutIn() if isinstance(found, Missing) and told.without_sandbox else found


def _registry(told: Settings) -> Registry:
    from mesh_adapters.build.registry_text import NoRegistry, registry_of

    found = registry_of(told.registry)
    if isinstance(found, NoRegistry):
        usage = Exit.USAGE if told.registry_said.startswith("--") else Exit.FAILED
        raise Stop(usage, "bad-registry", f"{told.registry_said}: {found.why}")
    return found


def _access(told: Settings) -> Access:
    from mesh_adapters.build.publishing import Access

    return Access(authfile=told.path("registry_credentials"), certificates=told.path("registry_certificates"))


def _git(told: Settings) -> GitSettings:
    from mesh_adapters.build.git import GitSettings

    return GitSettings(
        credentials=told.path("git_credentials"),
        identity=told.path("git_identity"),
        known_hosts=told.path("git_known_hosts"),
        authorities=told.path("git_authorities"),
    )


def _git_fault(told: Settings) -> str | None:
    from mesh_adapters.build.git_settings import read_secrets

    secrets = read_secrets(_git(told))
    return secrets if isinstance(secrets, str) else None


@contextmanager
def _alone(state: Path) -> Iterator[Path]:
    """The state folder, held as long as this lasts: where in it builds work, emptied of older ones."""
    scratch = state / "scratch"
    try:
        for folder in (state, scratch, state / "repositories"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = (state / "lock").open("w")
    except OSError as error:
        line = f"{state} cannot be worked in: {error.strerror}"
        raise Stop(Exit.OUT_OF_REACH, "unwritable-state", line) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            line = f"another builder works in {state}; --state names another folder"
            raise Stop(Exit.OUT_OF_REACH, "builder-busy", line) from None
        _empty(scratch)
        yield scratch


def _empty(folder: Path) -> None:
    """Remove what builders that were killed left."""
    from mesh_adapters.build.sandbox_place import remove

    for path in folder.iterdir():
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                remove(path)
            else:
                path.unlink()
