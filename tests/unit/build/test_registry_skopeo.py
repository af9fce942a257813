"""What skopeo said, as it is told on; and that what a registry says it has is looked at."""

from pathlib import Path
from typing import ClassVar

import pytest

from mesh_adapters.build import publishing
from mesh_adapters.build.oci import EMPTY, EMPTY_BYTES, MANIFEST, described, referrers_tag
from mesh_adapters.build.registry_blobs import Piece
from mesh_adapters.build.registry_skopeo import Access, Refused, Skopeo, _words
from mesh_adapters.host.commands import Command, Ended
from tests.unit.build.test_packing import GOLDEN

SKOPEO = Command(argv=("skopeo",), seconds=5.0)


def words(errors: str, code: int | None = 1) -> str:
    return _words(Ended(command=SKOPEO, code=code, output="", errors=errors))


@pytest.mark.parametrize(
    ("errors", "said"),
    [
        ('time="2026-12-02T09:07:15Z" level=fatal msg="manifest unknown"', "manifest unknown"),
        (
            'level=warning msg="first"\nlevel=fatal msg="Get \\"https://h/v2/\\": refused"\n',
            'Get "https://h/v2/": refused',
        ),
        ('level=fatal msg="odd \\x escape"', "odd \\x escape"),
        ("skopeo: No such file or directory", "skopeo: No such file or directory"),
        (
            'level=fatal msg="Put \\"https://h/v2/blobs/uploads/1?_state=SECRET&x=1\\": reset"',
            'Put "https://h/v2/blobs/uploads/1": reset',
        ),
        ("Put https://h/x?token=SECRET failed", "Put https://h/x failed"),
    ],
)
def test_what_it_said_last(errors: str, said: str) -> None:
    assert words(errors) == said


def test_that_its_time_was_up() -> None:
    assert words("", code=None) == "the time for publishing was up before it was done"


class Saying(Skopeo):
    """A registry that takes everything, and says one thing, whatever it is asked."""

    answer: bytes | Refused = b""
    took: ClassVar[list[str]] = []

    def copy(self, name: str, to: str) -> Refused | None:
        self.took.append(f"{name} {to}")
        return None

    copy_index = copy

    def raw(self, reference: str) -> bytes | Refused:
        return self.answer


def test_a_registry_that_has_something_else_is_not_believed(monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = described(MANIFEST, b"what was published")
    whole = publishing._Whole(content=manifest.digest, manifest=manifest, pieces=(), referrer=manifest)
    skopeo = Saying(stage=Path("/nowhere"), access=Access(), by=0.0)
    for answer, why in (
        (b"what was published", None),
        (b"something else", f"something else is there by the digest {manifest.digest}"),
        (Refused(why="manifest unknown"), "is not there: manifest unknown"),
    ):
        monkeypatch.setattr(Saying, "answer", answer)
        got = publishing._read_back(skopeo, "h/mesh/web", whole)
        assert got is None if why is None else why in str(got)


def test_the_artifact_comes_last_and_is_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever finds an artifact finds its provenance; and nothing is published before it was seen there."""
    manifest, referrer = described(MANIFEST, b"artifact"), described(MANIFEST, b"referrer")
    pieces = (
        Piece(descriptor=manifest, content=b"artifact"),
        Piece(descriptor=referrer, content=b"referrer"),
    )
    whole = publishing._Whole(content=GOLDEN, manifest=manifest, pieces=pieces, referrer=referrer)
    skopeo = Saying(stage=tmp_path / "stage", access=Access(), by=0.0)
    monkeypatch.setattr(Saying, "took", [])
    monkeypatch.setattr(Saying, "answer", b"something else")
    why = publishing._carry(skopeo, "h/mesh/web", whole, "0123456789ab")
    assert why == f"it was published, and something else is there by the digest {manifest.digest}"
    assert Saying.took == [
        f"referrer h/mesh/web@{referrer.digest}",
        f"referrers h/mesh/web:{referrers_tag(manifest.digest)}",
        "artifact h/mesh/web:0123456789ab",
    ]


def test_an_index_that_cannot_be_read_is_begun_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    new = described(EMPTY, EMPTY_BYTES, "application/vnd.in-toto+json")
    skopeo = Saying(stage=Path("/nowhere"), access=Access(), by=0.0)
    for answer in (Refused(why="manifest unknown"), b"", b"{}", b'{"manifests":[1]}'):
        monkeypatch.setattr(Saying, "answer", answer)
        (only,) = publishing._referring(skopeo, "h/mesh/web:sha256-00", new)
        assert (only.digest, only.artifact_type) == (new.digest, None)
