"""The host on a real directory, step by step, with a person who edits by hand, and runs that are killed.

The laws (design, part 8):

> removes what it owns and the declaration no longer names, **and nothing else**. What was there before it
> is remembered and put back or left; what a person edited since is left and reported
> refuses one that is truncated, for another node, of an older generation, or of the same generation with
> another digest, changes nothing
> a second apply of the same declaration does nothing

The model knows of each path what the person did there last, what was there before the mesh took it, and how
the mesh left it; from the journal it takes only which paths are owned.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
from pathlib import Path
from typing import Any

from attrs import frozen
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule, run_state_machine_as_test

from mesh_adapters.host.applied import Applied
from mesh_adapters.host.applying import Refused
from mesh_adapters.host.journal import Entry
from mesh_core import Resource
from mesh_core.reconcile import TooManyRemovals
from tests.integration.host.crash.dying import dies_at
from tests.integration.host.world import PRIVILEGED, Shown, World, declaration, quick, shown

PATHS = ("/a", "/a/b", "/a/b/c", "/a/b/d", "/e", "/e/f", "/g")
TEMPORARY = ".mesh-host-"
MODES = st.sampled_from(["0644", "0600"])
FILES = st.fixed_dictionaries(
    {"kind": st.just("file"), "content": st.sampled_from(["1", "2"]), "mode": MODES}
)
TEMPLATES = st.just({"kind": "file", "template": "{{ node.name }} 3", "mode": "0644"})
DIRECTORIES = st.fixed_dictionaries({"kind": st.just("directory"), "mode": st.sampled_from(["0755", "0711"])})
WANTED = st.dictionaries(st.sampled_from(PATHS), st.one_of(FILES, DIRECTORIES, FILES, TEMPLATES), max_size=7)
HOW = ("older", "other", "cut", "flipped", "foreign", "empty", "garbage")
Told = list[tuple[str, dict[str, Any]]]


@st.composite
def tellings(draw: st.DrawFn) -> Told:
    """What a declaration says of some paths, in some order; nothing is inside of a file."""
    wanted = draw(WANTED)
    fits = [
        path
        for path in wanted
        if not any(path.startswith(f"{other}/") and wanted[other]["kind"] == "file" for other in wanted)
    ]
    return [(path, wanted[path]) for path in draw(st.permutations(fits))]


def bytes_of(generation: int, told: Told, **words: Any) -> bytes:
    resources = [
        Resource(
            kind=given["kind"], path=path, attributes_json={k: v for k, v in given.items() if k != "kind"}
        )
        for path, given in told
    ]
    modules = [part for part in (resources[:3], resources[3:]) if part]
    return declaration(generation, *modules, **words)


def is_so(there: Shown | None, given: dict[str, Any]) -> bool:
    if there is None:
        return False
    type_, mode, user, group, content = there
    made = given.get("content", given.get("template", "").replace("{{ node.name }}", "pi"))
    whose = (user, group) == (0, 0) or not PRIVILEGED
    return (type_, mode, content, whose) == (given["kind"], int(given["mode"], 8), made.encode(), True)


@frozen(kw_only=True)
class Moment:
    """What is on the machine and in the journal."""

    there: dict[str, Shown]
    owned: dict[str, Entry]
    taken: object


class HostMachine(RuleBasedStateMachine):
    """A root directory, its journal, and the model."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mesh-machine-", dir=quick()))
        self.world = World(self.folder)
        self.generation = 0
        self.broken = False
        self.told: Told = []
        self.older: list[bytes] = []
        self.newest: bytes | None = None
        self.theirs: dict[str, Shown] = {}
        """What a person did last where something is; what is nobody's is theirs."""
        self.before: dict[str, list[Shown | None]] = {}
        """What was there before the mesh took a path; several where a run was killed and somebody edited."""
        self.made: dict[str, list[Shown | None]] = {}
        """How the mesh left it; several where a run was killed."""
        self.edited: set[str] = set()
        """Where a person was since the last run."""

    def teardown(self) -> None:
        if not self.broken:
            self.declare_and_apply([], False)
        shutil.rmtree(self.folder)

    # What a person does

    def edit(self, path: str) -> None:
        """Take down what a person did: what is at a path now, and above and below it, is theirs."""
        there = shown(self.world.root)
        for touched in {p for p in (*self.theirs, *there, *PATHS) if p == path or p.startswith(f"{path}/")}:
            self.edited.add(touched)
            self.theirs.pop(touched, None)
            if touched in there:
                self.theirs[touched] = there[touched]

    def clear(self, path: str) -> Path:
        place = self.world.root / path.lstrip("/")
        if place.is_symlink() or place.is_file():
            place.unlink()
        elif place.is_dir():
            shutil.rmtree(place)
        return place

    def reachable(self, path: str) -> bool:
        """A person makes the directories above as well, where nothing else is in the way."""
        place = self.world.root
        for part in path.lstrip("/").split("/")[:-1]:
            place = place / part
            if place.is_symlink() or place.is_file():
                return False
            if not place.exists():
                place.mkdir()
                self.edit(f"/{place.relative_to(self.world.root)}")
        return True

    @rule(
        path=st.sampled_from(PATHS),
        content=st.sampled_from(["theirs", "1"]),
        mode=st.sampled_from([0o644, 0o600]),
        owner=st.sampled_from([1000, 0]),
    )
    def write(self, path: str, content: str, mode: int, owner: int) -> None:
        if self.reachable(path):
            self.clear(path)
            self.world.put(path, content, mode=mode, owner=owner)
            self.edit(path)

    @rule(path=st.sampled_from([*PATHS, "/a/foreign", "/e/f/foreign"]), mode=st.sampled_from([0o755, 0o700]))
    def make_directory(self, path: str, mode: int) -> None:
        if self.reachable(path):
            self.clear(path)
            self.world.folder_at(path, mode=mode)
            self.edit(path)

    @rule(path=st.sampled_from(PATHS))
    def link(self, path: str) -> None:
        if self.reachable(path):
            self.clear(path)
            self.world.link(path, "/nowhere", owner=1000)
            self.edit(path)

    @rule(path=st.sampled_from(PATHS))
    def delete(self, path: str) -> None:
        if self.reachable(path):
            self.clear(path)
            self.edit(path)

    @rule(path=st.sampled_from(PATHS), mode=st.sampled_from([0o640, 0o750]))
    def chmod(self, path: str, mode: int) -> None:
        if path in (there := shown(self.world.root)) and there[path][0] != "link":
            (self.world.root / path.lstrip("/")).chmod(mode)
            self.edited.add(path)
            self.theirs[path] = shown(self.world.root)[path]

    # What the mesh says

    @rule(told=tellings(), word=st.booleans())
    def declare_and_apply(self, told: Told, word: bool) -> None:
        content = bytes_of(self.generation + 1, told, allow_removals=word)
        moment = self.now()
        outcome = self.world.apply(content)
        if isinstance(outcome, TooManyRemovals):
            assert not word
            assert len(outcome.going) > 5
            assert self.now() == moment
            content = bytes_of(self.generation + 1, told, allow_removals=True)
            outcome = self.world.apply(content)
        self.say(content, told)
        self.look(moment, outcome)

    @rule()
    def apply_again(self) -> None:
        if self.newest is not None:
            moment = self.now()
            self.look(moment, self.world.apply(self.newest))

    @rule(told=tellings(), number=st.integers(1, 90), again=st.booleans())
    def be_killed(self, told: Told, number: int, again: bool) -> None:
        content = bytes_of(self.generation + 1, told)
        if again and self.newest is not None:
            content, told = self.newest, self.told
        moment = self.now()
        through = dies_at(number, lambda step: self.world.apply(content, step)) is None
        after = self.now()
        if through or after.taken != moment.taken or content == self.newest:
            self.say(content, told)
        for path in {path for path, _ in told} | moment.owned.keys() | after.owned.keys():
            if path in after.owned:
                self.take(path, moment, after)
                kind = dict(told).get(path, {}).get("kind")
                if after.owned[path].owned.kind == kind and self.is_settled(path, moment, after, through):
                    self.made[path] = [after.there.get(path)]
                    self.edited.discard(path)
                    continue
                # Nobody else was here: what changed is the mesh's doing.
                if after.there.get(path) != moment.there.get(path):
                    self.made[path].append(after.there.get(path))
            elif path in moment.owned:
                self.let_go(path, after)
        if not through:
            # Only what is still the mesh's own is not a person's.
            self.edited -= {path for path in PATHS if after.there.get(path) != moment.there.get(path)}

    @rule(data=st.data(), how=st.sampled_from(HOW))
    def hand_over_what_is_not_taken(self, data: st.DataObject, how: str) -> None:
        if self.newest is None:
            return
        moment = self.now()
        newer = bytes_of(self.generation + 1, self.told)
        if how == "older" and self.older:
            content = data.draw(st.sampled_from(self.older))
        elif how == "other":
            content = bytes_of(self.generation, [*self.told, ("/other", {"kind": "file", "content": "x"})])
        elif how == "cut":
            content = newer[: data.draw(st.integers(0, len(newer) - 1))]
        elif how == "flipped":
            at = data.draw(st.integers(0, len(newer) - 1))
            content = newer[:at] + bytes([newer[at] ^ data.draw(st.integers(1, 255))]) + newer[at + 1 :]
        elif how == "foreign":
            content = bytes_of(self.generation + 1, self.told, node="nas")
        elif how == "empty":
            content = declaration(self.generation + 1, empty=False)
        else:
            content = data.draw(st.binary(max_size=20))
        outcome = self.world.apply(content)
        assert not isinstance(outcome, Applied)
        assert self.now() == moment

    # The model

    def now(self) -> Moment:
        with self.world.host() as host:
            entries = {e.owned.identity.removeprefix("path:"): e for e in host.journal.entries()}
            taken = host.journal.taken()
        return Moment(there=shown(self.world.root), owned=entries, taken=taken)

    def is_settled(self, path: str, moment: Moment, after: Moment, through: bool) -> bool:
        """Whether the run came as far as confirming what it did there."""
        news = through or after.owned[path] != moment.owned.get(path)
        return news and not after.owned[path].owned.in_flight

    def say(self, content: bytes, told: Told) -> None:
        if content == self.newest:
            return
        if self.newest is not None:
            self.older.append(self.newest)
        self.newest, self.told = content, told
        self.generation += 1

    def take(self, path: str, moment: Moment, after: Moment) -> None:
        """It is owned: what was there before is what was there when it was not."""
        there = moment.there.get(path)
        if path not in moment.owned:
            self.before[path] = [there]
            self.made[path] = []
        elif moment.owned[path].owned.in_flight and path in self.edited:
            self.before[path].append(there)
        elif there is None and after.owned[path].owned.brought and not moment.owned[path].owned.brought:
            # A person took it away, and that was left so; then it came along with something.
            self.before[path], self.made[path] = [None], []
        elif moment.owned[path].owned.kind != after.owned[path].owned.kind:
            # It was let go as what it was, and taken anew as what it is now.
            if there not in self.made[path]:
                self.before[path] = [there]
            self.made[path] = []

    def let_go(self, path: str, after: Moment) -> None:
        self.before.pop(path, None)
        self.made.pop(path, None)
        if path in after.there:
            self.theirs[path] = after.there[path]
        else:
            self.theirs.pop(path, None)

    def look(self, moment: Moment, outcome: Applied | Refused) -> None:
        """Everything that has to hold after a run that was not killed."""
        self.broken = True
        assert isinstance(outcome, Applied), outcome
        after = self.now()
        told = dict(self.told)
        failed = {e.action.identity.removeprefix("path:") for e in outcome.failed}
        failed |= {t.identity.removeprefix("path:") for t in outcome.troubles}
        self.nothing_else(moment, after, told)
        self.declared_is_so(moment, outcome, after, told, failed)
        for path in moment.owned.keys() - told.keys() - failed:
            self.off_or_left(path, moment, after)
        for path in moment.owned.keys() | after.owned.keys():
            if path not in after.owned:
                self.let_go(path, after)
                continue
            self.take(path, moment, after)
            there = after.there.get(path)
            if path not in failed and (path in told or there != moment.there.get(path)):
                self.made[path] = [there]
        for path in after.there.keys() - after.owned.keys():
            assert after.there[path] == self.theirs.get(path), f"{path} is nobody's"
        self.edited.clear()
        if outcome.well:
            again = self.world.applied(self.newest or b"")
            assert not again.changed
            assert again.events == ()
            assert self.now() == after
        self.broken = False

    def nothing_else(self, moment: Moment, after: Moment, told: dict[str, Any]) -> None:
        """> and nothing else"""
        concerned = moment.owned.keys() | after.owned.keys() | told.keys()
        for path in moment.there.keys() | after.there.keys():
            if TEMPORARY in path:
                assert path not in after.there, f"{path} stayed behind"
            elif moment.there.get(path) != after.there.get(path):
                assert path in concerned, path

    def declared_is_so(
        self, moment: Moment, outcome: Applied, after: Moment, told: dict[str, Any], failed: set[str]
    ) -> None:
        assert failed <= told.keys()
        reported = {e.action.identity.removeprefix("path:") for e in outcome.drifted}
        for path, given in told.items():
            there = moment.there.get(path)
            if path in failed:
                assert self.in_the_way(path, given["kind"], after), f"{path} failed for nothing"
                continue
            assert is_so(after.there.get(path), given), path
            known = moment.owned.get(path)
            settled = known is not None and not known.owned.in_flight and known.owned.kind == given["kind"]
            if settled and there not in self.made[path] and not is_so(there, given):
                assert path in reported, f"{path} drifted, and that is not reported"

    def off_or_left(self, path: str, moment: Moment, after: Moment) -> None:
        """> What was there before it is put back or left; what a person edited since is left"""
        was, now = moment.there.get(path), after.there.get(path)
        entry = moment.owned[path].owned
        if entry.in_flight and path in self.edited:
            assert now in (was, *self.before[path]) or self.came_back(path, was, after), path
        elif was in self.made[path] or was in self.before[path]:
            came_again = path in after.owned and after.owned[path].owned.brought
            if came_again or self.holds_something(path, after, owned=path in after.owned):
                return
            assert now in self.before[path], f"{path} is not as it was before"
        else:
            assert now == was or self.came_back(path, was, after), f"{path} was edited, and is not left"

    def came_back(self, path: str, was: Shown | None, after: Moment) -> bool:
        """A directory that somebody took away, and that something declared needs."""
        return was is None and path in after.owned

    def holds_something(self, path: str, after: Moment, *, owned: bool) -> bool:
        """A directory that is not empty stays; it is let go only where what is in it is not the mesh's."""
        within = [other for other in after.there if other.startswith(f"{path}/")]
        return bool(within) if owned else any(other not in after.owned for other in within)

    def in_the_way(self, path: str, kind: str, after: Moment) -> bool:
        """Whether something stands where another thing is to be, or above it where a directory has to be."""
        *above, _ = itertools.accumulate(path.lstrip("/").split("/"), lambda one, other: f"{one}/{other}")
        if any(after.there.get(f"/{one}", ("directory",))[0] != "directory" for one in above):
            return True
        there = after.there.get(path)
        return there is not None and (there[0] == "directory") != (kind == "directory")


def test_the_host_keeps_its_promises() -> None:
    chosen = settings(max_examples=settings().max_examples // 2, stateful_step_count=20, deadline=None)
    run_state_machine_as_test(HostMachine, settings=chosen)
