"""`mesh-builder run` over a real broker, with real git, bubblewrap and a folder for registry."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.integration.builder.shop import SECRET, Shop, living, marked, until
from tests.integration.cli.program import mesh, ok

PLAIN = ("mkdir dist", "cp page dist/")


def test_one_of_two_builders_takes_it_and_the_catalogue_has_it(shop: Shop) -> None:
    """Issue: asked, built by whichever is free, and `module list` shows commit and digest."""
    commit = shop.has("web", PLAIN)
    with shop.running("smith") as smith, shop.running("mason") as mason:
        ran = mesh("build", "web", "--wait", "--json")
        assert ran.code == 0, ran.err
        (built,) = ran.json["builds"]
        assert (built["state"], built["built"]["shut"]) == ("built", "bubblewrap")
        assert smith.said("building web") + mason.said("building web") == 1
        assert smith.said(f"built web at {commit[:7]}") + mason.said(f"built web at {commit[:7]}") == 1
        assert smith.asked_to_end(signal.SIGTERM) == 0
        assert mason.asked_to_end(signal.SIGINT) == 130
    (entry,) = [one for one in ok("module", "list", "--json").json["modules"] if one["name"] == "web"]
    assert commit in json.dumps(entry)
    assert built["built"]["content"] in json.dumps(entry)
    last = {one["builder"]: one["last"] for one in ok("builder", "list", "--json").json["builders"]}
    assert [name for name, one in last.items() if one and one["id"] == built["id"]] == [built["taken_by"]]
    assert b"telltale" in shop.content(built)


def test_a_build_of_many_heartbeats_is_handed_out_once(shop: Shop) -> None:
    """Design, part 9: the one that has the connection is never busy for longer than a heartbeat."""
    shop.has("slow", ["sleep 5.5", *PLAIN])
    id = shop.ask("slow")
    before = "import mesh_adapters.broker.connecting as c; c.HEARTBEAT_SECONDS = 1"
    with shop.running("smith", before=before) as smith:
        assert shop.ends(id)["state"] == "built"
        smith.says("built slow")
        assert smith.said("building slow") == 1
        assert not smith.said("out of reach")
    assert shop.counted(id) == 1


def test_a_build_that_forks_and_hangs_is_ended_in_time_with_all_of_it(shop: Shop) -> None:
    """Issue: "timed out" within its deadline and 10 s, and nothing of it lives 5 s later."""
    word = marked("77701.25")
    shop.has("hangs", [f"setsid sleep {word} & setsid sleep {word}"], seconds=3)
    with shop.running("smith") as smith:
        id = shop.ask("hangs")
        until(lambda: living(word), "it runs")
        begun = time.monotonic()
        found = shop.ends(id, 13)
        assert time.monotonic() - begun < 13
        assert (found["state"], "timed out" in found["failure"]["why"]) == ("failed", True)
        until(lambda: not living(word), "nothing of it lives", 5)
        smith.says("timed out")


def test_a_request_that_was_purged_comes_again(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """> The control plane keeps every request until it is answered, and sends it again"""
    shop.has("lost", PLAIN)
    id = shop.ask("lost")
    assert shop.purge() == 1
    mesh("collect")
    assert shop.waiting() == 0, "a builder may have taken it just now"
    with _later(monkeypatch):
        mesh("collect")
        mesh("collect")
    assert shop.waiting() == 1, "what waits is not lost"
    with shop.running("smith") as smith:
        assert shop.ends(id)["state"] == "built"
        assert smith.asked_to_end(signal.SIGTERM) == 0
    with _later(monkeypatch):
        mesh("collect")
    assert shop.waiting() == 0, "what is answered is not asked for again"
    assert shop.counted(id) == 1


@contextmanager
def _later(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Meanwhile whoever took a request would have said so by now."""
    with monkeypatch.context() as patched:
        patched.setattr("mesh_core.builds.sending.SETTLED", 0)
        yield


def test_a_build_finds_no_secret_of_its_builder(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Issue: neither in its environment, nor in files, nor in /proc.

    Each of several walls would do for some of that: so it is seen of each that it is there. What git and
    skopeo are to know of authorities is in the environment of what builds, and not of the commands.
    """
    root = shop.root("smith")
    credential = json.loads((root / "etc/mesh-builder/credential.json").read_text())
    names = {
        "registry_credentials": json.dumps({"auths": {"registry.example": {"auth": SECRET}}}),
        "git_credentials": f"https://me:{SECRET}@git.example\n",
        "git_identity": SECRET,
    }
    for name, text in names.items():
        (root / "etc/mesh-builder" / name).write_text(text)
        (root / "etc/mesh-builder" / name).chmod(0o600)
    unlooked = " -o ".join(f"-path /{name}" for name in ("proc", "sys", "dev", "usr"))
    told = "".join(f'{name} = "{name}"\n' for name in names)
    (root / "etc/mesh-builder/builder.toml").write_text(told)
    monkeypatch.setenv("SSL_CERT_DIR", SECRET)
    shop.has(
        "curious",
        [
            "mkdir dist; env >dist/env",
            "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline >dist/proc 2>/dev/null || true",
            f"find / '(' {unlooked} ')' -prune -o -type f -print >dist/names || true",
            f"ls -lR {shop.folder} /etc/mesh-builder /var/lib >dist/listed 2>&1 || true",
            f"cat {root}/etc/mesh-builder/* >dist/read 2>&1 || true",
            "grep -v ^/build/src/curious/dist dist/names | tr '\\n' '\\0' | xargs -0 cat >dist/all || true",
        ],
    )
    try:
        with shop.running("smith") as smith:
            id = shop.ask("curious")
            (works,) = until(lambda: smith.works, "it builds")
            has = b"".join(Path(f"/proc/{works}/{name}").read_bytes() for name in ("environ", "cmdline"))
            found = shop.ends(id)
    finally:
        (root / "etc/mesh-builder/builder.toml").unlink()
    assert found["state"] == "built", found
    content = shop.content(found)
    assert b"telltale" in content, "it did read what it could"
    assert b"SOURCE_DATE_EPOCH" in content
    password = credential["broker"]["password"]
    for secret in (SECRET, password, "mesh_cli", "credential.json", "/etc/shadow"):
        assert secret.encode() not in content
    for secret in ("SECRET_OF_ENVIRONMENT", password):
        assert secret.encode() not in has


def test_once_is_for_one_request_or_none(shop: Shop) -> None:
    with shop.running("smith", "--once", "--json") as smith:
        assert smith.process.wait(20) == 0
        smith.says("no request came")
    shop.has("single", PLAIN)
    id = shop.ask("single")
    with shop.running("smith", "--once", "--json") as smith:
        assert smith.process.wait(20) == 0
        (line,) = smith.objects
    assert (line["format"], line["request"], line["said"]) == (1, id, "built")
    assert shop.build(id)["state"] == "built"
