"""The commands, one file for each group of them. A command gathers, asks the core to decide, and acts."""
