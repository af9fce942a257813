"""Templates: jinja2, sandboxed and strict. A name that does not exist is a fault, not an empty string."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from mesh_adapters.host.kind import Context, Immaterial
from mesh_core.model.declaration import Declaration, DeclaredAnswer, DeclaredModule, Given

if TYPE_CHECKING:
    from jinja2 import Template
    from jinja2.sandbox import SandboxedEnvironment

LONGEST = 8 * 1024 * 1024
"""Characters that a template may come to: a loop in it makes a small text large."""


def render(template: str, context: Context) -> str:
    """What a template comes to. Raises `Immaterial` with the reason and the line.

    It sees `node.name`, `module.name`, `module.version`, and `answers.NAME` with `.node`, `.module`,
    `.exports` and, where the mesh has a network, `.address` - a list of those for a requirement from every. A
    name that is no identifier is written `answers["mail-relay"]`.
    """
    from jinja2 import TemplateError, TemplateSyntaxError

    try:
        made = _compiled(template).render(context.data)
    except TemplateSyntaxError as error:
        raise Immaterial(f"line {error.lineno} of the template: {error.message}") from None
    except (TemplateError, ArithmeticError, TypeError, ValueError, LookupError, AttributeError) as error:
        raise Immaterial(f"the template: {error}") from None
    if len(made) > LONGEST:
        raise Immaterial(f"the template comes to more than {LONGEST} characters")
    return made


@lru_cache(maxsize=512)
def _compiled(template: str) -> Template:
    """The template, read once for all machines that it is rendered for: that costs more than rendering."""
    return _environment().from_string(template)


@cache
def _environment() -> SandboxedEnvironment:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Missing(StrictUndefined):
        """What a template names and is not there; of an address it says what would give one."""

        @property
        def _undefined_message(self) -> str:
            asked = self._undefined_obj
            if self._undefined_name == "address" and isinstance(asked, dict) and "exports" in asked:
                return f"{asked['node']} has no address: the mesh has no network (mesh network set RANGE)"
            return super()._undefined_message

    return ImmutableSandboxedEnvironment(undefined=Missing, keep_trailing_newline=True, autoescape=False)


def context_of(declaration: Declaration, module: DeclaredModule) -> Context:
    """What the templates of one module of a declaration see."""
    return Context(
        data={
            "node": {"name": declaration.node},
            "module": {"name": module.name, "version": module.version},
            "answers": {answer.provision: _answer(answer) for answer in module.answers},
        }
    )


def _answer(answer: DeclaredAnswer) -> dict[str, Any] | list[dict[str, Any]]:
    given = [_given(given) for given in answer.given]
    return given if answer.every else given[0]


def _given(given: Given) -> dict[str, Any]:
    said: dict[str, Any] = {"node": given.node, "module": given.module, "exports": dict(given.exports)}
    return said if given.address is None else said | {"address": given.address}
