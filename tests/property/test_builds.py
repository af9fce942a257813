"""Builds as values: what is asked and said survives its way; what an answer makes of the catalogue."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesh_core import Module, WireError
from mesh_core.builds.becoming import with_artifact
from mesh_core.model.build import Artifact, Request, Said
from mesh_core.model.origin import Origin
from mesh_core.testing import modules, vocabularies
from mesh_core.testing.strategies.dice import thrown
from mesh_core.testing.strategies.of_sources import any_artifact, any_said, origins, requests
from mesh_core.wire.builds import read_builder, read_request, request_to_bytes, said_to_bytes
from mesh_core.wire.origins import origin_from_data, origin_to_data

MODULES = vocabularies().flatmap(modules)
SAID = MODULES.flatmap(lambda module: thrown(16, lambda dice: any_said(dice, module)))


@given(request=requests())
def test_a_request_is_read_as_it_was_sent(request: Request) -> None:
    assert read_request(request_to_bytes(request)) == request


@given(said=SAID)
def test_what_a_builder_says_is_read_as_it_was_sent(said: Said) -> None:
    assert read_builder(said_to_bytes(said)) == said


@given(origin=origins())
def test_where_a_manifest_came_from_is_kept(origin: Origin) -> None:
    assert origin_from_data(origin_to_data(origin)) == origin


@given(said=SAID, data=st.data())
def test_whatever_is_cut_off_or_changed_is_refused_or_read(said: Said, data: st.DataObject) -> None:
    """Garbage from a queue never is anything but a `WireError`."""
    content = said_to_bytes(said)
    cut = data.draw(st.integers(0, len(content) - 1))
    with pytest.raises(WireError):
        read_builder(content[:cut])
    at, byte = data.draw(st.integers(0, len(content) - 1)), data.draw(st.binary(min_size=1, max_size=3))
    with suppress(WireError):
        read_builder(content[:at] + byte + content[at + 1 :])


@given(module=MODULES, artifact=thrown(4, any_artifact))
def test_without_a_tree_the_artifact_changes_no_manifest(module: Module, artifact: Artifact) -> None:
    """> The artifact's digest is put into the module's `tree` resources when the answer is recorded."""
    assert with_artifact(module, artifact) == module
