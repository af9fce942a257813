"""Modules that ship with the control plane, in sentences."""

from __future__ import annotations

ADD = "mesh module add --shipped"


def another(module: str) -> str:
    """That the catalogue has one that shipped, and another one ships now."""
    return f"{module}: this mesh ships another one: {ADD} {module}"


def left(module: str) -> str:
    """That one from elsewhere was left, since nobody named it."""
    return (
        f"{module} is another one here, which did not ship with mesh, and stays; {ADD} {module} replaces it"
    )
