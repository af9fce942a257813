"""A tree on a real directory, step by step, with a person who adds and edits, and runs that are killed.

`test_reconcile_machine` knows one state for each path. A tree is many paths with one state, and what a person
has in it is theirs: so it has a model of its own. That knows what the artifact brought and what of it was
edited since, and everything that a person put there (design, part 8).

> removes what it owns and the declaration no longer names, **and nothing else**
> what a person edited since is left and reported
"""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from mesh_adapters.host.kinds.tree import Tree as TreeKind
from mesh_adapters.host.steps import Step
from tests.integration.host.crash.dying import dies_at
from tests.integration.host.tree.artifacts import Tree, made, put_into
from tests.integration.host.world import KINDS, World, declaration, quick, shown

ONE: Tree = {"a": "1\n", "both/a": "1\n", "both/deep/a": "1\n", "one/a": "1\n"}
TWO: Tree = {"a": "2\n", "both/a": "1\n", "both/b": "2\n", "two/deep/a": "2\n"}
BARE: Tree = {"a": "1\n"}
TREES = (ONE, TWO, BARE, None)
PLACES = (
    "mine",
    "both/mine",
    "both/deep/mine",
    "one/mine",
    "two/mine",
    "up/one",
    "up/deep/two",
    "both/b",
    "two",
)
"""Where a person puts something: beside, in folders of an artifact's and of their own, and in the way."""


def folders_of(paths: set[str]) -> set[str]:
    return {str(above) for path in paths for above in Path(path).parents if str(above) != "."}


def are_in_the_way(theirs: set[str], tree: Tree) -> bool:
    """Whether the tree has something where a person has."""
    files = {*tree}
    return bool(theirs & (files | folders_of(files)) or folders_of(theirs) & files)


def of_a_tree(step: Step, name: str) -> None:
    if name.startswith("tree"):
        step(name)


class TreeMachine(RuleBasedStateMachine):
    """A root directory, a registry that is a folder, and the model."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mesh-trees-", dir=quick()))
        self.world = World(self.folder / "machine", {**KINDS, "tree": TreeKind()})
        self.generation = 0
        self.tree: Tree = {}
        """What the mesh has there; nothing where it has let go."""
        self.theirs: dict[str, str] = {}
        self.edited: set[str] = set()
        self.gone: set[str] = set()

    def teardown(self) -> None:
        self.becomes(None)
        shutil.rmtree(self.folder)

    # What a person does

    @rule(path=st.sampled_from(PLACES), content=st.sampled_from(["theirs\n", "1\n", "2\n"]))
    def add(self, path: str, content: str) -> None:
        if are_in_the_way({path}, self.tree) or are_in_the_way({path}, self.theirs):
            return
        self.world.put(f"/web/{path}", content)
        self.theirs[path] = content

    @precondition(lambda self: self.theirs)
    @rule(data=st.data())
    def take_away(self, data: st.DataObject) -> None:
        path = data.draw(st.sampled_from(sorted(self.theirs)))
        root = self.world.root / "web"
        (root / path).unlink()
        del self.theirs[path]
        for above in [*Path(path).parents][:-1]:  # with the folders that were made for it
            if str(above) not in folders_of({*self.tree}) and not os.listdir(root / above):
                (root / above).rmdir()

    @precondition(lambda self: {*self.tree} - self.gone)
    @rule(data=st.data(), away=st.booleans())
    def edit(self, data: st.DataObject, away: bool) -> None:
        path = data.draw(st.sampled_from(sorted({*self.tree} - self.gone)))
        if away:
            (self.world.root / "web" / path).unlink()
            self.edited.discard(path)
            self.gone.add(path)
        else:
            self.world.put(f"/web/{path}", "edited\n")
            self.edited.add(path)

    # What the mesh says

    @rule(tree=st.sampled_from(TREES))
    def becomes(self, tree: Tree | None) -> None:
        content = self.told(tree)
        before = self.there()
        applied = self.world.applied(content)
        if self.is_refused(tree):
            assert not applied.well
            assert self.there() == before
            return
        assert applied.well, applied
        self.is_so(tree)
        assert not self.world.applied(content).changed

    @rule(
        tree=st.sampled_from(TREES),
        then=st.sampled_from(TREES),
        at=st.integers(1, 7),
        path=st.sampled_from(["mine", "both/mine", "both/deep/mine", "up/one"]),
    )
    def is_killed(self, tree: Tree | None, then: Tree | None, at: int, path: str) -> None:
        """At some step of the tree's own, with something of theirs in it; then it is told this or another."""
        if not self.tree:
            self.becomes(ONE)
        self.add(path, "theirs\n")
        if tree == self.tree:  # nothing would be done
            tree = TWO if tree == ONE else ONE
        if not self.tree or self.is_refused(tree) or self.is_refused(then):
            return
        if tree is None and (self.theirs or self.edited):
            then = None  # what is left of that is a person's directory
        if then is None:
            self.becomes(self.tree or None)  # else nobody knows whether what was edited was put back by then
        content = self.told(tree)
        dies_at(at, lambda step: self.world.apply(content, partial(of_a_tree, step)))
        assert self.there().items() >= self.theirs.items()
        self.becomes(then)

    # The model

    def told(self, tree: Tree | None) -> bytes:
        self.generation += 1
        if tree is None:
            return declaration(self.generation)
        artifact = made(tree)
        source = put_into(self.folder / "registry", artifact)
        return declaration(self.generation, [artifact.tree("/web", source)])

    def is_refused(self, tree: Tree | None) -> bool:
        """A person has things where there was no tree, or in the way of the next."""
        if tree is None:
            return False
        return bool(self.theirs) if not self.tree else are_in_the_way({*self.theirs}, tree)

    def is_so(self, tree: Tree | None) -> None:
        if tree is None:
            self.theirs |= dict.fromkeys(self.edited, "edited\n")
        self.tree, self.edited, self.gone = tree or {}, set(), set()
        assert self.there() == {**self.tree, **self.theirs}
        assert tree is None or not [*(self.world.state / "artifacts").glob("*")]
        assert not [path for path in shown(self.world.root) if ".mesh-" in path]

    def there(self) -> dict[str, str]:
        found = shown(self.world.root).items()
        return {path.removeprefix("/web/"): one[4].decode() for path, one in found if one[0] == "file"}


def test_a_tree_is_whole_and_nothing_of_a_persons_is_lost() -> None:
    chosen = settings(max_examples=settings().max_examples // 2, stateful_step_count=15, deadline=None)
    run_state_machine_as_test(TreeMachine, settings=chosen)
