"""The oracle: the resolution written a second time, slowly and literally, from the text alone.

One function for each rule, with the sentence of the design (parts 3, 4 and 5) that it says in
its docstring; it is what the resolver is compared with on small meshes. Nothing enters but the
standard library, plain sets, lists and dictionaries: no value class and nothing else of
mesh_core, so that a fault of the resolver is not also one of its oracle. Everything is worked
out again wherever it is needed; only clarity counts.

It is one long file on purpose: it is read from top to bottom beside the text, in its order.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Problem = dict[str, Any]
"""One problem of part 5: its code and exactly the facts of the table."""


class Module(NamedTuple):
    """One manifest in long form. `provides` and `claims`: name to scope; `requires`: (name, from);
    `resources`: identity to content.
    """

    version: str
    requires: list[tuple[str, str]]
    provides: dict[str, str]
    claims: dict[str, str]
    capabilities: list[str]
    resources: dict[str, str]


class Node(NamedTuple):
    """One node in long form. `capabilities` is name to "is present", None for never reported."""

    assign: list[str]
    capabilities: dict[str, bool] | None
    pins: dict[str, str]


class Mesh(NamedTuple):
    """Part 3: "Input: a `Mesh` = catalogue, nodes (name, assigned module names, reported
    capabilities or *never*), pins".
    """

    modules: dict[str, Module]
    nodes: dict[str, Node]


def resolve_literally(document: Mapping[str, Any]) -> dict[str, Any]:
    """The resolution document (part 5) of a valid mesh document (part 4), both as plain data.

    A document that part 4 refuses is not noticed: what comes out for it means nothing.
    """
    mesh = _read(document)
    return {"format": 1, "nodes": {n: _node_entry(mesh, n) for n in sorted(mesh.nodes)}}


def document_facts(document: Mapping[str, Any]) -> dict[str, Any]:
    """What part 3 calls public for every node of a valid mesh document, refused ones too.

    Law 6: "S, order, bindings or answers (all four are public values, for refused nodes too)".
    For each node: `members` (S, sorted), `order`, `bindings` (lists of module, name, provider,
    sorted), `answers` (as in part 5).
    """
    mesh = _read(document)
    return {
        n: {
            "members": sorted(_members(mesh, n)),
            "order": _order(mesh, n),
            "bindings": _bindings(mesh, n),
            "answers": _answers(mesh, n),
        }
        for n in sorted(mesh.nodes)
    }


# The mesh document (part 4)


def _read(document: Mapping[str, Any]) -> Mesh:
    """Part 4: "every other list or table may be left out and is then empty, except `capabilities`:
    a node without it never reported, with `{}` it reported and has none".
    """
    return Mesh(
        modules={m["name"]: _read_module(m) for m in document.get("modules", [])},
        nodes={n["name"]: _read_node(n) for n in document.get("nodes", [])},
    )


def _read_module(manifest: Mapping[str, Any]) -> Module:
    """Part 4: "a long requirement may leave out `from`, or say "one""."""
    requires = [
        (r, "one") if isinstance(r, str) else (r["name"], r.get("from", "one"))
        for r in manifest.get("requires", [])
    ]
    return Module(
        version=manifest["version"],
        requires=requires,
        provides=_read_scoped(manifest.get("provides", [])),
        claims=_read_scoped(manifest.get("claims", [])),
        capabilities=list(manifest.get("capabilities", [])),
        resources={_identity(r): _canonical(r) for r in manifest.get("resources", [])},
    )


def _read_scoped(items: Iterable[Any]) -> dict[str, str]:
    """Part 2: "Written short, "shell" means scope `node`"; "A long form without `scope` means
    `node`".
    """
    return dict((i, "node") if isinstance(i, str) else (i["name"], i.get("scope", "node")) for i in items)


def _read_node(entry: Mapping[str, Any]) -> Node:
    """Part 4: "A long capability needs `present`" - the detail decides nothing."""
    capabilities = None
    if "capabilities" in entry:
        reported = entry["capabilities"].items()
        capabilities = {c: v if isinstance(v, bool) else v["present"] for c, v in reported}
    return Node(list(entry.get("assign", [])), capabilities, dict(entry.get("pins", {})))


def _identity(resource: Mapping[str, Any]) -> str:
    """Part 4: "Its identity is `path:/etc/motd` or `package:zsh` (kind and name)"; "a path is an
    identity whatever the kind".
    """
    if "path" in resource:
        return f"path:{resource['path']}"
    return f"{resource['kind']}:{resource['name']}"


def _canonical(value: object) -> str:
    """Part 4: "canonical JSON: `json.dumps(v, sort_keys=True, ...)`, so `1`, `1.0` and `true`
    differ".
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


# What the catalogue says of a name (part 2)


def _providers(mesh: Mesh, r: str) -> list[str]:
    """The modules in the catalogue that provide r, with whatever scope."""
    return sorted(m for m in mesh.modules if r in mesh.modules[m].provides)


def _scope(mesh: Mesh, r: str) -> str | None:
    """Part 2: "A provision name has one scope in a catalogue"; None where nobody provides it."""
    return next((mesh.modules[m].provides[r] for m in _providers(mesh, r)), None)


def _required_names(mesh: Mesh, m: str, scope: str | None) -> list[str]:
    """The names of that scope that m requires, from one or from every."""
    return sorted({r for r, _ in mesh.modules[m].requires if _scope(mesh, r) == scope})


# Pass one


def _members(mesh: Mesh, n: str) -> set[str]:
    """Part 3: "**S(n)** [...] is the least set that holds every module assigned to n that the
    catalogue has, and, for each module m in S(n) and each node-scoped name r that m requires, the
    module c whenever c is the **only** module in the catalogue that provides r".
    """
    s = {m for m in mesh.nodes[n].assign if m in mesh.modules}
    while True:
        forced = {
            _providers(mesh, r)[0]
            for m in s
            for r in _required_names(mesh, m, "node")
            if len(_providers(mesh, r)) == 1
        }
        if forced <= s:
            return s
        s = s | forced


def _providers_on(mesh: Mesh, n: str, r: str) -> list[str]:
    """The providers of r in S(n)."""
    return sorted(set(_providers(mesh, r)) & _members(mesh, n))


def _answered(mesh: Mesh, n: str, m: str) -> list[str]:
    """Part 3: "A requirement of a node-scoped name r by m in S(n) is **answered** if some module in
    S(n) provides r".
    """
    return [r for r in _required_names(mesh, m, "node") if _providers_on(mesh, n, r)]


def _order(mesh: Mesh, n: str) -> list[str]:
    """Part 3: "begin with nothing; again and again append the alphabetically first module of S(n)
    that is not there yet and each of whose answered node-scoped requirements has a provider that
    is".
    """
    order: list[str] = []
    while True:
        ready = [
            m
            for m in sorted(_members(mesh, n) - set(order))
            if all(set(_providers_on(mesh, n, r)) & set(order) for r in _answered(mesh, n, m))
        ]
        if not ready:
            return order
        order.append(ready[0])


def _bindings(mesh: Mesh, n: str) -> list[list[str]]:
    """Part 3: "Each answered requirement is **bound** to the provider that stands first." Where
    none stands in the order (its module is stuck on it) there is nothing to be bound to.
    """
    bindings = []
    for m in sorted(_members(mesh, n)):
        for r in _answered(mesh, n, m):
            standing = [c for c in _order(mesh, n) if c in _providers_on(mesh, n, r)]
            if standing:
                bindings.append([m, r, standing[0]])
    return bindings


def _offers(mesh: Mesh, r: str) -> list[tuple[str, str]]:
    """Part 3: "n **offers** every pair (r, m) with m in S(n) and m providing r with scope mesh
    [...] It does so whether or not anything is wrong with n". All offers of r in the mesh: (n, m).
    """
    return [
        (n, m)
        for n in sorted(mesh.nodes)
        for m in sorted(_members(mesh, n))
        if mesh.modules[m].provides.get(r) == "mesh"
    ]


def _holders(mesh: Mesh, claim: str) -> list[tuple[str, str]]:
    """Part 3: "n [...] **holds** every mesh-scoped claim of the modules in S(n)", whether or not
    anything is wrong with it. Everybody in the mesh who holds this one: (n, m).
    """
    return [
        (n, m)
        for n in sorted(mesh.nodes)
        for m in sorted(_members(mesh, n))
        if mesh.modules[m].claims.get(claim) == "mesh"
    ]


# Pass two


def _asking(mesh: Mesh, n: str, r: str, *ways: str) -> list[str]:
    """The modules of S(n) that require r in any of those ways: from "one", from "every"."""
    return sorted(m for m in _members(mesh, n) if any((r, way) in mesh.modules[m].requires for way in ways))


def _names(mesh: Mesh, n: str, scope: str | None) -> list[str]:
    """Part 3: "each mesh-scoped name r that some module of S(n) requires"; so for other scopes."""
    return sorted({r for m in _members(mesh, n) for r in _required_names(mesh, m, scope)})


def _candidates(mesh: Mesh, n: str, r: str) -> list[tuple[str, str]]:
    """Part 3: "with a pin (n, r) at node p, or at module q on p: the candidates are p's offers of
    r, or those by q; without one: the candidates are all offers of r in the mesh, n's own
    included".
    """
    if r not in mesh.nodes[n].pins:
        return _offers(mesh, r)
    p, _, q = mesh.nodes[n].pins[r].partition("/")
    return [(node, m) for node, m in _offers(mesh, r) if node == p and q in ("", m)]


def _answers(mesh: Mesh, n: str) -> list[dict[str, Any]]:
    """Part 3: "Exactly one candidate is the **answer** for every module of n that requires r from
    one provider [...] A requirement *from every* is answered by all offers of r in the mesh, n's
    own included, however many there are, none included; pins do not touch it".

    Part 5: "`required_by` has the modules that ask in that way, from one or from every; sorted by
    provision, every, node, module".
    """
    answers = []
    for r in _names(mesh, n, "mesh"):
        candidates, from_one = _candidates(mesh, n, r), _asking(mesh, n, r, "one")
        if from_one and len(candidates) == 1:
            answers.append(_answer(r, False, candidates[0], from_one))
        from_every = _asking(mesh, n, r, "every")
        if from_every:
            answers += [_answer(r, True, offer, from_every) for offer in _offers(mesh, r)]
    return sorted(answers, key=lambda a: (a["provision"], a["every"], a["node"], a["module"]))


def _answer(r: str, every: bool, offer: tuple[str, str], required_by: list[str]) -> dict[str, Any]:
    """One entry of `answers`, in the shape that part 5 shows."""
    facts = {"provision": r, "every": every, "node": offer[0], "module": offer[1]}
    return {**facts, "required_by": required_by}


# Problems: one function for each way in which a problem of the table comes about. A pin is looked
# at only for a mesh-scoped name, so "Pins of names that no module provides with scope mesh have no
# effect."


def _unknown_module(mesh: Mesh, n: str) -> list[Problem]:
    """Part 3: "a module assigned to n is not in the catalogue"."""
    return [{"code": "unknown-module", "module": m} for m in mesh.nodes[n].assign if m not in mesh.modules]


def _nobody_provides(mesh: Mesh, n: str) -> list[Problem]:
    """Part 3, `no-provider`: "m in S(n) requires a name (from one or from every) that no module in
    the catalogue provides". Part 5: "scope (null where no module in the catalogue provides it, and
    then without candidates [...]"; "and where scope is null all" in `required_by`.
    """
    return [
        {
            "code": "no-provider",
            "provision": r,
            "scope": None,
            "required_by": _asking(mesh, n, r, "one", "every"),
        }
        for r in _names(mesh, n, None)
    ]


def _ambiguous_on_the_node(mesh: Mesh, n: str) -> list[Problem]:
    """Part 3, `ambiguous-provider`: "m in S(n) requires a node-scoped name that two or more modules
    in the catalogue provide and none in S(n) does". Candidates: "modules for scope node".
    """
    return [
        {
            "code": "ambiguous-provider",
            "provision": r,
            "scope": "node",
            "required_by": _asking(mesh, n, r, "one"),
            "candidates": _providers(mesh, r),
        }
        for r in _names(mesh, n, "node")
        if len(_providers(mesh, r)) >= 2 and not _providers_on(mesh, n, r)
    ]


def _mesh_scoped(mesh: Mesh, n: str) -> list[Problem]:
    """What is wrong with the mesh-scoped names that S(n) requires from one provider."""
    return [
        problem
        for r in _names(mesh, n, "mesh")
        if _asking(mesh, n, r, "one")
        for problem in (_pinned if r in mesh.nodes[n].pins else _unpinned)(mesh, n, r)
    ]


def _unpinned(mesh: Mesh, n: str, r: str) -> list[Problem]:
    """Part 3, `no-provider`: "or a mesh-scoped name, from one provider, without a pin and without a
    candidate"; part 5: "for scope mesh also candidates: the modules in the catalogue that provide
    it". `ambiguous-provider`: "or a mesh-scoped name, from one provider, without a pin and with two
    or more candidates"; part 5: "`node/module` for scope mesh".
    """
    facts = {"provision": r, "scope": "mesh", "required_by": _asking(mesh, n, r, "one")}
    found = _candidates(mesh, n, r)
    if len(found) == 0:
        return [{"code": "no-provider", **facts, "candidates": _providers(mesh, r)}]
    if len(found) >= 2:
        return [{"code": "ambiguous-provider", **facts, "candidates": _spelled(found)}]
    return []


def _pinned(mesh: Mesh, n: str, r: str) -> list[Problem]:
    """Part 3, `pin-unsatisfied`: "the pin has no candidate: the node does not exist
    (`no-such-node`) or exists and no offer of its matches (`not-provided`)." `ambiguous-provider`:
    "or with a pin that names only a node which has two or more offers of it"; part 5: "with a pin
    also pin".
    """
    pin = mesh.nodes[n].pins[r]
    facts = {"provision": r, "pin": pin, "required_by": _asking(mesh, n, r, "one")}
    found = _candidates(mesh, n, r)
    if len(found) == 0:
        exists = pin.partition("/")[0] in mesh.nodes
        why = "not-provided" if exists else "no-such-node"
        return [{"code": "pin-unsatisfied", **facts, "why": why}]
    if len(found) >= 2:
        more = {"scope": "mesh", "candidates": _spelled(found)}
        return [{"code": "ambiguous-provider", **facts, **more}]
    return []


def _spelled(found: Iterable[tuple[str, str]]) -> list[str]:
    """Part 5: "Lists of names are sorted as strings": `node/module` after it is spelled, not
    before.
    """
    return sorted(f"{node}/{m}" for node, m in found)


def _missing_capability(mesh: Mesh, n: str) -> list[Problem]:
    """Part 3: "m in S(n) needs a capability that n has not reported present"."""
    return [
        {"code": "missing-capability", "module": m, "capability": c, "verdict": verdict}
        for m in _members(mesh, n)
        for c in mesh.modules[m].capabilities
        if (verdict := _verdict(mesh.nodes[n].capabilities, c)) != "present"
    ]


def _verdict(reported: dict[str, bool] | None, c: str) -> str:
    """Part 3: "`absent` (reported so), `unreported` (n reported, but not this one),
    `never-reported` (n never reported at all)".
    """
    if reported is None:
        return "never-reported"
    if c not in reported:
        return "unreported"
    return "present" if reported[c] else "absent"


def _claim_conflict_on_the_node(mesh: Mesh, n: str) -> list[Problem]:
    """Part 3: "two or more modules in S(n) have the same claim, whatever its scope"; part 5: "on
    one node: claim, scope, modules (all of S(n) that have it)".
    """
    scopes = {c: scope for m in _members(mesh, n) for c, scope in mesh.modules[m].claims.items()}
    having = {c: sorted(m for m in _members(mesh, n) if c in mesh.modules[m].claims) for c in scopes}
    return [
        {"code": "claim-conflict", "claim": c, "scope": scopes[c], "modules": having[c]}
        for c in scopes
        if len(having[c]) >= 2
    ]


def _claim_conflict_across_nodes(mesh: Mesh, n: str) -> list[Problem]:
    """Part 3: "or a module in S(n) has a mesh-scoped claim that another node holds"; part 5:
    "claim, scope, module (one of S(n)), candidates (`node/module`, every other node's) - one
    problem for each such module, also beside a conflict on the node itself".
    """
    return [
        {
            "code": "claim-conflict",
            "claim": c,
            "scope": "mesh",
            "module": m,
            "candidates": _spelled(elsewhere),
        }
        for m in _members(mesh, n)
        for c, scope in mesh.modules[m].claims.items()
        if scope == "mesh"
        if (elsewhere := [(node, other) for node, other in _holders(mesh, c) if node != n])
    ]


def _resource_conflict(mesh: Mesh, n: str) -> list[Problem]:
    """Part 3: "two or more modules in S(n) declare the same resource identity with different
    content"; part 5: "modules (all of S(n) that declare it)".
    """
    problems: list[Problem] = []
    for identity in {i for m in _members(mesh, n) for i in mesh.modules[m].resources}:
        declaring = sorted(m for m in _members(mesh, n) if identity in mesh.modules[m].resources)
        if len({mesh.modules[m].resources[identity] for m in declaring}) >= 2:
            facts = {"resource": identity, "modules": declaring}
            problems.append({"code": "resource-conflict", **facts})
    return problems


def _cycle(mesh: Mesh, n: str) -> list[Problem]:
    """Part 3: "modules of S(n) are stuck: one problem for each strongly connected component of two
    or more in the graph from each stuck module to every provider in S(n) of those of its answered
    requirements that have no provider in the order".
    """
    order = _order(mesh, n)
    stuck = _members(mesh, n) - set(order)  # "Modules that can never be appended are *stuck*."
    arrows: dict[str, set[str]] = {m: set() for m in stuck}
    for m in stuck:
        for r in _answered(mesh, n, m):
            if not set(_providers_on(mesh, n, r)) & set(order):
                arrows[m] |= set(_providers_on(mesh, n, r))
    reach = {m: _reachable(arrows, m) for m in stuck}
    components = {
        frozenset({m} | {other for other in stuck if other in reach[m] and m in reach[other]}) for m in stuck
    }
    return [{"code": "cycle", "modules": sorted(c)} for c in components if len(c) >= 2]


def _reachable(arrows: Mapping[str, set[str]], start: str) -> set[str]:
    """Everything that one or more arrows lead to from `start`."""
    found = set(arrows[start])
    while not (further := {end for m in found for end in arrows[m]}) <= found:
        found |= further
    return found


def _problems(mesh: Mesh, n: str) -> list[Problem]:
    """Part 3: "All of them, for each node n"; part 5: "Problems are sorted by code, then by their
    canonical JSON".
    """
    rules = (
        _unknown_module,
        _nobody_provides,
        _ambiguous_on_the_node,
        _mesh_scoped,
        _missing_capability,
        _claim_conflict_on_the_node,
        _claim_conflict_across_nodes,
        _resource_conflict,
        _cycle,
    )
    problems = [problem for rule in rules for problem in rule(mesh, n)]
    return sorted(problems, key=lambda problem: (problem["code"], _canonical(problem)))


# What a node gets (part 5)


def _node_entry(mesh: Mesh, n: str) -> dict[str, Any]:
    """Part 3: "A node with a problem is **refused**: it gets a `Refusal` with all its problems
    [...] Every other node gets a `Plan`: its modules in the order of n, each with why it is there,
    and its answers."

    Part 5: "`takes` has those of them that live elsewhere [...] `unsettled` has those takes whose
    node is refused (directly: a taker of a taker is not)".
    """
    problems = _problems(mesh, n)
    if problems:
        return {"status": "refused", "problems": problems}
    takes = [answer for answer in _answers(mesh, n) if answer["node"] != n]
    return {
        "status": "planned",
        "modules": [_planned_module(mesh, n, m) for m in _order(mesh, n)],
        "answers": _answers(mesh, n),
        "takes": takes,
        "unsettled": [take for take in takes if _problems(mesh, take["node"])],
    }


def _planned_module(mesh: Mesh, n: str, m: str) -> dict[str, Any]:
    """Part 5: "`by` lists every node-scoped requirement that is bound to the module by another
    module of the node, sorted by module, then name; a pulled-in module has at least one".
    """
    return {
        "name": m,
        "version": mesh.modules[m].version,
        "reason": "assigned" if m in mesh.nodes[n].assign else "pulled-in",
        "by": [
            {"module": asker, "requires": r}
            for asker, r, provider in _bindings(mesh, n)
            if provider == m and asker != m
        ],
    }
