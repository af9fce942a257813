"""The command line `mesh-builder` as a whole: which commands there are, in the order of the help."""

from __future__ import annotations

from mesh_cli.builder.commands import joining, running
from mesh_cli.command_line import command_line

app = command_line(
    "mesh-builder", "Builds modules from their sources, as the mesh asks for it, and publishes them."
)

app.command("join")(joining.join)
app.command("leave")(joining.leave)
app.command("run")(running.run)
