"""Images from a Containerfile: made without network, the same twice, and shut in as far as they are."""

import json
import os
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.build.container import NOT_ALLOWED, Buildah, bases, find_images
from mesh_adapters.build.recipes import Made, NotMade, Workshop, make
from mesh_adapters.build.sandbox import Missing
from mesh_adapters.build.sandbox_attend import Watch
from mesh_core.model.build import Shut, Step
from mesh_core.model.recipe import Container
from tests.integration.build.sandbox_help import AT, buildah, gone, mark, marked, skip_or_fail, source

BUSYBOX = Path("/bin/busybox")
_SHELL = '"/bin/busybox", "sh", "-c"'


def _make(
    images: Buildah,
    tmp_path: Path,
    containerfile: str,
    *,
    scratch: str = "scratch",
    recipe: Container | None = None,
    watch: Watch | None = None,
) -> Made | NotMade:
    files: dict[str, str | bytes] = {"m/Containerfile": containerfile, "m/hello.txt": "hello\n"}
    if "busybox" in containerfile:
        if not BUSYBOX.exists():
            skip_or_fail("busybox is not installed, and an image with a command is made of it")
        files["m/busybox"] = BUSYBOX.read_bytes()
    root = source(tmp_path / "source", files)
    if BUSYBOX.exists() and "m/busybox" in files:
        (root / "m/busybox").chmod(0o755)
    return make(
        recipe or Container(seconds=60),
        root,
        "m",
        at=AT,
        scratch=tmp_path / scratch,
        workshop=Workshop(sandbox=Missing(why="not asked for"), images=images),
        watch=watch or Watch(),
    )


def _with_shell(*runs: str) -> str:
    lines = [f"RUN [{_SHELL}, {json.dumps(run)}]" for run in runs]
    return "\n".join(("FROM scratch", "COPY busybox /bin/busybox", *lines)) + "\n"


def _image(made: Made | NotMade) -> tuple[str, dict[str, object]]:
    """The digest and the manifest of an image that was made."""
    assert isinstance(made, Made), made
    assert (made.shut, made.image) == (Shut.CONTAINER, True)
    (entry,) = json.loads((made.path / "index.json").read_text())["manifests"]
    assert entry["annotations"]["org.opencontainers.image.ref.name"] == "built"
    algorithm, _, name = entry["digest"].partition(":")
    return entry["digest"], json.loads((made.path / "blobs" / algorithm / name).read_text())


def test_files_alone_are_an_image_of_one_layer_and_the_same_twice(tmp_path: Path) -> None:
    images, text = buildah(), 'FROM scratch\nCOPY hello.txt /a/\nCOPY hello.txt /b/\nCMD ["/a"]\n'
    first, manifest = _image(_make(images, tmp_path, text, scratch="one"))
    layers = manifest["layers"]
    assert isinstance(layers, list)
    assert len(layers) == 1
    os.utime(tmp_path / "source/m/hello.txt", (5, 5))
    assert _image(_make(images, tmp_path, text, scratch="another"))[0] == first


def test_commands_run_without_network_and_the_same_twice(tmp_path: Path) -> None:
    with _greeting() as port:
        run = f"/bin/busybox timeout 10 /bin/busybox nc 127.0.0.1 {port} </dev/null || echo alone"
        text = _with_shell(run, "/bin/busybox mkdir /made; echo x >/made/x", "/bin/busybox rm /made/x")
        images = buildah()
        made = _make(images, tmp_path, text, scratch="one")
        first, manifest = _image(made)
        assert "alone" in made.log
        assert isinstance(manifest["layers"], list)
        assert len(manifest["layers"]) == 1
        assert _image(_make(images, tmp_path, text, scratch="two"))[0] == first
        asked = _make(images, tmp_path, text, scratch="three", recipe=Container(network=True, seconds=60))
        assert "reached" in asked.log


def test_a_command_that_fails_is_said(tmp_path: Path) -> None:
    answer = _make(buildah(), tmp_path, _with_shell("echo about to fail; exit 3"))
    assert isinstance(answer, NotMade), answer
    assert answer.step is Step.COMMANDS
    assert answer.why == "command 1 of 2 ended with 3: build Containerfile"
    assert "about to fail" in answer.log


def test_an_image_that_hangs_is_ended_whole(tmp_path: Path) -> None:
    word = mark()
    hang = (
        f"trap '' TERM; (/bin/busybox setsid /bin/busybox sh -c 'trap \"\" TERM; while :; do"
        f" /bin/busybox sleep 1; done' {word} &) ; while :; do /bin/busybox sleep 1; done"
    )
    seen: list[int] = []
    began = time.monotonic()
    answer = _make(
        buildah(),
        tmp_path,
        _with_shell(hang),
        recipe=Container(seconds=4),
        watch=Watch(alive=lambda: seen.extend(marked(word))),
    )
    assert isinstance(answer, NotMade)
    assert answer.why == "timed out after 4 s"
    assert seen
    assert gone(word, 0)
    assert time.monotonic() - began < 4 + 10
    assert str(tmp_path) not in Path("/proc/self/mountinfo").read_text()


def test_no_secret_of_the_builder_is_in_reach(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "".join(("c0ff", "ee-registry-pass"))
    monkeypatch.setenv("REGISTRY_AUTH", secret)
    (tmp_path / "config").mkdir()
    (tmp_path / "config/auth.json").write_text(secret)
    b = "/bin/busybox"
    look = f"{b} grep -a -s -l 'c0ff[e]e-registry' /proc/[0-9]*/environ /proc/[0-9]*/cmdline; "
    config = tmp_path / "config/auth.json"
    root = f"{b} cat /proc/[0-9]*/root{config} 2>/dev/null; "
    files = f"{b} find / -xdev -type f -exec {b} grep -l 'c0ff[e]e-registry' {{}} +; "
    hidden = f"{b} env | {b} grep 'c0ff[e]e-registry'; echo looked"
    made = _make(
        buildah(),
        tmp_path,
        _with_shell(look + root + files + hidden),
        recipe=Container(network=True, seconds=60),
    )
    assert isinstance(made, Made), made
    looked = made.log.index("looked")
    assert made.log[looked - 1].startswith("STEP 3/3"), made.log


def test_what_runs_has_few_of_root_s_rights(tmp_path: Path) -> None:
    b = "/bin/busybox"
    tries = (
        f"{b} grep CapEff /proc/self/status; {b} mount -t tmpfs x /tmp && echo mounted;"
        f" (f=/proc/sys/kernel/core_pattern; {b} cat $f >$f) && echo written;"
        f" {b} mknod /disk b 254 0 && echo device; true"
    )
    made = _make(buildah(), tmp_path, _with_shell(tries))
    assert isinstance(made, Made), made
    assert not {"mounted", "written", "device"} & set(made.log)
    rights = int(next(line for line in made.log if line.startswith("CapEff")).split()[1], 16)
    sys_ptrace, sys_admin, sys_module, mknod = 19, 21, 16, 27
    assert not any(rights >> right & 1 for right in (sys_ptrace, sys_admin, sys_module, mknod))


def test_a_containerfile_is_a_file_of_the_module(tmp_path: Path) -> None:
    images = buildah()
    source(tmp_path / "source", {"outside": "FROM scratch\n"})
    (tmp_path / "source/m").mkdir()
    (tmp_path / "source/m/linked").symlink_to("../outside")
    for file in ("linked", "none"):
        answer = _make(
            images, tmp_path, "FROM scratch\n", scratch=f"scratch-{file}", recipe=Container(file=file)
        )
        assert isinstance(answer, NotMade)
        assert answer.step is Step.MANIFEST
        assert answer.why.startswith(f"there is no file {file!r} in the module's folder")


def test_a_base_is_fetched_with_the_builder_s_network_and_nothing_else_is(tmp_path: Path) -> None:
    images = buildah()
    base = _make(images, tmp_path / "base", _with_shell("echo base >/base"))
    assert isinstance(base, Made), base
    with _registry(tmp_path) as port:
        skopeo = ("skopeo", "copy", "--quiet", "--insecure-policy", "--dest-tls-verify=false")
        image = f"127.0.0.1:{port}/base:1"
        subprocess.run((*skopeo, f"oci:{base.path}:built", f"docker://{image}"), check=True, timeout=30)
        conf = tmp_path / "registries.conf"
        conf.write_text(f'[[registry]]\nlocation = "127.0.0.1:{port}"\ninsecure = true\n')
        call = f"/bin/busybox nc 127.0.0.1 {port} </dev/null && echo reached || /bin/busybox cat /base"
        text = f"ARG BASE={image}\nFROM $BASE\nRUN [{_SHELL}, {json.dumps(call)}]\n"
        made = _make(evolve(images, registries=conf), tmp_path, text)
        _, manifest = _image(made)
        assert f"$ pull {image}" in made.log
        assert "base" in made.log
        assert isinstance(manifest["layers"], list)
        assert len(manifest["layers"]) == 1
    away = _make(evolve(images, registries=conf), tmp_path, text, scratch="away")
    assert isinstance(away, NotMade)
    assert away.why == f"command 1 of 3 ended with 125: pull {image}"


@contextmanager
def _greeting() -> Iterator[int]:
    """The port of a server that says `reached` to whoever comes."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            with suppress(OSError):
                while True:
                    with server.accept()[0] as caller:
                        caller.sendall(b"reached\n")

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@contextmanager
def _registry(tmp_path: Path) -> Iterator[int]:
    program = shutil.which("docker-registry")
    if program is None:
        skip_or_fail("docker-registry is not installed")
        raise AssertionError
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    config = tmp_path / "registry.yml"
    storage = f"storage: {{filesystem: {{rootdirectory: {tmp_path / 'blobs'}}}}}"
    config.write_text(f"version: 0.1\n{storage}\nhttp: {{addr: '127.0.0.1:{port}'}}\nlog: {{level: error}}\n")
    process = subprocess.Popen(
        (program, "serve", str(config)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.05)
        yield port
    finally:
        process.kill()
        process.wait()


def test_a_builder_makes_images_only_if_it_may_and_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_images(allowed=False) == NOT_ALLOWED
    empty = find_images(allowed=True, path=str(tmp_path))
    assert empty == Missing(why="images need buildah, and it is not installed")
    for name in ("buildah", "bwrap"):
        (tmp_path / name).write_text("#!/bin/sh\necho it will not >&2\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    broken = find_images(allowed=True, path=str(tmp_path))
    assert broken == Missing(why="buildah is installed and does not work here: it will not")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    other = find_images(allowed=True, path=str(tmp_path))
    assert other == Missing(why="images are made by a builder that is root, and this one is not")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("FROM scratch\nCOPY a /a\n", ()),
        (
            "from docker.io/library/alpine:3.20 as one\nFROM one\nCOPY --from=0 /a /\n",
            ("docker.io/library/alpine:3.20",),
        ),
        (
            "FROM --platform=linux/amd64 a.example/x@sha256:ab\nFROM a.example/x@sha256:ab\n",
            ("a.example/x@sha256:ab",),
        ),
        (
            'ARG V="3"\nFROM a.example/x:${V}\nARG V=4\nFROM a.example/y:$V\n',
            ("a.example/x:3", "a.example/y:3"),
        ),
        (
            "FROM \\\n# why\n  a.example/x\nCOPY --chown=1:1 --from=a.example/y /a /b\n",
            ("a.example/x", "a.example/y"),
        ),
        ("FROM --tls-verify=false\nFROM $UNSET\n# FROM a.example/x\n", ()),
    ],
)
def test_which_images_a_containerfile_begins_with(text: str, expected: tuple[str, ...]) -> None:
    assert bases(text) == expected
