"""Sources and builds with everything that they need of this process: clones, ids, the clock, who asks."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mesh_cli import wiring_flows
from mesh_cli.settings import git_files, repositories_folder
from mesh_cli.wiring import now, who

if TYPE_CHECKING:
    from mesh_adapters.build.git import Repositories
    from mesh_adapters.flows.answers import Heard as Heard
    from mesh_adapters.flows.asking import Wanted as Wanted
    from mesh_core.model.build import Build
    from mesh_core.model.source import Looked, Source
    from mesh_core.ports import Broker, Session, Store

ID_BYTES = 16


def check(store: Store, modules: Iterable[str]) -> Mapping[str, Looked]:
    """Look at the sources of these modules, and write down what was seen."""
    from mesh_adapters.flows.checking import check as look_at_sources

    return look_at_sources(store, modules, _look, now())


def _look(sources: Sequence[Source]) -> Sequence[Looked]:
    return repositories().look_at(sources)


def repositories() -> Repositories:
    """The clones of this person, and the keys that the settings name."""
    from mesh_adapters.build.git import GitSettings, Repositories

    files = git_files()
    settings = GitSettings(
        credentials=files.get("credentials"),
        identity=files.get("identity"),
        known_hosts=files.get("known_hosts"),
    )
    return Repositories(repositories_folder(), settings=settings)


def ask(session: Session, modules: Sequence[str], *, verify: bool) -> dict[str, Wanted]:
    """Write down what is to be built."""
    from mesh_adapters.flows.asking import By
    from mesh_adapters.flows.asking import ask as write_down

    by = By(who=who(), at=now(), make_id=new_id, verify=verify)
    return write_down(session, modules, by)


def ask_again(session: Session, old: Build, *, verify: bool) -> dict[str, Wanted]:
    """Write down once more what a build was asked for."""
    from mesh_adapters.flows.asking import By
    from mesh_adapters.flows.asking import ask_again as once_more

    by = By(who=who(), at=now(), make_id=new_id, verify=verify)
    return {old.request.module: once_more(session, old, by)}


def new_id() -> str:
    """An id that no build had before."""
    from secrets import token_hex

    return token_hex(ID_BYTES)


def wait_for(
    store: Store, broker: Broker, ids: Iterable[str], patience: float, tell: Callable[[Heard], None]
) -> bool:
    """Take in answers until these builds are over, or patience ends: whether they are."""
    until = time.monotonic() + patience
    waiting = set(ids)
    for heard in wiring_flows.collect(store, broker).builds:
        tell(heard)
    while True:
        waiting &= {build.request.id for build in store.open_builds()}
        left = until - time.monotonic()
        if not waiting or left <= 0:
            return not waiting
        for heard in wiring_flows.collect_for(store, broker, min(1.0, left)).builds:
            tell(heard)
        wiring_flows.send_requests(store, broker)
