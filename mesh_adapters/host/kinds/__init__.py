"""The kinds of resources that ship with the host, one file each."""
