"""Flows: what takes the store and the broker together. Each gathers, has the core decide, and acts."""
