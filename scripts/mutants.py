"""Runs mutmut over the resolver and holds its result against tests/mutants.toml.

Fails when fewer than 95 % of the mutants are killed, when one survives that is not in the list, and
when the list has one that does not survive any more. An entry is found by the function and by the
line before and after, since mutmut's own numbers move with every change of the code.

Names of mutants may be given (`make mutants ARGS='mesh_core.resolve.order.*'`): then only those
run again, and the rest stands as it was.

    [[survivor]]
    function = "mesh_core.resolve.offers.closure"
    was = "seen = set(found)"
    becomes = "seen = None"
    reason = "..."
"""

import json
import os
import resource
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "tests" / "mutants.toml"
LEAST_KILLED = 0.95
MOST_MEMORY = 3 * 2**30
# Whatever ends the tests otherwise than well has noticed the mutant.
KILLED = frozenset({"killed", "timeout", "segfault", "caught by type check"})


class Survivor(NamedTuple):
    """A mutant that no test noticed."""

    function: str
    was: str
    becomes: str


def main() -> int:
    """Run everything; 0 when the result is as good as it has to be."""
    os.chdir(ROOT)
    missing = [name for name in configured_paths() if not Path(name).exists()]
    if missing:
        print(f"mutants: not there yet: {', '.join(missing)}", file=sys.stderr)
        return 1
    # A mutant may loop for ever and remember every round: it is to fail, and not to take the machine along.
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    # The same examples in every run: otherwise a verdict depends on the dice.
    os.environ["HYPOTHESIS_PROFILE"] = "ci"
    if not sys.argv[1:]:
        # mutmut keeps the verdict of a function that did not change, also when its tests did.
        shutil.rmtree("mutants", ignore_errors=True)
    # Its progress is one line that moves: for a person to watch, not for a log.
    run = mutmut("run", *sys.argv[1:], capture=not sys.stdout.isatty())
    if run.returncode != 0:
        print(run.stdout or "", run.stderr or "", file=sys.stderr)
        print("mutants: mutmut did not get through", file=sys.stderr)
        return 1
    return judge(verdicts())


def configured_paths() -> list[str]:
    config = tomllib.loads(Path("pyproject.toml").read_text("utf-8"))["tool"]["mutmut"]
    return [
        *(pattern.removesuffix("/*") for pattern in config["only_mutate"]),
        *config["pytest_add_cli_args_test_selection"],
    ]


def mutmut(*arguments: str, capture: bool = False) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("mutmut")
    return subprocess.run([program, *arguments], text=True, capture_output=capture, check=False)


def verdicts() -> dict[str, str]:
    """Every mutant's name with its verdict."""
    lines = mutmut("results", "--all", "true", capture=True).stdout.splitlines()
    pairs = (line.strip().partition(": ") for line in lines)
    return {name: verdict for name, separator, verdict in pairs if separator}


def judge(found: dict[str, str]) -> int:
    if not found:
        print("mutants: there is none, so nothing was tested", file=sys.stderr)
        return 1
    killed = sum(verdict in KILLED for verdict in found.values())
    print(f"{killed} of {len(found)} mutants killed ({killed / len(found):.1%})")
    counts = Counter(found.values()).most_common()
    print("  " + ", ".join(f"{number} {verdict}" for verdict, number in counts))
    survivors = {described(name) for name, verdict in found.items() if verdict not in KILLED}
    explained = read_list()
    unexplained, gone = survivors - explained, explained - survivors
    if unexplained:
        print(f"\nNot in {LIST.relative_to(ROOT)}; a test for it, or an entry with its reason:")
        print("\n".join(as_entry(survivor) for survivor in sorted(unexplained)))
    if gone:
        print(f"\nIn {LIST.relative_to(ROOT)}, and no survivor any more; take it out:")
        print("\n".join(as_entry(survivor) for survivor in sorted(gone)))
    too_few = killed < LEAST_KILLED * len(found)
    if too_few:
        print(f"\nfewer than {LEAST_KILLED:.0%} are killed")
    return 1 if unexplained or gone or too_few else 0


def described(name: str) -> Survivor:
    """What a mutant changes, from the difference that mutmut shows."""
    diff = mutmut("show", name, capture=True).stdout.splitlines()
    changed = [line for line in diff if not line.startswith(("---", "+++", "# "))]
    mangled = name.rpartition("__mutmut_")[0]
    # mesh_core.resolve.offers.x_closure, or for a method xǁClassǁmethod
    module, _, function = mangled.rpartition(".")
    function = function.removeprefix("x_").removeprefix("xǁ").replace("ǁ", ".")
    return Survivor(f"{module}.{function}", side(changed, "-"), side(changed, "+"))


def side(diff: list[str], sign: str) -> str:
    return " ".join(line[1:].strip() for line in diff if line.startswith(sign))


def read_list() -> set[Survivor]:
    if not LIST.exists():
        return set()
    entries = tomllib.loads(LIST.read_text("utf-8")).get("survivor", [])
    for entry in entries:
        if not entry.get("reason", "").strip():
            raise SystemExit(f"{LIST.relative_to(ROOT)}: no reason given: {entry}")
    return {Survivor(entry["function"], entry["was"], entry["becomes"]) for entry in entries}


def as_entry(survivor: Survivor) -> str:
    lines = [f"{key} = {toml_text(value)}" for key, value in survivor._asdict().items()]
    return "\n".join(["\n[[survivor]]", *lines, 'reason = ""'])


def toml_text(text: str) -> str:
    # A text that JSON quotes, TOML reads; without quotes of its own it is easier on the eye.
    return f"'{text}'" if "'" not in text else json.dumps(text, ensure_ascii=False)


if __name__ == "__main__":
    raise SystemExit(main())
