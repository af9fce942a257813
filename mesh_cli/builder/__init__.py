"""The program `mesh-builder`: builds what is asked for, and publishes it."""
