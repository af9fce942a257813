"""The machine's side: what makes a node its declaration (design, part 8)."""
