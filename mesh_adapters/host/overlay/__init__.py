"""This machine's part of the overlay: its key, its interface, the names of the others (design, part 11)."""
