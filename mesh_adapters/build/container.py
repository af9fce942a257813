"""Images, made by buildah from a Containerfile: shut in more weakly than commands are.

buildah mounts and changes owners, so here it is root, with a dozen of root's rights, and no user namespace;
what RUN starts is root too, in a chroot, with the few rights that buildah leaves it. That is why a builder
makes images only if it was told so. It still sees no more of the machine than a build's commands do: no
credential, no environment and no process of the builder, no network but for the base images (unless the
recipe asks for it), a disk of its own for images; and all of it ends with its time.

Base images come from where a Containerfile says, in full (`docker.io/library/alpine:3`), without any
credential: fetching them needs the builder's network. `FROM scratch` needs none.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template

from attrs import Factory, evolve, field, frozen
from plumbum.machines.local import LocalCommand

from mesh_adapters.build.sandbox import Missing, environment
from mesh_adapters.build.sandbox_attend import Bounds, Limits, Ran, Tail, Watch
from mesh_adapters.build.sandbox_bwrap import HOME, PATH, SOURCE, bounded, for_images, settled, shared
from mesh_adapters.build.sandbox_place import Place, inside, prepare, since_epoch
from mesh_adapters.build.sandbox_shut import run_shut
from mesh_adapters.build.sandbox_turns import Ended, in_turn
from mesh_core.model.recipe import Container

NOT_ALLOWED = Missing(why="this builder makes no images: start it with --allow-container")
TAG = "built"
"""What the image is called in its layout."""
_NAME = f"localhost/meshwright:{TAG}"
_FOLDERS = ("store", "run", "out", "conf")
_POLICY = '{"default": [{"type": "insecureAcceptAnything"}]}\n'
_PROBE_SECONDS = 20.0
_LOCKS = str(16 * 1024**2)

_CONTINUED = re.compile(r"\\[ \t]*\r?\n(?:[ \t]*#.*\n)*")
_ARGUMENT = re.compile(r"ARG\s+(\w+)=(\S+)\s*", re.IGNORECASE)
_FROM = re.compile(r"FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*", re.IGNORECASE)
_COPY_FROM = re.compile(r"(?:COPY|ADD)\s.*?--from=(\S+)", re.IGNORECASE)
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@-]*")


@frozen(kw_only=True)
class Step:
    """One call of buildah, and whether it has the network."""

    argv: tuple[str, ...]
    network: bool = False


@frozen(kw_only=True)
class Buildah:
    """Makes images. `registries` is a containers-registries.conf(5) for base images, with mirrors, say."""

    program: str
    bubblewrap: str
    limits: Limits = field(default=Factory(Limits))
    registries: Path | None = None

    def build(self, recipe: Container, place: Place, folder: str, at: str, watch: Watch) -> Ended:
        """Make the image of a Containerfile in a folder of a prepared place; `layout` is where it is then.

        The Containerfile is there, and no link on the way to it. Raises `OSError`, and what `watch` raises.
        """
        named = self._steps(recipe, place, folder, at)
        return self._run(named, place, recipe.seconds, at, watch)

    def _run(self, named: Mapping[str, Step], place: Place, seconds: float, at: str, watch: Watch) -> Ended:
        self._set_up(place)

        def run_one(name: str, tail: Tail, bounds: Bounds) -> Ran:
            step = named[name]
            told = [*for_images(step.network), *shared(place, step.network, self.limits)]
            told += ("--perms", "0755", "--size", _LOCKS, "--tmpfs", "/run")
            told += [part for name in _FOLDERS for part in _bound(place, name)]
            told += settled("/build", environment(at, HOME, "/tmp"))
            argv = bounded(self.limits, False, *step.argv)
            return run_shut(self.bubblewrap, told, argv, tail, bounds, watch)

        return in_turn(tuple(named), seconds, place, self.limits, run_one)

    def _set_up(self, place: Place) -> None:
        for name in _FOLDERS:
            (place.root / name).mkdir(mode=0o755)
        text = self.registries.read_text("utf-8") if self.registries else ""
        (place.root / "conf/registries.conf").write_text(text, "utf-8")
        (place.root / "conf/policy.json").write_text(_POLICY, "utf-8")

    def _steps(self, recipe: Container, place: Place, folder: str, at: str) -> Mapping[str, Step]:
        context = SOURCE if folder == "." else f"{SOURCE}/{folder}"
        text = (place.source / folder / recipe.file).read_text("utf-8", "replace")
        first = {f"pull {base}": Step(argv=self._pull(base), network=True) for base in bases(text)}
        built = self._built(context, f"{context}/{recipe.file}", at)
        return {
            **first,
            f"build {recipe.file}": Step(argv=built, network=recipe.network),
            "write the image": Step(argv=self._pushed()),
        }

    def _buildah(self, *arguments: str) -> tuple[str, ...]:
        where = ("--root", "/build/store", "--runroot", "/build/run", "--storage-driver", "vfs")
        conf = ("--registries-conf", "/build/conf/registries.conf")
        return tuple(LocalCommand(self.program)[(*where, *conf, *arguments)].formulate())

    def _pull(self, base: str) -> tuple[str, ...]:
        return self._buildah("pull", "--quiet", "--signature-policy", "/build/conf/policy.json", "--", base)

    def _built(self, context: str, file: str, at: str) -> tuple[str, ...]:
        """With this isolation buildah has only the machine's network to give: bubblewrap keeps it off."""
        alone = ("--isolation", "chroot", "--network", "host", "--pull=never", "--no-cache")
        same = ("--layers=false", "--squash", "--timestamp", str(since_epoch(at)), "--identity-label=false")
        policy = ("--signature-policy", "/build/conf/policy.json")
        return self._buildah("build", *alone, *same, *policy, "--tag", _NAME, "--file", file, "--", context)

    def _pushed(self) -> tuple[str, ...]:
        policy = ("--signature-policy", "/build/conf/policy.json")
        return self._buildah(
            "push", "--quiet", *policy, "--format", "oci", "--", _NAME, f"oci:/build/out:{TAG}"
        )


def layout(place: Place) -> Path:
    """The OCI layout of an image that was made in a place."""
    return place.root / "out"


def find_images(
    allowed: bool, limits: Limits | None = None, registries: Path | None = None, path: str = PATH
) -> Buildah | Missing:
    """What makes images on this machine, if the builder may, and if it works here: that is tried."""
    if not allowed:
        return NOT_ALLOWED
    programs = {name: shutil.which(name, path=path) for name in ("buildah", "bwrap")}
    for name, program in programs.items():
        if program is None:
            return Missing(why=f"images need {name}, and it is not installed")
    if os.geteuid() != 0:
        return Missing(why="images are made by a builder that is root, and this one is not")
    found = Buildah(
        program=str(programs["buildah"]),
        bubblewrap=str(programs["bwrap"]),
        limits=limits or Limits(),
        registries=registries,
    )
    why = _tried(found)
    return found if why is None else Missing(why=f"buildah is installed and does not work here: {why}")


def _tried(buildah: Buildah) -> str | None:
    with tempfile.TemporaryDirectory(prefix="meshwright-probe-") as folder:
        place = prepare(Path(folder, "probe"))
        without_room = evolve(buildah, limits=evolve(buildah.limits, free_bytes=0))
        ended = without_room._run(
            {"look": Step(argv=buildah._buildah("images"))},
            place,
            _PROBE_SECONDS,
            "1970-01-01T00:00:00Z",
            Watch(),
        )
    return None if ended.why is None else "; ".join(ended.log[1:][-3:]) or ended.why


def _bound(place: Place, name: str) -> Iterator[str]:
    yield from ("--bind", str(place.root / name), f"/build/{name}")


def containerfile(place: Place, folder: str, recipe: Container) -> Path | None:
    """The Containerfile of a recipe, if it is a file in the module's folder and no link leads there."""
    module = inside(place.source, folder)
    found = inside(module, recipe.file) if module else None
    return found if found and found.is_file() else None


def bases(text: str) -> tuple[str, ...]:
    """The images of other places that a Containerfile names in FROM and --from, each once, in its order.

    Arguments that it has before the first FROM are filled in. What is no image's name (`scratch`, an earlier
    stage, something with an argument that has no value) is left out: buildah says what is wrong with it.
    """
    return tuple(dict.fromkeys(_named(text)))


def _named(text: str) -> Iterator[str]:
    arguments: dict[str, str] = {}
    stages: set[str] = {"scratch"}
    for line in _CONTINUED.sub(" ", text).splitlines():
        line = line.strip()
        if (argument := _ARGUMENT.fullmatch(line)) and stages == {"scratch"}:
            arguments[argument[1]] = argument[2].strip("\"'")
        elif begun := _FROM.fullmatch(line):
            name = Template(begun[1].strip("\"'")).safe_substitute(arguments)
            if name.lower() not in stages and _IMAGE.fullmatch(name):
                yield name
            stages |= {str(len(stages)), (begun[2] or name).lower()}
        elif copied := _COPY_FROM.match(line):
            name = copied[1]
            if name.lower() not in stages and not name.isdigit() and _IMAGE.fullmatch(name):
                yield name
