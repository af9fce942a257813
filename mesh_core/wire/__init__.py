"""Values <-> plain data (design, parts 4 and 5): strict on the way in, canonical on the way out."""
