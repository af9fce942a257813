"""The declaration document: it says what it is, whole, or it is refused (design, part 8).

> A declaration is state, sent whole, latest wins. [...] The host refuses one that is truncated.
"""

import copy
import json
from typing import Any

import pytest

from mesh_core import Resource, WireError
from mesh_core.canonical import canonical_json
from mesh_core.model.check import Check
from mesh_core.model.declaration import Declaration, DeclaredAnswer, DeclaredModule, Given
from mesh_core.wire.declaration import (
    content_fingerprint,
    declaration_from_data,
    declaration_to_data,
    digest_of,
    read_declaration,
)
from mesh_core.wire.fingerprint import fingerprint
from mesh_core.wire.text import DECLARATION_LIMIT

WHOLE = Declaration(
    node="pi",
    generation=43,
    modules=[
        DeclaredModule(
            name="zsh", version="5.9", resources=[Resource(kind="package", name="zsh", attributes_json={})]
        ),
        DeclaredModule(
            name="web",
            version="1.4.0",
            resources=[
                Resource(
                    kind="file", path="/etc/web", attributes_json={"content": "größer\n", "deep": [1, {}]}
                ),
                Resource(kind="directory", path="/srv"),
            ],
            answers=[
                DeclaredAnswer(provision="shell", given=[Given(node="pi", module="zsh")]),
                DeclaredAnswer(
                    provision="database",
                    given=[Given(node="nas", module="postgres", exports={"port": "5432", "host": "nas"})],
                ),
                DeclaredAnswer(
                    provision="metrics",
                    every=True,
                    given=[Given(node="pi", module="web"), Given(node="nas", module="web")],
                ),
                DeclaredAnswer(provision="logs", every=True, given=[]),
            ],
            checks=[Check(kind="tcp", attributes_json={"port": 80})],
        ),
    ],
)

WORDS = Declaration(node="nas", generation=0, allow_removals=True, empty=True)


@pytest.mark.parametrize("declaration", [WHOLE, WORDS, Declaration(node="a", generation=1)])
def test_it_is_read_as_it_was_written(declaration: Declaration) -> None:
    data = declaration_to_data(declaration)
    assert declaration_from_data(data) == declaration
    for written in (json.dumps(data), json.dumps(data, indent=2, ensure_ascii=False), canonical_json(data)):
        assert read_declaration(written.encode()) == declaration
    assert declaration_to_data(declaration_from_data(data)) == data
    assert data["digest"] == digest_of(declaration)


def test_how_it_is_written() -> None:
    data = declaration_to_data(WHOLE)
    assert list(data) == ["format", "node", "generation", "network", "modules", "items", "digest"]
    assert data["network"] is None
    assert data["items"] == 6
    assert data["modules"][0] == {
        "name": "zsh",
        "version": "5.9",
        "resources": [{"kind": "package", "name": "zsh"}],
    }
    assert data["modules"][1]["answers"] == {
        "database": {"node": "nas", "module": "postgres", "exports": {"host": "nas", "port": "5432"}},
        "logs": [],
        "metrics": [
            {"node": "nas", "module": "web", "exports": {}},
            {"node": "pi", "module": "web", "exports": {}},
        ],
        "shell": {"node": "pi", "module": "zsh", "exports": {}},
    }
    assert data["modules"][1]["checks"] == [{"kind": "tcp", "port": 80}]
    words = declaration_to_data(WORDS)
    assert (words["allow_removals"], words["empty"]) == (True, True)


def test_cut_at_every_byte_it_is_refused() -> None:
    content = json.dumps(declaration_to_data(WHOLE), ensure_ascii=False).encode()
    for length in range(len(content)):
        with pytest.raises(WireError):
            read_declaration(content[:length])


def signed(data: dict[str, Any]) -> dict[str, Any]:
    """The document with the digest of what it says now: whoever changed it knew how."""
    rest = {key: value for key, value in data.items() if key != "digest"}
    return {**rest, "digest": fingerprint(rest)}


def refusal(data: Any) -> list[str]:
    with pytest.raises(WireError) as caught:
        declaration_from_data(data)
    return [fault.path for fault in caught.value.faults]


@pytest.mark.parametrize(
    ("key", "value", "path"),
    [
        ("network", [], "$.network"),
        ("network", {"address": "10.77.0.3"}, "$.network.range"),
        ("network", False, "$.network"),
        ("format", 2, "$.format"),
        ("format", True, "$.format"),
        ("node", "Pi", "$.node"),
        ("generation", -1, "$.generation"),
        ("generation", 1.0, "$.generation"),
        ("generation", "43", "$.generation"),
        ("items", 5, "$.items"),
        ("items", 7, "$.items"),
        ("modules", {}, "$.modules"),
        ("modules", [], "$.items"),
        ("allow_removals", 1, "$.allow_removals"),
        ("modlues", [], "$.modlues"),
    ],
)
def test_what_says_something_else_than_it_may_is_refused_in_its_place(
    key: str, value: Any, path: str
) -> None:
    data = signed({**declaration_to_data(WHOLE), key: value})
    assert refusal(data) == [path]


@pytest.mark.parametrize("key", ["format", "node", "generation", "network", "modules", "items", "digest"])
def test_every_key_is_needed(key: str) -> None:
    data = declaration_to_data(WHOLE)
    del data[key]
    assert refusal(data if key == "digest" else signed(data)) == [f"$.{key}"]


def test_what_was_changed_on_its_way_is_refused_by_its_digest() -> None:
    data = declaration_to_data(WHOLE)
    assert refusal({**data, "digest": "0" * 64}) == ["$.digest"]
    assert refusal({**data, "generation": 44}) == ["$.digest"]
    other = copy.deepcopy(data)
    other["modules"][1]["resources"][0]["content"] = "smaller\n"
    assert refusal(other) == ["$.digest"]
    other = copy.deepcopy(data)
    other["modules"].reverse()
    assert refusal(other) == ["$.digest"], "the order says what comes first"


def test_inside_a_module_nothing_else_may_stand_either() -> None:
    data = declaration_to_data(WHOLE)
    data["modules"][1]["answers"]["database"]["nodes"] = "nas"
    data["modules"][0]["requires"] = []
    assert refusal(signed(data)) == ["$.modules[0].requires", "$.modules[1].answers.database.nodes"]


def test_a_module_that_stands_twice_is_refused() -> None:
    data = declaration_to_data(WHOLE)
    data["modules"].append(data["modules"][0])
    assert refusal(signed({**data, "items": 8}))[0].startswith("$.modules")


def test_one_that_is_too_large_is_refused_unread() -> None:
    content = json.dumps(declaration_to_data(WHOLE)).encode()
    assert read_declaration(content + b" " * (DECLARATION_LIMIT - len(content))) == WHOLE
    with pytest.raises(WireError, match=str(DECLARATION_LIMIT)):
        read_declaration(content + b" " * (DECLARATION_LIMIT - len(content) + 1))


def test_what_a_node_is_to_be_has_a_fingerprint_without_its_generation() -> None:
    again = Declaration(node="pi", generation=44, modules=WHOLE.modules, allow_removals=True)
    assert content_fingerprint(again) == content_fingerprint(WHOLE)
    assert digest_of(again) != digest_of(WHOLE)
    less = Declaration(node="pi", generation=43, modules=WHOLE.modules[:1])
    assert content_fingerprint(less) != content_fingerprint(WHOLE)
