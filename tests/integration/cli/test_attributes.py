"""Attributes of kinds that are known, and files beside a document: checked before anything is recorded.

> the control plane checks the attributes of the kinds that it knows and lints the others (design, part 4)
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.program import exported, mesh, nothing_written, ok, refused, written

KNOWN = "a file knows content, group, mode, owner, template"


def manifest(*resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": "a", "version": "1", "resources": [*resources], **more}


def document(*resources: dict[str, Any], **more: Any) -> dict[str, Any]:
    modules = [{"name": "zsh", "version": "1"}, manifest(*resources, **more)]
    return {"format": 1, "modules": modules, "nodes": [{"name": "pi", "assign": ["a"]}]}


def file(path: str = "/etc/motd", **attributes: Any) -> dict[str, Any]:
    return {"kind": "file", "path": path, **attributes}


WRONG = [file("/a", content="", mdoe="0644"), file("/b", content="", mode=420), file("/c")]
TOLD = [
    f".resources[0].mdoe: unknown attribute; {KNOWN} (did you mean mode?)",
    '.resources[1].mode: found 420; four octal digits in quotes, like "0644"',
    ".resources[2]: neither 'content' nor 'template'; a file has exactly one of them",
    ".checks[0].prot: unknown attribute",
    ".checks[0].port: missing",
]
CHECKS = [{"kind": "tcp", "prot": 80}]


def test_a_manifest_with_wrong_attributes_is_refused_with_all_of_them(empty: Path, folder: Path) -> None:
    path = written(folder, "a.json", manifest(*WRONG, checks=CHECKS))
    with nothing_written(empty):
        ran = mesh("module", "add", path, "--anyway")
    refused(ran, str(path), [f"  ${told}" for told in TOLD])
    assert len(ran.err.splitlines()) == 1 + len(TOLD)
    faults = mesh("module", "add", path, "--json").error["faults"]
    assert faults[0] == {
        "path": "$.resources[0].mdoe",
        "found": "unknown attribute",
        "wanted": KNOWN,
        "suggestion": "mode",
    }


@pytest.mark.parametrize(
    "line", ["import {}", "plan --file {}", "graph --file {}", "lint --file {}", "declare pi --file {}"]
)
def test_so_is_every_document_that_is_read(empty: Path, folder: Path, line: str) -> None:
    path = written(folder, "mesh.json", document(*WRONG, checks=CHECKS))
    with nothing_written(empty):
        ran = mesh(*line.format(path).split())
    refused(ran, str(path), [f"  $.modules[1]{told}" for told in TOLD])


def test_kinds_that_nobody_knows_are_no_fault_but_linted(empty: Path) -> None:
    odd = {"kind": "pakage", "name": "zsh", "mdoe": 1}
    ok("import", "-", stdin=json.dumps(document(odd, checks=[{"kind": "tpc", "prot": 1}])))
    lines = ok("lint").out.splitlines()
    assert lines[-2].startswith("no kind of resource 'pakage' is known here (a): ")
    assert lines[-2].endswith("did you mean 'package'?")
    assert lines[-1].startswith("no kind of check 'tpc' is known here (a): ")
    assert [found["code"] for found in ok("lint", "--json").json["lint"]][-2:] == ["unknown-kind"] * 2


def test_what_is_beside_a_document_is_taken_in(empty: Path, folder: Path) -> None:
    (folder / "home" / "files").mkdir(parents=True)
    (folder / "home" / "files" / "motd").write_bytes("größe\n".encode())
    (folder / "home" / "t").write_text("{{ node.name }}\n")
    resources = [file("/a", content_from="files/motd"), file("/b", template_from="files/../t")]
    for name, content in (("a.json", manifest(*resources)), ("mesh.json", document(*resources))):
        path = written(folder / "home", name, content)
        ok("module", "add" if name == "a.json" else "list", *([path] if name == "a.json" else []))
        if name == "mesh.json":
            ok("import", path)
        (module,) = [m for m in exported(empty)["modules"] if m["name"] == "a"]
        assert module["resources"] == [
            {"kind": "file", "path": "/a", "content": "größe\n"},
            {"kind": "file", "path": "/b", "template": "{{ node.name }}\n"},
        ]


def test_what_comes_from_stdin_names_files_of_the_current_folder(empty: Path, folder: Path) -> None:
    (folder / "motd").write_text("hello\n")
    ok("module", "add", "-", stdin=json.dumps(manifest(file(content_from="motd"))))
    assert exported(empty)["modules"][0]["resources"][0]["content"] == "hello\n"


@pytest.mark.parametrize(
    ("named", "told"),
    [
        ("nix", '"nix" is missing; wanted a file there, in '),
        ("sub/nix", '"sub/nix" is missing'),
        ("../secret", 'found "../secret", which is outside of it; wanted the path of a file in the folder'),
        ("sub/../../secret", "which is outside of it"),
        ("..", "which is outside of it"),
        ("/etc/hostname", "which is absolute"),
        ("", "which is no path"),
        ("a\0b", "which is no path"),
        ("out", 'found "out", a link that leads out of the folder'),
        ("out-folder/secret", "a link that leads out of the folder"),
        ("circle", "links in a circle"),
        ("sub", '"sub" cannot be read: Is a directory'),
        ("pipe", '"pipe" is no regular file'),
        ("latin", 'byte 2 of "latin" is no UTF-8; wanted UTF-8 text'),
        ("large", '"large" has more than 1048576 bytes'),
        (5, "found the number 5; wanted the path of a file beside this one"),
    ],
)
def test_what_cannot_be_taken_in_is_a_fault(empty: Path, folder: Path, named: Any, told: str) -> None:
    home = folder / "home"
    (home / "sub").mkdir(parents=True)
    (folder / "secret").write_text("nobody's business\n")
    (home / "out").symlink_to("../secret")
    (home / "out-folder").symlink_to("..")
    (home / "circle").symlink_to("circle")
    (home / "latin").write_bytes(b"gr\xfc\xdfe")
    (home / "large").write_bytes(b"x" * (1024 * 1024 + 1))
    os.mkfifo(home / "pipe")
    path = written(home, "a.json", manifest(file(content_from=named)))
    with nothing_written(empty):
        refused(mesh("module", "add", path), str(path), ["  $.resources[0].content_from: ", told])
    path = written(home, "mesh.json", document(file(template_from=named)))
    refused(mesh("plan", "--file", path), str(path), ["$.modules[1].resources[0].template_from: ", told])


def test_a_link_that_stays_inside_is_followed(empty: Path, folder: Path) -> None:
    (folder / "real").mkdir()
    (folder / "real" / "motd").write_text("hello\n")
    (folder / "link").symlink_to("real/motd")
    ok("module", "add", written(folder, "a.json", manifest(file(content_from="link"))))


def test_a_manifest_that_becomes_too_large_is_refused_with_its_largest_parts(
    empty: Path, folder: Path
) -> None:
    (folder / "half").write_text("x" * 600_000)
    resources = [file("/a", content_from="half"), file("/b", template_from="half"), file("/c", content="")]
    path = written(folder, "a.json", manifest(*resources))
    with nothing_written(empty):
        ran = mesh("module", "add", path)
    refused(ran, str(path), ["at most 1048576; the largest parts are /b (600", ", /a (600", ", /c ("])
