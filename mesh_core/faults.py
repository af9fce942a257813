"""What can be wrong with a value or a document, as facts, and the sentence for each.

A fault is about *input*: text that breaks a grammar, a manifest that disagrees with the others. Why a
well-formed mesh does not resolve is a problem, and lives in `problems`.
"""

from __future__ import annotations

from enum import StrEnum

from attrs import frozen


class NameKind(StrEnum):
    """The kinds of names that have a grammar (design, part 2)."""

    NODE = "node"
    MODULE = "module"
    PROVISION = "provision"
    CLAIM = "claim"
    CAPABILITY = "capability"
    VERSION = "version"


@frozen(kw_only=True)
class BadName:
    """A name that breaks its grammar; `suggestion` is a near spelling that would do, if there is one."""

    kind: NameKind
    name: str
    rule: str
    suggestion: str | None = None

    def __str__(self) -> str:
        meant = f"; {self.suggestion!r} would do" if self.suggestion else ""
        what = "version" if self.kind is NameKind.VERSION else f"{self.kind} name"
        return f"{self.name!r} is no {what}: {self.rule}{meant}"


@frozen(kw_only=True)
class Duplicate:
    """A name that stands twice where it may stand once; `where` says in what."""

    where: str
    name: str

    def __str__(self) -> str:
        return f"{self.name!r} stands twice in {self.where}"


@frozen(kw_only=True)
class BadText:
    """Text with a lone surrogate, which no UTF-8 can carry; `where` says in what."""

    where: str

    def __str__(self) -> str:
        return f"{self.where} holds a lone surrogate, which is no text"


@frozen(kw_only=True)
class BadResource:
    """A resource that has no identity, or content that is not plain JSON."""

    why: str

    def __str__(self) -> str:
        return self.why


@frozen(kw_only=True)
class BadSource:
    """Text that names no source, or says of a build what cannot be said."""

    why: str

    def __str__(self) -> str:
        return self.why


@frozen(kw_only=True)
class BadNetwork:
    """Text that is no address, range, key or endpoint, or a network that cannot be."""

    why: str

    def __str__(self) -> str:
        return self.why


@frozen(kw_only=True)
class ScopeDisagreement:
    """Two modules give one provision, or one claim, different scopes."""

    what: str
    name: str
    module: str
    scope: str
    other_module: str
    other_scope: str

    def __str__(self) -> str:
        verb = "provides" if self.what == "provision" else "claims"
        return (
            f"{self.module} {verb} {self.name!r} with scope {self.scope}, "
            f"and {self.other_module} {verb} it with scope {self.other_scope}; "
            f"a {self.what} has one scope in a catalogue"
        )


@frozen(kw_only=True)
class EveryOfNodeScope:
    """A requirement *from every* of a name that has scope node."""

    module: str
    name: str
    provider: str

    def __str__(self) -> str:
        return (
            f"{self.module} requires {self.name!r} from every, and {self.provider} provides it "
            f"with scope node; only a name of scope mesh can be required from every"
        )


@frozen(kw_only=True)
class SelfRequirement:
    """A module that requires, from one provider, what it provides itself."""

    module: str
    name: str

    def __str__(self) -> str:
        return (
            f"{self.module} requires {self.name!r} and provides it itself, so it could only answer "
            f"itself; give one of the two another name"
        )


CatalogueFault = ScopeDisagreement | EveryOfNodeScope | SelfRequirement
ValueFault = BadName | Duplicate | BadText | BadResource | BadSource | BadNetwork


class InvalidValue(ValueError):
    """A value class was given what it may not hold. `faults` has every reason, at least one."""

    def __init__(self, *faults: ValueFault) -> None:
        self.faults = faults
        super().__init__("; ".join(str(fault) for fault in faults))


class CatalogueError(ValueError):
    """Modules that cannot stand in one catalogue (design, part 2). `faults` has every reason."""

    def __init__(self, *faults: CatalogueFault) -> None:
        self.faults = faults
        super().__init__("; ".join(str(fault) for fault in faults))
