"""The commands of `mesh-host`, one file for what belongs together."""
