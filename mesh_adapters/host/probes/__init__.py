"""The probes that ship with the host, one file each."""
