"""A registry is believed in nothing (hazards, "Faults to survive").

> git or registry away: keeps the old, reports. Wrong digest: nothing is unpacked
"""

from __future__ import annotations

import base64
import itertools
import json
import shutil
import subprocess
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from mesh_adapters.host.artifacts.limits import Limits
from mesh_adapters.host.kind import Failed
from mesh_adapters.host.kinds.tree import Tree
from tests.integration.build.registry import ACCOUNT, PASSWORD, RegistryServer, guarded, registry
from tests.integration.host.tree.artifacts import NEXT, SITE, Made, made, put_into
from tests.integration.host.tree.serving import Serving, certificates, plainly
from tests.integration.host.world import KINDS, World, declaration, shown

__all__ = ["guarded", "registry"]

FIRST, SECOND = made(SITE), made(NEXT)
LIMITS = Limits(manifest=64 * 1024, layer=1024 * 1024, idle=0.4, seconds=1.0, redirects=3)


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("openssl") is None:
        pytest.skip("certificates need openssl")
    folder = tmp_path_factory.mktemp("keys")
    certificates(folder)
    return folder


@pytest.fixture
def serving(keys: Path) -> Iterator[Serving]:
    with Serving(keys, FIRST, SECOND) as server:
        yield server


@pytest.fixture
def world(folder: Path, keys: Path) -> World:
    """A machine that trusts the registry."""
    world = World(folder / "machine", {**KINDS, "tree": Tree(LIMITS)})
    trusting(world, keys / "ca" / "ca.crt")
    return world


def trusting(world: World, ca: Path) -> None:
    world.put("/etc/mesh-host/registry-ca.pem", ca.read_text())


def told(generation: int, artifact: Made, source: str) -> bytes:
    return declaration(generation, [artifact.tree("/web", source)])


def failure(world: World, content: bytes) -> str:
    """Why it did not come: and what was there is there, and nothing else."""
    before = shown(world.root)
    began = time.monotonic()
    applied = world.applied(content)
    assert time.monotonic() - began < 5
    assert shown(world.root) == before
    assert not [place for place in (world.state / "artifacts").glob("*") if "coming" in place.name]
    (event,) = applied.events
    assert isinstance(event.acted, Failed)
    return event.acted.why


def test_it_comes_and_goes_and_an_unchanged_run_asks_nobody(world: World, serving: Serving) -> None:
    content = told(1, FIRST, serving.source)
    assert world.applied(content).well
    assert shown(world.root)["/web/index.html"][4] == b"1\n"
    assert [path for path, _ in serving.seen] == [
        f"/v2/mesh/web/manifests/{FIRST.artifact}",
        f"/v2/mesh/web/blobs/{FIRST.layer}",
    ]
    assert world.unchanged(content) is not None
    assert world.applied(told(2, SECOND, serving.source)).well
    assert len(serving.seen) == 4


def test_one_that_is_away_leaves_the_old(world: World, serving: Serving) -> None:
    assert world.applied(told(1, FIRST, serving.source)).well
    gone = "https://localhost:1/mesh/web"
    assert "localhost:1/mesh/web: Connection refused" in failure(world, told(2, SECOND, gone))
    serving.blobs.clear()
    assert "it is not there (status 404)" in failure(world, told(3, SECOND, serving.source))


def test_one_that_nobody_vouches_for(world: World, serving: Serving, keys: Path) -> None:
    trusting(world, keys / "other" / "ca.crt")
    assert "its certificate is not to be trusted" in failure(world, told(1, FIRST, serving.source))
    (world.root / "etc/mesh-host/registry-ca.pem").unlink()
    assert "its certificate is not to be trusted" in failure(world, told(1, FIRST, serving.source))
    assert serving.seen == []
    trusting(world, keys / "ca" / "ca.crt")
    other = serving.source.replace("localhost", "127.0.0.1")
    assert "its certificate is not to be trusted" in failure(world, told(2, FIRST, other))
    world.put("/etc/mesh-host/registry-ca.pem", "no certificate\n")
    assert "registry-ca.pem cannot be used" in failure(world, told(3, FIRST, serving.source))


def wrong(request: BaseHTTPRequestHandler, content: bytes) -> None:
    plainly(request, content[:-1] + bytes([content[-1] ^ 1]))


def cut(request: BaseHTTPRequestHandler, content: bytes) -> None:
    request.send_response(200)
    request.send_header("Content-Length", str(len(content)))
    request.end_headers()
    request.wfile.write(content[:100])


def shorter(request: BaseHTTPRequestHandler, content: bytes) -> None:
    plainly(request, content[:100])


def longer(request: BaseHTTPRequestHandler, content: bytes) -> None:
    plainly(request, content + b"\0")


def ends_early(request: BaseHTTPRequestHandler, content: bytes) -> None:
    request.send_response(200)
    request.end_headers()
    request.wfile.write(content[:100])


def endless(request: BaseHTTPRequestHandler, content: bytes) -> None:
    """It never says how much there is."""
    request.send_response(200)
    request.end_headers()
    while True:
        request.wfile.write(b"\0" * 65536)


def garbage(request: BaseHTTPRequestHandler, content: bytes) -> None:
    request.wfile.write(b"no http at all\r\n\r\n")


def headers(request: BaseHTTPRequestHandler, content: bytes) -> None:
    request.wfile.write(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10_000)


def zipped(request: BaseHTTPRequestHandler, content: bytes) -> None:
    request.send_response(200)
    request.send_header("Content-Encoding", "gzip")
    request.end_headers()
    request.wfile.write(content[:50])


WRONG = [wrong, cut, shorter, longer, ends_early, endless, garbage, headers, zipped]


@pytest.mark.parametrize("which", ["artifact", "layer"])
@pytest.mark.parametrize("answer", WRONG, ids=lambda answer: str(answer.__name__))
def test_one_that_sends_something_else(world: World, serving: Serving, which: str, answer: object) -> None:
    assert world.applied(told(1, FIRST, serving.source)).well
    digest = str(getattr(SECOND, which))
    serving.answers[digest] = answer  # type: ignore[assignment]
    content = told(2, SECOND, serving.source)
    why = failure(world, content)
    assert "m0 is not touched" in why
    assert answer is not endless or "is longer than it may be" in why
    assert not (world.state / "artifacts" / digest[7:]).exists()
    del serving.answers[digest]
    assert world.applied(content).well


@pytest.mark.parametrize("at", ["headers", "body"])
@pytest.mark.parametrize("drip", [True, False])
def test_one_that_is_slow_or_silent(world: World, serving: Serving, at: str, drip: bool) -> None:
    def slow(request: BaseHTTPRequestHandler, content: bytes) -> None:
        if at == "body":
            request.send_response(200)
            request.end_headers()
        else:
            request.wfile.write(b"HTTP/1.1 200 OK\r\nX: ")
        request.wfile.flush()
        while not serving.ended.wait(0.05):
            if drip:
                request.wfile.write(b"x")
                request.wfile.flush()

    serving.answers[FIRST.artifact] = slow
    why = failure(world, told(1, FIRST, serving.source))
    assert ("it took longer than 1 s" if drip else "it said nothing for 0.4 s") in why


def leads(*to: str | None) -> object:
    """It leads to each of these in turn, and then has it, or where that is None to the first again."""
    turns = itertools.cycle(to)

    def answer(request: BaseHTTPRequestHandler, content: bytes) -> None:
        where = next(turns)
        if where is None:
            plainly(request, content)
            return
        request.send_response(307)
        request.send_header("Location", where)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def test_one_that_leads_elsewhere(world: World, serving: Serving, keys: Path) -> None:
    with Serving(keys, FIRST) as other:
        path = f"/elsewhere/{FIRST.layer}"
        to = [f"/v2/there/{FIRST.layer}", f"https://{other.host}{path}"]
        serving.answers[FIRST.layer] = leads(*to, None)  # type: ignore[assignment]
        account(world, serving.host, "me:secret")
        assert world.applied(told(1, FIRST, serving.source)).well
        mine = "Basic " + base64.b64encode(b"me:secret").decode()
        assert [who for _, who in serving.seen] == [mine] * 3
        assert other.seen == [(path, None)], "the account went along"


@pytest.mark.parametrize(
    ("to", "why"),
    [
        (["http://localhost:1/x"], "where nothing is encrypted"),
        (["file:///etc/passwd"], "where nothing is encrypted"),
        ([""], "where nothing is encrypted"),
        (["https://me:secret@localhost:1/x"], "an address that is none"),
        (["https://localhost:x/x"], "an address that is none"),
        (["https://[/x"], "an address that is none"),
        (["/1", "/2", "/3", "/4"], "elsewhere more than 3 times"),
    ],
)
def test_one_that_leads_astray(world: World, serving: Serving, to: list[str], why: str) -> None:
    paths = [f"{one}/{FIRST.artifact}" if one.startswith("/") else one for one in to]
    serving.answers[FIRST.artifact] = leads(*paths)  # type: ignore[assignment]
    assert why in failure(world, told(1, FIRST, serving.source))


def account(world: World, host: str, login: str, mode: int = 0o600) -> None:
    auth = base64.b64encode(login.encode()).decode()
    world.put("/etc/mesh-host/registry-auth.json", json.dumps({"auths": {host: {"auth": auth}}}), mode=mode)


def test_an_account_that_others_may_read_is_not_used(world: World, serving: Serving) -> None:
    account(world, serving.host, "me:secret", mode=0o644)
    why = failure(world, told(1, FIRST, serving.source))
    assert "chmod 600" in why
    world.put("/etc/mesh-host/registry-auth.json", '{"auths": "me:secret"}', mode=0o600)
    why = failure(world, told(1, FIRST, serving.source))
    assert "registry-auth.json is not to be used" in why
    assert "secret" not in why
    assert serving.seen == []


# A registry as they are


def pushed(server: RegistryServer, layout: Path, artifact: Made, *more: str) -> str:
    """Push it as anybody would, from a layout that lists it."""
    put_into(layout, artifact)
    entry = {
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "digest": artifact.artifact,
        "size": len(artifact.blobs[artifact.artifact]),
    }
    (layout / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [entry]}))
    to = f"docker://{server.host}/mesh/web:1"
    command = ["skopeo", "copy", "--preserve-digests", f"--dest-cert-dir={server.certificates}", *more]
    subprocess.run([*command, f"oci:{layout}", to], check=True, timeout=60, capture_output=True)
    return f"https://{server.host}/mesh/web"


def test_a_real_registry(registry: RegistryServer, folder: Path, layout: Path) -> None:
    world = World(folder / "machine", {**KINDS, "tree": Tree()})
    trusting(world, registry.certificates / "ca.crt")
    source = pushed(registry, layout, FIRST)
    assert world.applied(told(1, FIRST, source)).well
    assert shown(world.root)["/web/index.html"][4] == b"1\n"
    assert "it is not there" in failure(world, told(2, SECOND, source))


def test_a_real_registry_with_an_account(guarded: RegistryServer, folder: Path, layout: Path) -> None:
    world = World(folder / "machine", {**KINDS, "tree": Tree()})
    trusting(world, guarded.certificates / "ca.crt")
    source = pushed(guarded, layout, FIRST, f"--dest-authfile={guarded.authfile('auth')}")
    assert "it asks who is there (status 401)" in failure(world, told(1, FIRST, source))
    account(world, guarded.host, f"{ACCOUNT}:{PASSWORD}")
    assert world.applied(told(1, FIRST, source)).well
