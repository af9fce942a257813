"""The catalogue of the benchmark: 300 modules, as plain data (design, part 4).

Units in layers, pairs of modules that answer one name, services with scope mesh, and modules that
exist to have a node refused. Nothing enters here that knows of nodes, but for where services run.
"""

from collections.abc import Sequence
from random import Random
from typing import Any

Data = dict[str, Any]

MODULES = 300
LAYERS = (0.10, 0.20, 0.30, 0.40)
"""Shares of the units in each layer, the base first; a unit requires units of lower layers."""

CHOICES = {
    "shell": ("bash", "zsh"),
    "editor": ("nano", "vim"),
    "resolver": ("systemd-resolved", "unbound"),
    "cron": ("cronie", "fcron"),
    "firewall": ("ferm", "nftables"),
    "display-server": ("wayland", "xorg"),
}
"""Node-scoped names that two modules provide."""

SERVICES = {
    "database": {0: "postgres", 1: "mariadb"},
    "objects": {2: "garage", 3: "garage"},
    "mail": {4: "postfix"},
    "cache": {5: "valkey"},
}
"""Mesh-scoped names, and which module provides them on which nodes, by number."""


def catalogue(rng: Random) -> list[Data]:
    """300 modules: services, pairs that answer one name, troublemakers, and the units."""
    fixed = [*services(), *troublemakers()]
    layers = named_layers(rng, MODULES - len(fixed) - 2 * len(CHOICES))
    modules = fixed + pairs(rng, layers[0])
    for depth, layer in enumerate(layers):
        below = [name for lower in layers[:depth] for name in lower]
        modules += [unit(rng, name, below, depth) for name in layer]
    rng.shuffle(modules)
    return modules


def named_layers(rng: Random, count: int) -> list[list[str]]:
    """Names in layers; their alphabet says nothing of their layer."""
    names = [f"unit-{number:03d}" for number in range(count)]
    rng.shuffle(names)
    layers = []
    for share in LAYERS[:-1]:
        size = round(count * share)
        layers.append(names[:size])
        names = names[size:]
    return [*layers, names]


def unit(rng: Random, name: str, below: Sequence[str], depth: int) -> Data:
    """One ordinary module; the deeper, the more it asks for."""
    requires: list[str] = []
    for provider in skewed(rng, below, rng.choice((2, 3, 3, 4)) if depth else 0):
        requires.append(f"lib:{provider}")
        if rng.random() < 0.15:
            requires.append(f"bin:{provider}")
    if depth and rng.random() < 0.20:
        requires.append(rng.choice(list(CHOICES)))
    if depth > 1 and rng.random() < 0.04:
        requires.append(f"bin:{rng.choice(rng.choice(list(CHOICES.values())))}")
    if depth > 1 and rng.random() < 0.20:
        requires.append(rng.choice(list(SERVICES)))
    module = {
        "name": name,
        "version": f"{rng.randrange(9)}.{rng.randrange(30)}.{rng.randrange(9)}",
        "requires": requires,
        "provides": [f"lib:{name}", f"bin:{name}"],
        "resources": resources(rng, name),
    }
    if rng.random() < 0.25:
        module["claims"] = [f"port:{10_000 + int(name[-3:])}"]
    if rng.random() < 0.15:
        module["capabilities"] = ["systemd"]
    return module


def skewed(rng: Random, names: Sequence[str], count: int) -> list[str]:
    """Some of the names, the earlier ones more often: a few libraries are in everything."""
    picked = (names[int(len(names) * rng.random() ** 2)] for _ in range(count))
    return list(dict.fromkeys(picked))


def resources(rng: Random, name: str) -> list[Data]:
    """A package, often a file, and often a package that other modules have as well."""
    found: list[Data] = [{"kind": "package", "name": name}]
    if rng.random() < 0.5:
        text = f"# {name}\nenabled = yes\n"
        found.append({"kind": "file", "path": f"/etc/{name}.conf", "content": text, "mode": "0644"})
    if rng.random() < 0.4:
        found.append({"kind": "package", "name": f"shared-{rng.randrange(20)}"})
    return found


def pairs(rng: Random, base: Sequence[str]) -> list[Data]:
    """The modules of `CHOICES`: each stands on one unit of the base, and can be asked for by name.

    Where a unit asks for one of them by name and the other is assigned, a node has both.
    """
    return [
        {
            "name": provider,
            "version": "2.0",
            "requires": [f"lib:{rng.choice(base)}"],
            "provides": [name, f"bin:{provider}"],
            "resources": resources(rng, provider),
        }
        for name, providers in CHOICES.items()
        for provider in providers
    ]


def services() -> list[Data]:
    """What is reached over the network: services, what offers metrics, and what gathers them."""
    offering = {module: name for name, places in SERVICES.items() for module in places.values()}
    found = [
        {
            "name": module,
            "version": "16.2",
            "provides": [{"name": name, "scope": "mesh", "exports": {"host": module}}],
            "claims": [f"service:{name}"],
            "capabilities": ["systemd"],
            "resources": [{"kind": "package", "name": module}],
        }
        for module, name in offering.items()
    ]
    every = {"name": "metrics", "from": "every"}
    offered = {"name": "metrics", "scope": "mesh"}
    claim = {"name": "scheduler", "scope": "mesh"}
    return [
        *found,
        {"name": "exporter", "version": "1.8", "provides": [offered]},
        {"name": "monitor", "version": "3.1", "requires": [every]},
        {"name": "leader", "version": "1.0", "claims": [claim]},
    ]


def troublemakers() -> list[Data]:
    """Modules that only flawed nodes are assigned: each stands for one way to be refused."""
    motd = {"kind": "file", "path": "/etc/motd"}
    return [
        {"name": "cuda", "version": "12.4", "capabilities": ["gpu"]},
        {"name": "apache", "version": "2.4", "claims": ["port:443"]},
        {"name": "caddy", "version": "2.7", "claims": ["port:443"]},
        {"name": "motd-plain", "version": "1", "resources": [{**motd, "content": "hello\n"}]},
        {"name": "motd-loud", "version": "1", "resources": [{**motd, "content": "HELLO\n"}]},
        {"name": "ring-a", "version": "1", "requires": ["ring:b"], "provides": ["ring:a"]},
        {"name": "ring-b", "version": "1", "requires": ["ring:a"], "provides": ["ring:b"]},
        {"name": "undecided", "version": "1", "requires": ["sound"]},
        {"name": "alsa", "version": "1", "provides": ["sound"]},
        {"name": "pipewire", "version": "1", "provides": ["sound"]},
        {"name": "archiver", "version": "1", "requires": ["database"]},
        {"name": "orphan", "version": "1", "requires": ["nobody:provides-this"]},
    ]
