"""Resources: identity, equality and what is none (design, part 4)."""

from typing import Any

import pytest

from mesh_core import InvalidValue, Module, Resource
from mesh_core.faults import BadResource, Duplicate


def resource(**attributes: Any) -> Resource:
    return Resource(kind="file", path="/etc/motd", attributes_json=attributes)


@pytest.mark.parametrize(
    ("given", "identity"),
    [
        ({"kind": "package", "name": "zsh"}, "package:zsh"),
        ({"kind": "package", "name": "a:b c"}, "package:a:b c"),
        ({"kind": "file", "path": "/etc/motd"}, "path:/etc/motd"),
        ({"kind": "directory", "path": "/etc/motd"}, "path:/etc/motd"),
        ({"kind": "file", "path": "/"}, "path:/"),
        ({"kind": "an odd kind", "path": "/a b"}, "path:/a b"),
        ({"kind": "file", "path": "/..."}, "path:/..."),
        ({"kind": "file", "path": "/.hidden/a~"}, "path:/.hidden/a~"),
    ],
)
def test_identity(given: dict[str, str], identity: str) -> None:
    """> Its identity is `path:/etc/motd` or `package:zsh` (kind and name). [...]
    > a path is an identity whatever the kind.
    """
    assert Resource(**given).identity == identity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"mode": 1, "owner": "root"}, {"owner": "root", "mode": 1}),
        ({"of": {"a": 1, "b": [1, 2]}}, {"of": {"b": [1, 2], "a": 1}}),
        ({"size": 100.0}, {"size": 1e2}),
        ({"text": "é"}, {"text": "\u00e9"}),
    ],
)
def test_equal_content(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert resource(**one) == resource(**other)
    assert hash(resource(**one)) == hash(resource(**other))


DIFFERENT = [1, 1.0, True, "1", [1], {"1": 1}, 0, 0.0, -0.0, False, None, "", [], {}, "é", "e\u0301", "True"]


@pytest.mark.parametrize("place", range(len(DIFFERENT)))
def test_content_that_differs_in_type_differs(place: int) -> None:
    """> Equality of resources is that of canonical JSON [...] so `1`, `1.0` and `true` differ."""
    differing = DIFFERENT[place]
    for other in DIFFERENT[place + 1 :]:
        assert resource(mode=differing) != resource(mode=other)
        assert resource(deep=[{"mode": differing}]) != resource(deep=[{"mode": other}])
    assert resource(mode=differing) == resource(mode=differing)
    assert resource(mode=differing) != resource()


def test_kind_and_path_are_content_too() -> None:
    assert Resource(kind="file", path="/a") != Resource(kind="directory", path="/a")
    assert Resource(kind="package", name="a") != Resource(kind="package", name="b")


def test_attributes_are_a_fresh_copy() -> None:
    given = {"list": [1]}
    made = resource(**given)
    given["list"].append(2)
    made.attributes["list"].append(3)
    assert made.attributes == {"list": [1]}
    assert made.attributes_json == '{"list":[1]}'


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"kind": ""}, "the kind is empty"),
        ({"kind": "path"}, "'path' is no kind: it has no ':' and is not 'path'"),
        ({"kind": "a:b"}, "'a:b' is no kind: it has no ':' and is not 'path'"),
        ({"kind": ":"}, "':' is no kind: it has no ':' and is not 'path'"),
    ],
)
def test_what_is_no_kind(given: dict[str, str], why: str) -> None:
    """> A resource's kind has no `:` and is not `path`."""
    for place in ({"name": "a"}, {"path": "/a"}):
        with pytest.raises(InvalidValue) as raised:
            Resource(**given, **place)
        assert raised.value.faults == (BadResource(why=why),)


@pytest.mark.parametrize("place", [{}, {"path": "/a", "name": "a"}])
def test_exactly_one_of_path_and_name(place: dict[str, str]) -> None:
    with pytest.raises(InvalidValue, match="exactly one of 'path' and 'name'"):
        Resource(kind="file", **place)


def test_a_name_is_not_empty() -> None:
    with pytest.raises(InvalidValue, match="the name is empty"):
        Resource(kind="package", name="")


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("/etc//motd", "/etc/motd"),
        ("/etc/../x", "/x"),
        ("//etc", "/etc"),
        ("///etc", "/etc"),
        ("//", "/"),
        ("/etc/", "/etc"),
        ("/.", "/"),
        ("/./a", "/a"),
        ("/a/.", "/a"),
        ("/..", "/"),
        ("/../../a", "/a"),
        ("/a/b/..", "/a"),
    ],
)
def test_a_path_that_is_not_normal(path: str, normal: str) -> None:
    """> A path is absolute and normal (`/etc//motd` or `/etc/../x` is refused)."""
    with pytest.raises(InvalidValue) as raised:
        Resource(kind="file", path=path)
    assert raised.value.faults == (BadResource(why=f"{path!r} is not normal; {normal!r} would do"),)
    assert Resource(kind="file", path=normal).path == normal


@pytest.mark.parametrize("path", ["", "a", "etc/motd", "./a", "../a", "~/a", " /a", "C:/a"])
def test_a_path_that_is_not_absolute(path: str) -> None:
    with pytest.raises(InvalidValue, match="is no absolute path"):
        Resource(kind="file", path=path)


def test_a_path_with_nul() -> None:
    with pytest.raises(InvalidValue, match="NUL"):
        Resource(kind="file", path="/a\0b")


@pytest.mark.parametrize("reserved", ["kind", "path", "name"])
def test_what_has_its_own_field_is_no_attribute(reserved: str) -> None:
    with pytest.raises(InvalidValue, match="are not attributes"):
        Resource(kind="file", path="/a", attributes_json={reserved: "x"})


@pytest.mark.parametrize(
    ("attribute", "found"),
    [
        (float("nan"), "the number nan"),
        ([float("-inf")], "the number -inf"),
        ({"a": "\ud800"}, "a lone surrogate"),
        ({1: 2}, "the key 1, which is no text"),
        (b"a", "a bytes"),
    ],
)
def test_what_is_no_plain_data_is_told_in_a_sentence(attribute: Any, found: str) -> None:
    with pytest.raises(InvalidValue) as raised:
        Resource(kind="file", path="/a", attributes_json={"of": attribute})
    assert str(raised.value) == f"attributes are plain JSON data: found {found}"


def test_one_manifest_names_an_identity_once() -> None:
    """> one manifest that names an identity twice is refused"""
    same = [Resource(kind="file", path="/a"), Resource(kind="directory", path="/a")]
    with pytest.raises(InvalidValue) as raised:
        Module(name="a", version="1", resources=same)
    assert raised.value.faults == (Duplicate(where="resources", name="path:/a"),)
    # Nor twice with the same content; and a package is another thing than a service of its name.
    with pytest.raises(InvalidValue):
        Module(name="a", version="1", resources=[same[0], same[0]])
    two = [Resource(kind="package", name="a"), Resource(kind="service", name="a")]
    assert Module(name="a", version="1", resources=two).resources == tuple(two)
