"""Facts -> sentences (design, part 6): the one place where they are made."""

from mesh_core.explain.problems import Explainer, Explanation, explain

__all__ = ["Explainer", "Explanation", "explain"]
