"""Everything that touches the world, behind the ports of `mesh_core.ports`. Nothing but packages
here.
"""
