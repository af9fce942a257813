"""How values look on a terminal. Sentences come from `mesh_core.explain`; here is only their place."""
