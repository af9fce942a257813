"""The whole story in one process: a household is planned, machines are pushed to, a module is built from git.

The commands are the real ones, run here one after another; so are the hosts and the builder. Everything is in
a folder of its own, and gone afterwards. What is not as it should be ends it with 1 and one sentence.
"""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path

from stage import Stage, Surprise, stage, standard_input

from mesh_cli.host.main import run as run_host
from mesh_cli.main import run

HERE = Path(__file__).resolve().parent
PAGE = "handbook/pages/no-internet.txt"
SPOOL = """{
  "name": "spool",
  "version": "1.1",
  "resources": [{"kind": "directory", "path": "/var/spool/mesh", "mode": "0700"}]
}
"""


def main() -> int:
    """0 where everything went as it should."""
    os.chdir(HERE.parents[1])
    try:
        with stage() as on:
            household(on)
            three_machines(on)
            from_git_to_a_machine(on)
    except Surprise as surprise:
        sys.stdout.flush()
        print(f"demo: {surprise}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def three_machines(on: Stage) -> None:
    """Assign, plan, push, and what machines make of it."""
    part("Three machines, each with a host at work on it")
    os.environ["MESH_STORE"] = str(on.store)
    mesh("init")
    mesh("import", "examples/story/mesh.toml")
    say("Somebody wants the web application on pi. It takes its database from where there is one.")
    mesh("assign", "pi", "web")
    mesh("plan")
    say("One of the machines has a file where a directory is to be; so this ends with 4.")
    (on.machines["vps"] / "var").mkdir()
    (on.machines["vps"] / "var/spool").write_text("in the way\n")
    with on.hosts_at_work():
        mesh("push", "--wait", "--timeout", "60", ends=4)
        mesh("status")
        nodes_are(nas="applied", pi="applied", vps="failed")
        say("What is in the way is moved, and the next push sends only what is new.")
        (on.machines["vps"] / "var/spool").unlink()
        mesh("module", "add", "-", given=SPOOL)
        mesh("push", "--wait", "--timeout", "60")
        mesh("status")
        nodes_are(nas="applied", pi="applied", vps="applied")
    show(on, "pi/etc/web.conf", "database = nas:5432")


def from_git_to_a_machine(on: Stage) -> None:
    """Source, build, behind, build, status, unassign, gone."""
    part("A module that is built from git")
    first = on.make_repository(Path("examples/homelab"))
    on.let_builder_in()
    say(f"A git repository was made of examples/homelab. Its commit is {first}.")
    mesh("source", "set", "handbook", str(on.repository), "--path", "handbook")
    with on.hosts_at_work(), on.builder_at_work():
        say("Whichever builder is free takes the request; here it is one, called smith.")
        mesh("build", "handbook", "--wait", "--timeout", "60")
        module_is(on, "current", first)
        mesh("assign", "nas", "handbook")
        mesh("plan", "nas")
        mesh("push", "--wait", "--timeout", "60")
        show(on, f"nas/srv/{PAGE}", "count to ten")
        _changed(on)
        say("Nobody wants it any more. What the mesh brought goes, and nothing else.")
        (on.machines["nas"] / "srv/photos").mkdir()
        mesh("unassign", "nas", "handbook")
        mesh("push", "--wait", "--timeout", "60")
        nodes_are(nas="applied")
    listed(on, "nas/srv", ["photos"])


def _changed(on: Stage) -> None:
    (on.repository / PAGE).write_text("No internet\nAsk Ada.\n")
    second = on.commit("Whoever knows, knows")
    say(f"Somebody changes a page: commit {second}. The next look sees it, and says what is behind.")
    mesh("source", "check")
    mesh("module", "list")
    module_is(on, "behind", second)
    mesh("build", "--behind", "--wait", "--timeout", "60")
    module_is(on, "current", second)
    mesh("push", "--wait", "--timeout", "60")
    mesh("status")
    nodes_are(nas="applied")
    mesh("builds")
    show(on, f"nas/srv/{PAGE}", "Ask Ada")


def household(on: Stage) -> None:
    """The homelab: a refusal and its fix, and what one of its machines would have."""
    part("A household: five machines, two dozen modules, and one mistake")
    os.environ["MESH_STORE"] = str(on.folder / "household.db")
    say("A document can be planned without a store. One machine is refused, so this ends with 3.")
    mesh("plan", "--file", "examples/homelab/mesh.toml", ends=3)
    say("In a store, mistake included: a refusal is recorded only when one says --anyway.")
    mesh("init")
    mesh("import", "examples/homelab/mesh.toml", "--anyway")
    mesh("plan", "pi", ends=3)
    say("The fix, as the refusal names it.")
    mesh("assign", "vps", "postfix")
    mesh("plan", "pi")
    say("A machine by hand, without a broker, under a folder that stands for it.")
    machine = on.folder / "pi-by-hand"
    (machine / "etc").mkdir(parents=True)
    (machine / "etc/motd").write_text("Welcome to pi.\n")
    _applied(on, machine, "1")
    show(on, "pi-by-hand/etc/motd", "looked after by mesh")
    say("Two modules are taken off: what was there before comes back. That is six things at once, and a")
    print("machine gives back so many only with the word for it.")
    mesh("unassign", "pi", "motd", "restic")
    _applied(on, machine, "2", "--allow-removals")
    show(on, "pi-by-hand/etc/motd", "Welcome to pi.")


def _applied(on: Stage, machine: Path, generation: str, *more: str) -> None:
    declaration = on.folder / f"pi-{generation}.json"
    words = ["declare", "pi", "--json", "--generation", generation, *more]
    print(f"\n$ mesh {shlex.join(words)} > {declaration}", flush=True)
    declaration.write_text(json.dumps(facts(*words)))
    words = ["apply", str(declaration), "--root", str(machine)]
    print(f"\n$ mesh-host {shlex.join(words)}", flush=True)
    _ended(run_host(words), 0, words)


def mesh(*words: str, ends: int = 0, given: str | None = None) -> None:
    """Show a command, run it, and see that it ends as it should."""
    print(f"\n$ mesh {shlex.join(words)}", flush=True)
    with standard_input(given):
        _ended(run(list(words)), ends, words)


def _ended(code: int, expected: int, words: Sequence[str]) -> None:
    if code != expected:
        raise Surprise(f"`{words[0]}` ended with {code}, and {expected} was expected")


def facts(*words: str) -> dict[str, object]:
    """What a command prints as JSON."""
    out = io.StringIO()
    with redirect_stdout(out):
        code = run(list(words))
    _ended(code, 0, words)
    found: dict[str, object] = json.loads(out.getvalue())
    return found


def nodes_are(**expected: str) -> None:
    """See that machines stand as they should."""
    nodes = facts("status", "--json")["nodes"]
    assert isinstance(nodes, dict)
    for node, state in expected.items():
        if nodes[node]["state"] != state:
            raise Surprise(f"{node} is {nodes[node]['state']}, and was to be {state}")


def module_is(on: Stage, state: str, head: str) -> None:
    """See that the module stands to its source as it should."""
    modules = facts("module", "list", "--json")["modules"]
    assert isinstance(modules, list)
    (found,) = (module for module in modules if module["name"] == "handbook")
    if (found["state"], found["head"][:7]) != (state, head):
        what = f"handbook is {found['state']} to {found['head'][:7]}"
        raise Surprise(f"{what}, and was to be {state} to {head}")
    if found["from"]["place"] != f"oci:{on.registry}":
        raise Surprise(f"the artifact of handbook is at {found['from']['place']}")


def show(on: Stage, path: str, has: str) -> None:
    """Show a file of a machine, and see that it has some words."""
    file = on.folder / path
    print(f"\n$ cat {path}", flush=True)
    if not file.is_file():
        raise Surprise(f"there is no {path}")
    text = file.read_text()
    print(text, end="")
    if has not in text:
        raise Surprise(f"{path} has not the words {has!r}")


def listed(on: Stage, path: str, expected: list[str]) -> None:
    """Show what is in a folder of a machine, and see that it is what it should be."""
    found = sorted(os.listdir(on.folder / path))
    print("\n".join([f"\n$ ls {path}", *found]), flush=True)
    if found != expected:
        raise Surprise(f"{path} has {found}, and was to have {expected}")


def part(title: str) -> None:
    """The head of a part of the story."""
    print(f"\n\n{title}\n{'-' * len(title)}")


def say(line: str) -> None:
    """A line of why, between two commands."""
    print(f"\n{line}")


if __name__ == "__main__":
    sys.exit(main())
