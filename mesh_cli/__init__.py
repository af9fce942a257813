"""The command line. One file for each command group; nothing here decides what a mesh should be."""
