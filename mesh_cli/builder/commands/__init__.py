"""The commands of `mesh-builder`, a module for those that belong together."""
