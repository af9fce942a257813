"""Everything that a mesh document is refused for, with its exact path (design, part 4).

> an unknown key, a newer format, a wrong type, a key that stands twice in one object, a lone surrogate is
> refused with the file, the path (`$.modules[2].provides[0].scope`), what was found, what would do, all
> faults at once. No value is coerced (`1` is no string, `"no"` is no boolean), no text is normalised.
"""

import re
from datetime import date, datetime, time
from typing import Any

import pytest

from mesh_core import Fault, WireError, mesh_from_data
from tests.unit.wire.documents import MISSING, WHOLE, but, steps


def faults_of(document: Any) -> tuple[Fault, ...]:
    with pytest.raises(WireError) as raised:
        mesh_from_data(document)
    return raised.value.faults


def test_the_document_that_has_everything_is_right() -> None:
    mesh = mesh_from_data(WHOLE)
    assert [module.name for module in mesh.catalogue] == ["postgres", "web", "zsh"]


# What each place takes, by its path. Everything else is refused there, with exactly one fault.
TEXT = [
    "$.modules[0].name",
    "$.modules[0].version",
    "$.modules[1].provides[0].name",
    "$.modules[1].provides[0].scope",
    "$.modules[1].provides[0].exports.port",
    "$.modules[2].requires[1].name",
    "$.modules[2].requires[1].from",
    "$.modules[1].claims[1].name",
    "$.modules[1].claims[1].scope",
    "$.modules[1].capabilities[0]",
    "$.modules[0].resources[0].kind",
    "$.modules[0].resources[0].name",
    "$.modules[1].resources[1].path",
    "$.nodes[0].name",
    "$.nodes[0].assign[0]",
    "$.nodes[0].capabilities.gpu.detail",
    "$.nodes[1].pins.database",
    "$.network.range",
    "$.network.peers",
    "$.network.retired[0]",
    "$.nodes[0].network.address",
    "$.nodes[0].network.key",
    "$.nodes[0].network.site",
    "$.nodes[0].network.endpoints[1].at",
    "$.nodes[0].network.endpoints[1].site",
]
NAMED = ["$.modules[0].provides[0]", "$.modules[2].requires[0]", "$.modules[1].claims[0]"]
NAMED += ["$.network", "$.nodes[0].network.endpoints[0]"]
LISTS = [
    "$.modules",
    "$.modules[2].requires",
    "$.modules[1].provides",
    "$.modules[1].claims",
    "$.modules[1].capabilities",
    "$.modules[1].resources",
    "$.nodes",
    "$.nodes[0].assign",
    "$.network.retired",
    "$.nodes[0].network.endpoints",
]
OBJECTS = [
    "$.modules[0]",
    "$.modules[1].provides[0].exports",
    "$.modules[1].resources[1]",
    "$.nodes[0]",
    "$.nodes[0].capabilities",
    "$.nodes[1].pins",
    "$.nodes[0].network",
]
TRUTHS = ["$.nodes[0].capabilities.gpu.present", "$.nodes[0].network.relay"]
VERDICTS = ["$.nodes[0].capabilities.systemd"]

NUMBERS = [0, 1, 1.0, float("nan"), float("inf")]
TOML = [date(2026, 12, 1), time(10), datetime(2026, 12, 1, 10)]  # noqa: DTZ001 - as TOML has it
NO_TEXT = (*NUMBERS, True, False, None, [], ["a"], {}, {"a": 1}, *TOML, b"a")
NO_NAME = (*NUMBERS, True, False, None, [], ["a"], *TOML)
NO_LIST = (*NUMBERS, True, None, "", "zsh", {}, {"a": 1}, ("a",), *TOML)
NO_OBJECT = (*NUMBERS, True, None, "", "zsh", [], ["a"], [{}], *TOML)
NO_TRUTH = (*NUMBERS, "no", "true", "", None, [], {}, *TOML)
NO_VERDICT = (*NUMBERS, "no", "true", "", None, [], *TOML)
# These two may be missing, and null is read as if they were: see below.
NULL_IS_TAKEN = {"$.nodes[0].capabilities", "$.nodes[1].pins"}
WRONG = [
    *((path, NO_TEXT) for path in TEXT),
    *((path, NO_NAME) for path in NAMED),
    *((path, NO_LIST) for path in LISTS),
    *((path, NO_OBJECT) for path in OBJECTS),
    *((path, NO_TRUTH) for path in TRUTHS),
    *((path, NO_VERDICT) for path in VERDICTS),
]


@pytest.mark.parametrize(("path", "values"), WRONG, ids=[path for path, _ in WRONG])
def test_nothing_is_coerced(path: str, values: tuple[Any, ...]) -> None:
    for value in values:
        if value is None and path in NULL_IS_TAKEN:
            continue
        (fault,) = faults_of(but((path, value)))
        assert fault.path == path, repr(value)
        assert fault.found.startswith("found "), repr(value)
        assert fault.wanted.startswith("wanted "), repr(value)


@pytest.mark.parametrize("path", sorted(NULL_IS_TAKEN))
def test_null_is_no_object(path: str) -> None:
    (fault,) = faults_of(but((path, None)))
    assert (fault.path, fault.found) == (path, "found null")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (1, "found the number 1"),
        (1.0, "found the number 1.0"),
        (True, "found true"),
        (False, "found false"),
        (None, "found null"),
        ([], "found a list"),
        ({}, "found an object"),
        (float("nan"), "found the number nan"),
        (date(2026, 12, 1), "found a date"),
        (datetime(2026, 12, 1), "found a datetime"),  # noqa: DTZ001 - as TOML has it
    ],
)
def test_what_was_found_is_told_as_it_was_written(value: Any, found: str) -> None:
    (fault,) = faults_of(but(("$.modules[0].version", value)))
    assert fault.found == found
    assert fault.wanted.startswith("wanted text")


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("$.modules[2].requires[0]", 1, "found the number 1; wanted a name or an object"),
        ("$.modules[0].provides[0]", None, "found null; wanted a name or an object"),
        ("$.modules[1].claims[0]", [], "found a list; wanted a name or an object"),
        ("$.nodes[0].capabilities.systemd", 1, "found the number 1; wanted true, false or an object"),
        ("$.nodes[0].capabilities.systemd", "no", 'found "no"; wanted true or false'),
        ("$.nodes[0].assign", "zsh", 'found "zsh"; wanted a list'),
        ("$.nodes[1].pins", [], "found a list; wanted an object"),
        ("$.modules[0].version", "x" * 60 + " ", f'found "{"x" * 56}...; a version is 1 to 128 printable'),
    ],
)
def test_what_would_do_is_told(path: str, value: Any, told: str) -> None:
    (fault,) = faults_of(but((path, value)))
    assert str(fault).startswith(f"{path}: {told}")


def test_a_number_that_was_meant_as_text_is_told_how_it_is_written() -> None:
    (fault,) = faults_of(but(("$.modules[0].version", 5.9)))
    assert str(fault) == '$.modules[0].version: found the number 5.9; wanted text (in quotes: "5.9")'


@pytest.mark.parametrize("place", ["$", "$.modules[0]", "$.nodes[1]"])
@pytest.mark.parametrize("value", [None, 1, "zsh", [], True, 1.5])
def test_what_should_be_an_object(place: str, value: Any) -> None:
    document = value if place == "$" else but((place, value))
    (fault,) = faults_of(document)
    assert (fault.path, fault.wanted) == (place, "wanted an object")


@pytest.mark.parametrize("found", [0, -1, 1.0, "1", True, False, None, [1], {}, 0.5, float("nan")])
def test_the_format(found: Any) -> None:
    (fault,) = faults_of(but(("$.format", found)))
    assert (fault.path, fault.wanted) == ("$.format", "wanted 1")


@pytest.mark.parametrize("newer", [2, 3, 10**9])
def test_a_newer_format_is_told_alone(newer: int) -> None:
    """What else is wrong with it may be right in that format."""
    document = but(("$.format", newer), ("$.modules[0].version", 1), ("$.overlay", {}), ("$.nodes", None))
    (fault,) = faults_of(document)
    assert fault.path == "$.format"
    assert fault.found == f"found the number {newer}"
    assert fault.wanted == "this program reads format 1, and a newer one is needed for this"


NEEDED = [
    "$.format",
    "$.modules[0].name",
    "$.modules[0].version",
    "$.modules[1].provides[0].name",
    "$.modules[2].requires[2].name",
    "$.modules[1].claims[1].name",
    "$.modules[0].resources[0].kind",
    "$.nodes[0].name",
    "$.nodes[0].capabilities.gpu.present",
]


@pytest.mark.parametrize("path", NEEDED)
def test_a_key_that_is_needed(path: str) -> None:
    """> The document needs `format`, a module `name` and `version`, a node `name` [...] A long capability
    > needs `present`
    """
    (fault,) = faults_of(but((path, MISSING)))
    assert (fault.path, fault.found) == (path, "missing")
    assert fault.wanted.startswith("this key is needed")


@pytest.mark.parametrize(
    ("path", "keys", "meant"),
    [
        ("$.moduls", "format, modules, nodes, sources, network", "modules"),
        (
            "$.modules[0].requried",
            "name, version, requires, provides, claims, capabilities, resources, checks, build",
            "requires",
        ),
        (
            "$.modules[0].Name",
            "name, version, requires, provides, claims, capabilities, resources, checks, build",
            "name",
        ),
        ("$.modules[1].provides[0].scop", "name, scope, exports", "scope"),
        ("$.modules[2].requires[1].form", "name, from", "from"),
        ("$.modules[2].requires[1].from_", "name, from", "from"),
        ("$.modules[1].claims[1].scopes", "name, scope", "scope"),
        ("$.nodes[0].assigned", "name, assign, capabilities, pins, network", "assign"),
        ("$.nodes[0].capabilities.gpu.details", "present, detail", "detail"),
        ("$.nodes[0].zzz", "name, assign, capabilities, pins, network", None),
        ('$.nodes[0][""]', "name, assign, capabilities, pins, network", None),
        ('$.nodes[0]["pins "]', "name, assign, capabilities, pins, network", "pins"),
        ('$["a b"]', "format, modules, nodes, sources, network", None),
    ],
)
def test_an_unknown_key(path: str, keys: str, meant: str | None) -> None:
    (fault,) = faults_of(but((path, "x")))
    assert fault == Fault(
        path=path, found="unknown key", wanted=f"the keys here are {keys}", suggestion=meant
    )
    assert str(fault).endswith(f"{keys} (did you mean {meant}?)" if meant else keys)


NAMES = [
    ("$.modules[0].name", "module name", 63, "._"),
    ("$.modules[0].provides[0]", "provision name", 128, "._:/"),
    ("$.modules[1].provides[0].name", "provision name", 128, "._:/"),
    ("$.modules[2].requires[0]", "provision name", 128, "._:/"),
    ("$.modules[2].requires[2].name", "provision name", 128, "._:/"),
    ("$.modules[1].claims[0]", "claim name", 128, "._:/"),
    ("$.modules[1].claims[1].name", "claim name", 128, "._:/"),
    ("$.modules[1].capabilities[0]", "capability name", 128, "._:/"),
    ("$.nodes[0].name", "node name", 63, ""),
    ("$.nodes[0].assign[0]", "module name", 63, "._"),
    ("$.nodes[1].pins.database", "node name", 63, ""),
]


@pytest.mark.parametrize(("path", "what", "longest", "inside"), NAMES)
def test_a_name_that_breaks_its_grammar(path: str, what: str, longest: int, inside: str) -> None:
    (fault,) = faults_of(but((path, "A Name")))
    assert fault.path == path
    assert fault.found == 'found "A Name"'
    assert fault.wanted.startswith(f"a {what} is 1 to {longest} of")
    assert fault.suggestion == '"a-name"'
    for odd in ("", "a" * (longest + 1), "-a", "a\n", "é"):
        assert [f.path for f in faults_of(but((path, odd)))] == [path]
    for odd in set(":._") - {*inside}:
        assert [f.path for f in faults_of(but((path, f"a{odd}b")))] == [path]
    longer = but((path, "a" + inside + "b"), ("$.modules[1].resources", []))
    mesh_from_data(longer)


@pytest.mark.parametrize("target", ["nas/", "/postgres", "/", "nas/a/b", "nas/Postgres", "nas /postgres", ""])
def test_a_pin_is_at_a_node_or_at_a_module_on_it(target: str) -> None:
    """> A pin is `"node"` or `"node/module"`."""
    faults = faults_of(but(("$.nodes[1].pins.database", target)))
    assert len(faults) == (2 if target == "/" else 1)
    fault = faults[0]
    assert fault.path == "$.nodes[1].pins.database"


def test_a_version() -> None:
    for odd in ("", "1 0", "1\n", "v" * 129):
        (fault,) = faults_of(but(("$.modules[0].version", odd)))
        assert fault.path == "$.modules[0].version"
        assert fault.wanted == "a version is 1 to 128 printable characters without white space"


@pytest.mark.parametrize(
    ("path", "value", "words", "meant"),
    [
        ("$.modules[1].provides[0].scope", "nod", '"node" or "mesh"', '"node"'),
        ("$.modules[1].claims[1].scope", "Mesh", '"node" or "mesh"', '"mesh"'),
        ("$.modules[1].claims[1].scope", "", '"node" or "mesh"', None),
        ("$.modules[2].requires[1].from", "evry", '"one" or "every"', '"every"'),
        ("$.modules[2].requires[1].from", "all", '"one" or "every"', None),
    ],
)
def test_a_word_that_is_none_of_a_few(path: str, value: str, words: str, meant: str | None) -> None:
    (fault,) = faults_of(but((path, value)))
    assert (fault.path, fault.wanted, fault.suggestion) == (path, f"wanted {words}", meant)


def test_the_order_in_which_faults_are_told() -> None:
    """> keys that are unknown; the modules, then the nodes, as they are listed, and of each its keys as the
    > format has them; last what two of them do to each other
    """
    document = {
        "nodes": [{"assign": 1, "name": "A"}, {"zzz": 1, "name": "n"}, {"name": "n"}],
        "modules": [{"requires": 1, "name": "a"}, {"name": "a", "version": "1", "checks": 1}],
        "zzz": 1,
        "format": 2.0,
    }
    backwards = dict(reversed(document.items()))
    expected = [
        "$.format",
        "$.zzz",
        "$.modules[0].version",
        "$.modules[0].requires",
        "$.modules[1].checks",
        "$.nodes[0].name",
        "$.nodes[0].assign",
        "$.nodes[1].zzz",
        "$.modules[1].name",
        "$.nodes[2].name",
    ]
    for written in (document, backwards):
        assert [fault.path for fault in faults_of(written)] == expected


TWICE = [
    ("$.modules[2].requires[3]", "shell", "shell"),
    ("$.modules[2].requires[3]", {"name": "shell", "from": "every"}, "shell"),
    ("$.modules[0].provides[1]", {"name": "shell"}, "shell"),
    ("$.modules[1].claims[2]", "primary", "primary"),
    ("$.modules[1].capabilities[1]", "systemd", "systemd"),
    ("$.modules[1].resources[2]", {"kind": "directory", "path": "/etc/motd"}, "path:/etc/motd"),
    ("$.modules[1].resources[2]", {"kind": "package", "name": "postgresql"}, "package:postgresql"),
    ("$.nodes[1].assign[2]", "web", "web"),
]


@pytest.mark.parametrize(("path", "value", "name"), TWICE)
def test_a_name_that_stands_twice_in_one_list(path: str, value: Any, name: str) -> None:
    (fault,) = faults_of(but((path, value)))
    assert fault.path == path
    assert re.fullmatch(f'"{name}" stands here and at {re.escape(path[:-2])}\\d\\]', fault.found)
    assert fault.wanted == "it may stand once"


@pytest.mark.parametrize(
    ("added", "found"),
    [
        (("$.modules[3]", {"name": "zsh", "version": "6"}), '"zsh" stands here and at $.modules[0].name'),
        (("$.nodes[2]", {"name": "pi"}), '"pi" stands here and at $.nodes[1].name'),
    ],
)
def test_two_of_one_name(added: tuple[str, Any], found: str) -> None:
    """> two modules or two nodes of one name"""
    (fault,) = faults_of(but(added))
    assert fault == Fault(path=f"{added[0]}.name", found=found, wanted="it may stand once")


@pytest.mark.parametrize(
    ("change", "path", "says"),
    [
        # Both are named, and the one that comes later is at fault.
        (
            ("$.modules[2]", {"name": "web", "version": "1", "provides": ["a", "database"]}),
            "$.modules[2].provides[1]",
            "web provides 'database' with scope node, and postgres provides it with scope mesh",
        ),
        (
            ("$.modules[2].provides", [{"name": "psql", "scope": "mesh"}]),
            "$.modules[2].provides[0].scope",
            "web provides 'psql' with scope mesh, and postgres provides it with scope node",
        ),
        (
            ("$.modules[0].claims", [{"scope": "mesh", "name": "port:5432"}]),
            "$.modules[1].claims[0]",
            "postgres claims 'port:5432' with scope node, and zsh claims it with scope mesh",
        ),
        (
            ("$.modules[2].claims", [{"name": "primary", "scope": "node"}]),
            "$.modules[2].claims[0].scope",
            "web claims 'primary' with scope node, and postgres claims it with scope mesh",
        ),
        (
            ("$.modules[2].requires[0]", {"name": "psql", "from": "every"}),
            "$.modules[2].requires[0]",
            "web requires 'psql' from every, and postgres provides it with scope node",
        ),
        (
            ("$.modules[2].provides", ["metrics"]),
            "$.modules[2].requires[2]",
            "web requires 'metrics' from every, and web provides it with scope node",
        ),
        (
            ("$.modules[1].requires", ["x", "psql"]),
            "$.modules[1].requires[1]",
            "postgres requires 'psql' and provides it itself",
        ),
        (
            ("$.modules[1].requires", [{"name": "database", "from": "one"}]),
            "$.modules[1].requires[0]",
            "postgres requires 'database' and provides it itself",
        ),
    ],
)
def test_what_cannot_stand_in_one_catalogue(change: tuple[str, Any], path: str, says: str) -> None:
    """> Scopes that disagree, a node-scoped name asked from every and a module that requires what it
    > provides are a `CatalogueError` of the value classes; a document with them is refused like any other
    > malformed one, all at once.
    """
    (fault,) = faults_of(but(change))
    assert fault.path == path
    assert fault.wanted.startswith(says)


def test_a_document_in_which_everything_is_wrong_tells_all_of_it() -> None:
    """> all faults at once"""
    wrong = {
        "$.format": "1",
        "$.overlay": {},
        "$.modules[0].version": 5.9,
        "$.modules[0].provides[0]": "Shell",
        "$.modules[0].zzz": 1,
        "$.modules[1].provides[0].scope": "nod",
        "$.modules[1].provides[0].exports.port": 5432,
        "$.modules[1].provides[1]": None,
        "$.modules[1].claims[1].name": MISSING,
        "$.modules[1].capabilities": "systemd",
        "$.modules[1].resources[0].kind": "path",
        "$.modules[1].resources[1].path": "/etc/../motd",
        "$.modules[1].resources[1].lines[0].text": float("nan"),
        "$.modules[2].requires[0]": 1,
        "$.modules[2].requires[2].from": "all",
        "$.modules[3]": "zsh",
        "$.nodes[0].name": "NAS",
        "$.nodes[0].assign[0]": True,
        "$.nodes[0].capabilities.systemd": "yes",
        "$.nodes[0].capabilities.gpu.present": MISSING,
        "$.nodes[1].pins.database": 1,
        "$.nodes[1].pins.mail": "nas/",
        "$.nodes[2]": None,
    }
    assert {fault.path for fault in faults_of(but(*wrong.items()))} == {*wrong}
    assert len(faults_of(but(*wrong.items()))) == len(wrong)


def test_the_error_tells_a_fault_a_line() -> None:
    with pytest.raises(WireError) as raised:
        mesh_from_data(but(("$.format", 0), ("$.nodes[0].name", 1)))
    assert str(raised.value) == (
        "$.format: found the number 0; wanted 1\n"
        '$.nodes[0].name: found the number 1; wanted text (in quotes: "1")'
    )
    assert isinstance(raised.value, ValueError)


def test_catalogue_faults_are_told_beside_the_others() -> None:
    document = but(("$.format", 0), ("$.modules[1].requires", ["psql"]), ("$.nodes[1].name", 1))
    assert [fault.path for fault in faults_of(document)] == [
        "$.format",
        "$.nodes[1].name",
        "$.modules[1].requires[0]",
    ]


@pytest.mark.parametrize(
    "path", [*TEXT, "$.modules[1].resources[1].lines[0].text", "$.modules[2].requires[0]"]
)
def test_a_lone_surrogate(path: str) -> None:
    (fault,) = faults_of(but((path, "a\ud800b")))
    assert fault.path == path
    str(fault).encode()  # what is told can be printed


@pytest.mark.parametrize(
    ("inside", "told_at"),
    [
        ("$", '$["\\ud800"]'),
        ("$.modules[0]", "$.modules[0]"),
        ("$.modules[1].provides[0]", "$.modules[1].provides[0]"),
        ("$.modules[1].provides[0].exports", "$.modules[1].provides[0].exports"),
        ("$.modules[1].resources[1]", "$.modules[1].resources[1]"),
        ("$.modules[1].resources[1].lines[0]", "$.modules[1].resources[1].lines[0]"),
        ("$.nodes[0]", "$.nodes[0]"),
        ("$.nodes[0].capabilities", "$.nodes[0].capabilities"),
        ("$.nodes[1].pins", "$.nodes[1].pins"),
    ],
)
def test_a_lone_surrogate_in_a_key(inside: str, told_at: str) -> None:
    document = but()
    place = document
    for step in steps(inside):
        place = place[step]
    place["\ud800"] = "nas"
    (fault,) = faults_of(document)
    assert fault.path == told_at
    str(fault).encode()


@pytest.mark.parametrize("key", [1, None, True, 1.5, ("a",)])
def test_a_key_that_is_no_text(key: Any) -> None:
    """JSON and TOML have none, but a caller's dictionary can."""
    for inside in ("$.modules[0]", "$.nodes[1].pins", "$.modules[1].resources[1].lines[0]"):
        document = but()
        place = document
        for step in steps(inside):
            place = place[step]
        place[key] = "nas"
        (fault,) = faults_of(document)
        assert (fault.path, fault.wanted) == (inside, "a key is text")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (float("nan"), "found the number nan"),
        (float("inf"), "found the number inf"),
        (float("-inf"), "found the number -inf"),
        (date(2026, 12, 1), "found a date"),
        (time(10), "found a time"),
        (datetime(2026, 12, 1), "found a datetime"),  # noqa: DTZ001 - as TOML has it
        ("\udfff", "found a lone surrogate"),
        (("a",), "found a tuple"),
        (b"a", "found a bytes"),
        ({1}, "found a set"),
    ],
)
@pytest.mark.parametrize(
    "path",
    [
        "$.modules[1].resources[1].mode",
        "$.modules[1].resources[1].lines[0].text",
        "$.modules[0].resources[0].a",
    ],
)
def test_an_attribute_is_plain_json(path: str, value: Any, found: str) -> None:
    """> NaN, infinities and TOML's dates are refused."""
    (fault,) = faults_of(but((path, value)))
    assert fault == Fault(path=path, found=found, wanted="an attribute is plain JSON data")


@pytest.mark.parametrize(
    "value", [None, True, 0, 1.5, "", "\0", [], {}, [[]], {"": {}}, {"kind": {"path": "a"}}]
)
def test_any_plain_json_is_an_attribute(value: Any) -> None:
    mesh = mesh_from_data(but(("$.modules[1].resources[1].mode", value)))
    module = mesh.catalogue.get("postgres")
    assert module is not None
    found = module.resources[1].attributes["mode"]
    assert (found, type(found)) == (value, type(value))


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def test_an_attribute_is_not_nested_too_deeply() -> None:
    path = "$.modules[1].resources[1].mode"
    mesh_from_data(but((path, nested(64))))
    for depth in (65, 900, 5_000):
        (fault,) = faults_of(but((path, nested(depth)), document={**WHOLE}))
        assert fault.path == path + "[0]" * 65
        assert fault.wanted == "nest it less deeply"


@pytest.mark.parametrize(
    ("resource", "path", "wanted"),
    [
        ({"kind": "file"}, "", "a resource has exactly one of them"),
        ({"kind": "file", "path": "/a", "name": "a"}, "", "a resource has exactly one of them"),
        ({"kind": "", "name": "a"}, ".kind", "the kind is empty"),
        ({"kind": "path", "name": "a"}, ".kind", "'path' is no kind: it has no ':' and is not 'path'"),
        ({"kind": "a:b", "path": "/a"}, ".kind", "'a:b' is no kind: it has no ':' and is not 'path'"),
        ({"kind": "a", "name": ""}, ".name", "a name is not empty"),
        ({"kind": "a", "path": ""}, ".path", "a path is absolute and normal"),
        ({"kind": "a", "path": "a"}, ".path", "a path is absolute and normal"),
        ({"kind": "a", "path": "/a/"}, ".path", "a path is absolute and normal"),
        ({"kind": "a", "path": "/a\0"}, ".path", "a path is absolute and normal"),
        ({"kind": "a", "name": None}, ".name", "wanted text"),
        ({"name": "a"}, ".kind", "this key is needed"),
    ],
)
def test_a_resource(resource: Any, path: str, wanted: str) -> None:
    (fault,) = faults_of(but(("$.modules[0].resources[0]", resource)))
    assert (fault.path, fault.wanted) == ("$.modules[0].resources[0]" + path, wanted)


@pytest.mark.parametrize(
    ("path", "meant"), [("/etc//motd", "/etc/motd"), ("/etc/../x", "/x"), ("//", "/"), ("a", None)]
)
def test_a_path_that_would_do(path: str, meant: str | None) -> None:
    (fault,) = faults_of(but(("$.modules[1].resources[1].path", path)))
    assert fault.suggestion == (f'"{meant}"' if meant else None)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ('$.nodes[1].pins["Data Base"]', "nas"),
        ('$.nodes[1].pins[""]', "nas/postgres"),
        ("$.nodes[0].capabilities.GPU", True),
        ('$.nodes[0].capabilities["a b"]', {"present": True}),
    ],
)
def test_a_key_that_is_a_name_keeps_to_its_grammar(path: str, value: Any) -> None:
    (fault,) = faults_of(but((path, value)))
    assert fault.path == path


@pytest.mark.parametrize("path", ["$.nodes[1].pins.DB", "$.nodes[0].capabilities.GPU"])
def test_a_bad_key_and_its_bad_value_are_both_told(path: str) -> None:
    found = faults_of(but((path, 1)))
    assert [fault.path for fault in found] == [path, path]


def test_a_pin_at_a_bad_node_and_a_bad_module_tells_both() -> None:
    found = faults_of(but(("$.nodes[1].pins.database", "NAS/Postgres")))
    assert [fault.suggestion for fault in found] == ['"nas"', '"postgres"']


def test_a_key_that_is_no_text_is_told_beside_the_rest() -> None:
    document = but(("$.modules[0].version", 1), ("$.modules[0].zzz", 1))
    document["modules"][0]["\ud800"] = 1
    found = {fault.path for fault in faults_of(document)}
    assert {"$.modules[0].version", "$.modules[0].zzz"} < found


def test_two_of_one_name_are_told_beside_what_else_is_wrong_with_them() -> None:
    document = but(("$.modules[3]", {"name": "zsh", "version": 6}), ("$.nodes[2]", {"name": "pi", "zzz": 1}))
    found = [fault.path for fault in faults_of(document)]
    assert found == [
        "$.modules[3].version",
        "$.nodes[2].zzz",
        "$.modules[3].name",
        "$.nodes[2].name",
    ]


@pytest.mark.parametrize(
    "path",
    [
        "$.format",
        "$.network.port",
        "$.modules[0].version",
        "$.modules[0]",
        "$.nodes",
        "$.modules[1].resources[1].lines[0].text",
    ],
)
def test_a_number_of_thousands_of_digits(path: str) -> None:
    """As TOML can write it in hexadecimal."""
    (fault,) = faults_of(but((path, 16**5000)))
    assert fault.path == path
