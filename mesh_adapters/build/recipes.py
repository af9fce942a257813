"""Makes a module from its source: by nothing, by commands, or as an image (`mesh_core.model.recipe`)."""

from __future__ import annotations

from pathlib import Path

from attrs import Factory, field, frozen

from mesh_adapters.build.container import NOT_ALLOWED, Buildah, containerfile, layout
from mesh_adapters.build.sandbox import Job, Missing, Sandbox
from mesh_adapters.build.sandbox_attend import Limits, Watch
from mesh_adapters.build.sandbox_place import Place, copy_source, inside, prepare, size
from mesh_adapters.build.sandbox_turns import Ended
from mesh_core.model.build import Shut, Step
from mesh_core.model.recipe import Container, Files, Recipe, Shell


@frozen(kw_only=True)
class Made:
    """What was made: a folder to pack, or with `image` an OCI layout that has one image, called `built`."""

    path: Path
    shut: Shut
    image: bool = False
    log: tuple[str, ...] = ()


@frozen(kw_only=True)
class NotMade:
    """At which step it failed and why, and the last lines of what was said.

    `stopped` is whether the builder was asked to stop: then that is no answer to whoever asked for a build.
    """

    step: Step
    why: str
    log: tuple[str, ...] = ()
    stopped: bool = False


@frozen(kw_only=True)
class Workshop:
    """What a builder has to build with, found once: `find_sandbox`, `find_images`."""

    sandbox: Sandbox | Missing
    images: Buildah | Missing = NOT_ALLOWED
    limits: Limits = field(default=Factory(Limits))


def make(
    recipe: Recipe, source: Path, folder: str, *, at: str, scratch: Path, workshop: Workshop, watch: Watch
) -> Made | NotMade:
    """Make a module that is in a folder of a source, whose commit is of the instant `at`.

    `scratch` is a folder that is not there yet; the caller removes it with `sandbox_place.remove`. What is
    made is in it, or (`Files`) in the source itself. Raises what `watch` raises.
    """
    module = inside(source, folder)
    if module is None or not module.is_dir():
        return NotMade(step=Step.SOURCE, why=f"there is no folder {folder!r} in the source")
    lacking = _lacking(recipe, workshop)
    if lacking is not None:
        return NotMade(step=Step.REQUEST, why=lacking)
    if isinstance(recipe, Files):
        return Made(path=module, shut=Shut.NOTHING_RAN)
    try:
        place = prepare(scratch)
        copy_source(source, place, at, watch)
        if isinstance(recipe, Shell):
            return _by_commands(recipe, place, folder, at, workshop, watch)
        return _as_image(recipe, place, folder, at, workshop, watch)
    except OSError as error:
        return NotMade(step=Step.COMMANDS, why=f"the builder's machine refused: {error}")


def _lacking(recipe: Recipe, workshop: Workshop) -> str | None:
    match recipe:
        case Files():
            return None
        case Shell():
            missing = workshop.sandbox
            return f"this builder runs no commands: {missing.why}" if isinstance(missing, Missing) else None
        case Container():
            return workshop.images.why if isinstance(workshop.images, Missing) else None


def _by_commands(
    recipe: Shell, place: Place, folder: str, at: str, workshop: Workshop, watch: Watch
) -> Made | NotMade:
    assert not isinstance(workshop.sandbox, Missing)
    job = Job(commands=recipe.commands, at=at, seconds=recipe.seconds, folder=folder, network=recipe.network)
    ended = workshop.sandbox.run(job, place, watch)
    if ended.why is not None:
        return _failed(ended)
    module = inside(place.source, folder)
    output = inside(module, recipe.output) if module else None
    if output is None or not output.is_dir():
        why = f"the commands left no folder {recipe.output!r} (not a link, in the module's folder)"
        return NotMade(step=Step.OUTPUT, why=why, log=ended.log)
    return _checked(
        Made(path=output, shut=workshop.sandbox.shut, log=ended.log), workshop.limits.output_bytes
    )


def _as_image(
    recipe: Container, place: Place, folder: str, at: str, workshop: Workshop, watch: Watch
) -> Made | NotMade:
    assert not isinstance(workshop.images, Missing)
    if containerfile(place, folder, recipe) is None:
        why = f"there is no file {recipe.file!r} in the module's folder (or a link leads there)"
        return NotMade(step=Step.MANIFEST, why=why)
    ended = workshop.images.build(recipe, place, folder, at, watch)
    if ended.why is not None:
        return _failed(ended)
    made = Made(path=layout(place), shut=Shut.CONTAINER, image=True, log=ended.log)
    return _checked(made, workshop.limits.image_bytes)


def _failed(ended: Ended) -> NotMade:
    return NotMade(step=Step.COMMANDS, why=str(ended.why), log=ended.log, stopped=ended.stopped)


def _checked(made: Made, most: int) -> Made | NotMade:
    """What was made, if it is not too large."""
    found = size(made.path)
    if found <= most:
        return made
    why = f"what was made has {found} bytes, and at most {most} are published"
    return NotMade(step=Step.OUTPUT, why=why, log=made.log)
