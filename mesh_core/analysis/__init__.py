"""Questions about a mesh that resolution does not ask: what if, what would mend it, what would move."""
