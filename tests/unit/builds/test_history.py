"""Which earlier manifest is meant by a rollback."""

from attrs import evolve

from mesh_core import Module
from mesh_core.builds.history import earlier
from mesh_core.model.build import Artifact, Shut
from mesh_core.model.origin import HANDED, FromBuild, Origin, Put
from mesh_core.model.source import Commit

DIGEST = f"sha256:{'0' * 64}"


def built(letter: str) -> FromBuild:
    return FromBuild(
        build="1" * 12,
        builder="nas",
        commit=Commit(id=letter * 40, at=""),
        artifact=Artifact(content=DIGEST, artifact=DIGEST, place="oci:/srv"),
        shut=Shut.BUBBLEWRAP,
    )


def puts(*versions: tuple[str, Origin]) -> list[Put]:
    """Puts of these versions, the last is current; equal versions are equal manifests."""
    return [
        Put(
            number=number,
            manifest=Module(name="web", version=version),
            digest=version,
            origin=origin,
            at="",
            current=number == len(versions) - 1,
        )
        for number, (version, origin) in enumerate(versions)
    ]


def test_without_a_word_it_is_the_newest_that_says_another_thing() -> None:
    history = puts(("1", HANDED), ("2", HANDED), ("3", HANDED), ("3", built("c")))
    assert earlier(history, None) == history[1]


def test_by_a_version_or_by_a_commit_as_far_as_it_is_shown() -> None:
    history = puts(("1", built("a")), ("2", built("b")), ("1", built("c")), ("3", built("d")))
    assert earlier(history, "1") == history[2], "the newest of that version"
    assert earlier(history, "b" * 7) == history[1]
    assert earlier(history, "b" * 40) == history[1]
    assert earlier(history, "b" * 6) is None, "that may be any"
    assert earlier(history, "3") is None, "it is current"


def test_of_one_that_was_dropped_the_newest_comes_back() -> None:
    gone = [evolve(put, current=False) for put in puts(("1", HANDED), ("2", HANDED))]
    assert earlier(gone, None) == gone[-1]
    assert earlier([], None) is None
