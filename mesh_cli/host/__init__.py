"""The program `mesh-host`: the machine's side, from a file (design, part 8)."""
