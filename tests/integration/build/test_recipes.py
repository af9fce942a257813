"""Making a module from its source by files and by commands."""

import os
from pathlib import Path

import pytest

from mesh_adapters.build.packing import Packed, pack
from mesh_adapters.build.recipes import Made, NotMade, Workshop, make
from mesh_adapters.build.sandbox import Missing, NotShutIn
from mesh_adapters.build.sandbox_attend import Limits, Watch
from mesh_core.model.build import Shut, Step
from mesh_core.model.recipe import Container, Files, Recipe, Shell
from tests.integration.build.sandbox_help import AT, bubblewrap, gone, mark, source

FILES = {
    "modules/web/module.toml": "name",
    "modules/web/Makefile": "dist: ; mkdir dist; cat ../../shared/part in.txt >dist/out.txt\n",
    "modules/web/in.txt": "in\n",
    "shared/part": "shared\n",
}


def _workshop(limits: Limits | None = None) -> Workshop:
    return Workshop(sandbox=bubblewrap(), limits=limits or Limits())


def _make(
    recipe: Recipe, tmp_path: Path, *, scratch: str = "scratch", workshop: Workshop | None = None
) -> Made | NotMade:
    return make(
        recipe,
        source(tmp_path / "source", FILES),
        "modules/web",
        at=AT,
        scratch=tmp_path / "scratches" / scratch,
        workshop=workshop or _workshop(),
        watch=Watch(),
    )


def _not_made(recipe: Recipe, tmp_path: Path, workshop: Workshop | None = None) -> NotMade:
    answer = _make(recipe, tmp_path, workshop=workshop)
    assert isinstance(answer, NotMade), answer
    return answer


def test_files_are_the_folder_as_it_is(tmp_path: Path) -> None:
    nothing = Workshop(sandbox=Missing(why="no sandbox here"))
    made = _make(Files(), tmp_path, workshop=nothing)
    assert made == Made(path=tmp_path / "source/modules/web", shut=Shut.NOTHING_RAN)
    assert not (tmp_path / "scratches").exists()


def test_commands_fill_a_folder(tmp_path: Path) -> None:
    made = _make(Shell(commands=("make dist", "echo more >>dist/out.txt")), tmp_path)
    assert isinstance(made, Made), made
    assert (made.shut, made.image) == (Shut.BUBBLEWRAP, False)
    assert (made.path / "out.txt").read_text() == "shared\nin\nmore\n"
    assert made.log[0] == "$ make dist"
    assert not (tmp_path / "source/modules/web/dist").exists()


def test_not_shut_in_is_said(tmp_path: Path) -> None:
    made = _make(Shell(commands=("make dist",)), tmp_path, workshop=Workshop(sandbox=NotShutIn()))
    assert isinstance(made, Made), made
    assert made.shut is Shut.NOT_AT_ALL
    assert (made.path / "out.txt").read_text() == "shared\nin\n"


def test_what_makes_one_folder_twice_makes_the_same(tmp_path: Path) -> None:
    """Two scratch folders, a source with other times and modes: what a build can see is the same."""
    everything = (
        "listed=$(ls -lA --time-style=+%s . .. ../../shared); mkdir dist; echo $listed >dist/list;"
        "env >dist/env; pwd >dist/pwd; id >dist/id; uname -n >dist/host; umask >dist/umask;"
        "ls -A / /tmp ~ >dist/top; tar c ../../shared >dist/tar; echo $$ >dist/pid"
    )
    digests: set[str] = set()
    for scratch in ("one", "quite-another/and-deeper"):
        made = _make(Shell(commands=(everything,)), tmp_path, scratch=scratch)
        assert isinstance(made, Made), made
        packed = pack(made.path, tmp_path / f"{len(digests)}.tar", AT)
        assert isinstance(packed, Packed), packed
        digests.add(packed.digest)
        for path in (tmp_path / "source").rglob("*"):
            os.utime(path, (1_000_000, 1_000_000))
            path.chmod(0o700 if path.is_dir() else 0o600)
    assert len(digests) == 1


def test_which_command_failed_is_said_with_its_last_lines(tmp_path: Path) -> None:
    commands = ("echo begun", "false; echo not this", "echo never")
    answer = _not_made(Shell(commands=commands), tmp_path)
    assert (answer.step, answer.stopped) == (Step.COMMANDS, False)
    assert answer.why == "command 2 of 3 ended with 1: false; echo not this"
    assert answer.log == ("$ echo begun", "begun", "$ false; echo not this")


def test_a_variable_that_is_not_set_is_a_failure(tmp_path: Path) -> None:
    answer = _not_made(Shell(commands=("mkdir dist; echo $NOT_SET >dist/x",)), tmp_path)
    assert answer.step is Step.COMMANDS
    assert "NOT_SET" in answer.log[-1]


def test_the_time_is_for_all_commands_together(tmp_path: Path) -> None:
    word = mark()
    hangs = f"setsid sh -c 'sleep 100' {word} & sleep 0.7"
    answer = _not_made(Shell(commands=(hangs, hangs, hangs), seconds=1), tmp_path)
    assert (answer.step, answer.why) == (Step.COMMANDS, "timed out after 1 s")
    assert gone(word, 0)


@pytest.mark.parametrize(
    "command",
    [
        "true",
        "touch dist",
        "ln -s /etc dist",
        "mkdir real; ln -s real dist",
        "cd ..; mv web other; ln -s other web; mkdir web/dist",
    ],
)
def test_what_is_packed_is_a_folder_of_the_module(command: str, tmp_path: Path) -> None:
    answer = _not_made(Shell(commands=(command,)), tmp_path)
    assert answer.step is Step.OUTPUT
    assert answer.why == "the commands left no folder 'dist' (not a link, in the module's folder)"


def test_an_output_deeper_inside(tmp_path: Path) -> None:
    made = _make(Shell(commands=("mkdir -p out/it; touch out/it/x",), output="out/it"), tmp_path)
    assert isinstance(made, Made)
    assert [path.name for path in made.path.iterdir()] == ["x"]
    linked = _make(Shell(commands=("mkdir -p a/it; ln -s a out",), output="out/it"), tmp_path, scratch="2")
    assert isinstance(linked, NotMade)


def test_an_output_that_is_too_large_is_refused(tmp_path: Path) -> None:
    small = _workshop(Limits(output_bytes=1000))
    answer = _not_made(Shell(commands=("mkdir dist; truncate -s 600 dist/a dist/b",)), tmp_path, small)
    assert answer.step is Step.OUTPUT
    assert answer.why == "what was made has 1200 bytes, and at most 1000 are published"


def test_a_builder_that_lacks_something_says_what(tmp_path: Path) -> None:
    nothing = Workshop(sandbox=Missing(why="bubblewrap (bwrap) is not installed"))
    answer = _not_made(Shell(commands=("true",)), tmp_path, nothing)
    assert answer.step is Step.REQUEST
    assert answer.why == "this builder runs no commands: bubblewrap (bwrap) is not installed"
    answer = _not_made(Container(), tmp_path, nothing)
    assert answer.step is Step.REQUEST
    assert answer.why == "this builder makes no images: start it with --allow-container"


def test_a_module_that_is_not_in_the_source(tmp_path: Path) -> None:
    there = source(tmp_path / "source", FILES)
    (there / "linked").symlink_to("modules/web")
    for folder in ("modules/none", "linked"):
        answer = make(
            Files(), there, folder, at=AT, scratch=tmp_path / "s", workshop=_workshop(), watch=Watch()
        )
        assert answer == NotMade(step=Step.SOURCE, why=f"there is no folder {folder!r} in the source")


def test_a_machine_that_refuses_is_a_failed_build(tmp_path: Path) -> None:
    (tmp_path / "scratches").mkdir()
    (tmp_path / "scratches/scratch").touch()
    answer = _not_made(Shell(commands=("true",)), tmp_path)
    assert answer.step is Step.COMMANDS
    assert answer.why.startswith("the builder's machine refused: ")


def test_a_builder_that_stops_gives_no_answer(tmp_path: Path) -> None:
    answer = make(
        Shell(commands=("sleep 60",)),
        source(tmp_path / "source", FILES),
        "modules/web",
        at=AT,
        scratch=tmp_path / "scratch",
        workshop=_workshop(),
        watch=Watch(asked_to_stop=lambda: True),
    )
    assert isinstance(answer, NotMade)
    assert answer.stopped
