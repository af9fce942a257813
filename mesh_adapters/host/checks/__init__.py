"""The kinds of checks that a host knows, one file each."""
