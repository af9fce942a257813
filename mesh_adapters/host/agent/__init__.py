"""The host's daemon: takes declarations from a broker, applies them, and reports (design, parts 8 and 11).

Two threads: `line` owns the connection to the broker, `loop` does the work. What came is saved before it is
acknowledged, and becomes the declaration of this machine only once the work loop has taken it.
"""
