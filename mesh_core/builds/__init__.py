"""Builds, decided: what to ask for, what to send again, and what an answer makes of the catalogue."""
