"""The grammar of names, at its edges (design, part 2).

> Node: one DNS label (up to 63 of `[a-z0-9-]`, beginning and ending in `[a-z0-9]`). Module: the same with `.`
> and `_` allowed inside. Provision, claim and capability: as module, with `:` and `/` too, up to 128
> (`port:443`, `port:10.0.0.5:443`). Version: 1 to 128 printable characters, no white space, never read as a
> number. Anything else is refused with the name, the rule and, where there is one, a spelling that would do.
"""

from collections.abc import Callable

import pytest

from mesh_core import Capability, Claim, InvalidValue, Module, Node, Pin, Provision, Requirement
from mesh_core.faults import BadName, NameKind
from mesh_core.model.names import name_fault

LONG = (NameKind.PROVISION, NameKind.CLAIM, NameKind.CAPABILITY)
NAMES = (NameKind.NODE, NameKind.MODULE, *LONG)

OF_ANY_KIND = ("a", "0", "9z", "a-b", "a--b", "0-0", "n" * 63)
INSIDE_MODULE = ("a.b", "a_b", "a..b", "a._-b", "python3.11", "m" + "." * 61 + "m")
INSIDE_LONG = ("port:443", "port:10.0.0.5:443", "a/b", "a:/b", "x" * 128, "x" + ":" * 126 + "x")
RIGHT = [
    *((name, NAMES) for name in OF_ANY_KIND),
    *((name, (NameKind.MODULE, *LONG)) for name in INSIDE_MODULE),
    *((name, LONG) for name in INSIDE_LONG),
]

OF_NO_KIND = (
    "",
    "-",
    "-a",
    "a-",
    ".a",
    "a.",
    "_a",
    "a_",
    ":a",
    "a:",
    "/a",
    "a/",
    "A",
    "aB",
    "a b",
    " a",
    "a ",
    "a\n",
    "\na",
    "a\0b",
    "a\\b",
    "a,b",
    "a@b",
    "a+b",
    "a*b",
    "é",
    "aéb",
    "ß",
    "\u0663",  # a digit, and not one of 0-9
    "\uff41",  # an a, and not that of a-z
    "a\u200bb",
    "\ud800",
    "x" * 129,
)
WRONG = [
    *((name, NAMES) for name in OF_NO_KIND),
    *((name, (NameKind.NODE, NameKind.MODULE)) for name in ("a:b", "a/b", "n" * 64)),
    *((name, (NameKind.NODE,)) for name in ("a.b", "a_b", "pi.local")),
]


@pytest.mark.parametrize(("name", "kinds"), RIGHT)
def test_a_right_name(name: str, kinds: tuple[NameKind, ...]) -> None:
    for kind in kinds:
        assert name_fault(kind, name) is None


@pytest.mark.parametrize(("name", "kinds"), WRONG)
def test_a_wrong_name_is_refused_with_the_name_and_the_rule(name: str, kinds: tuple[NameKind, ...]) -> None:
    for kind in kinds:
        fault = name_fault(kind, name)
        assert fault is not None
        assert (fault.kind, fault.name) == (kind, name)
        assert fault.rule.startswith("1 to 128 of" if kind in LONG else "1 to 63 of")


@pytest.mark.parametrize("kind", NAMES)
def test_every_character_has_its_place_or_none(kind: NameKind) -> None:
    inside = {NameKind.NODE: "-", NameKind.MODULE: "-._"}.get(kind, "-._:/")
    for character in map(chr, range(0x250)):
        edge = character in "abcdefghijklmnopqrstuvwxyz0123456789"
        assert (name_fault(kind, f"a{character}b") is None) is (edge or character in inside)
        assert (name_fault(kind, character) is None) is edge
        assert (name_fault(kind, f"{character}b") is None) is edge
        assert (name_fault(kind, f"a{character}") is None) is edge


@pytest.mark.parametrize(
    "version", ["1", "1.0", "007", "1e999", "nan", "true", "16.2-rc.1+deb12u1", "~", "é", "日本", "v" * 128]
)
def test_a_right_version(version: str) -> None:
    assert name_fault(NameKind.VERSION, version) is None
    assert Module(name="a", version=version).version == version


@pytest.mark.parametrize(
    "version",
    [
        "",
        " ",
        "1 0",
        " 1",
        "1 ",
        "1\t0",
        "1\n",
        "\u00a0",
        "1\u2003",
        "\0",
        "\x7f",
        "\u200b",
        "\ud800",
        "v" * 129,
    ],
)
def test_a_wrong_version(version: str) -> None:
    fault = name_fault(NameKind.VERSION, version)
    assert fault == BadName(
        kind=NameKind.VERSION, name=version, rule="1 to 128 printable characters without white space"
    )


@pytest.mark.parametrize(
    ("kind", "name", "would_do"),
    [
        (NameKind.NODE, "Pi", "pi"),
        (NameKind.NODE, "my.node", "my-node"),
        (NameKind.NODE, "-pi-", "pi"),
        (NameKind.NODE, "living room  pi", "living-room-pi"),
        (NameKind.NODE, "n" * 64, "n" * 63),
        (NameKind.NODE, "n" * 62 + "-m", "n" * 62),
        (NameKind.MODULE, "_Web_Server_", "web_server"),
        (NameKind.MODULE, "web server", "web-server"),
        (NameKind.MODULE, "port:443", "port-443"),
        (NameKind.PROVISION, "PORT:443", "port:443"),
        (NameKind.CLAIM, "/run/lock/", "run/lock"),
        (NameKind.CAPABILITY, "x" * 200, "x" * 128),
        # There is no spelling that would do.
        (NameKind.NODE, "", None),
        (NameKind.NODE, "___", None),
        (NameKind.MODULE, "é", None),
        (NameKind.CLAIM, ":/", None),
        (NameKind.VERSION, "1 0", None),
    ],
)
def test_a_spelling_that_would_do(kind: NameKind, name: str, would_do: str | None) -> None:
    fault = name_fault(kind, name)
    assert fault is not None
    assert fault.suggestion == would_do
    assert would_do is None or name_fault(kind, would_do) is None


def test_the_sentence_has_the_name_the_rule_and_the_spelling() -> None:
    assert str(name_fault(NameKind.NODE, "My Pi")) == (
        "'My Pi' is no node name: "
        "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or a digit; 'my-pi' would do"
    )
    assert str(name_fault(NameKind.MODULE, "é")).endswith("a letter or a digit")
    rule = "1 to 128 printable characters without white space"
    assert str(name_fault(NameKind.VERSION, "1 0")) == f"'1 0' is no version: {rule}"


WITH_A_NAME: list[tuple[NameKind, Callable[[str], object]]] = [
    (NameKind.NODE, lambda name: Node(name=name)),
    (NameKind.MODULE, lambda name: Node(name="n", assigned=["a", name])),
    (NameKind.CAPABILITY, lambda name: Capability(name=name)),
    (NameKind.PROVISION, lambda name: Pin(provision=name, node="n")),
    (NameKind.NODE, lambda name: Pin(provision="p", node=name)),
    (NameKind.MODULE, lambda name: Pin(provision="p", node="n", module=name)),
    (NameKind.MODULE, lambda name: Module(name=name, version="1")),
    (NameKind.VERSION, lambda name: Module(name="a", version=name)),
    (NameKind.CAPABILITY, lambda name: Module(name="a", version="1", capabilities=["g", name])),
    (NameKind.PROVISION, lambda name: Requirement(name=name)),
    (NameKind.PROVISION, lambda name: Provision(name=name)),
    (NameKind.CLAIM, lambda name: Claim(name=name)),
]


@pytest.mark.parametrize(("kind", "value"), WITH_A_NAME)
def test_every_value_with_a_name_keeps_to_its_grammar(kind: NameKind, value: Callable[[str], object]) -> None:
    longest = 128 if kind in (*LONG, NameKind.VERSION) else 63
    value("a" * longest)
    for wrong in ("a" * (longest + 1), "a b", ""):
        with pytest.raises(InvalidValue) as raised:
            value(wrong)
        assert raised.value.faults == (name_fault(kind, wrong),)
        assert str(raised.value) == str(name_fault(kind, wrong))
