"""The command line `mesh-host` as a whole: which commands there are, in the order of the help."""

from __future__ import annotations

from mesh_cli.command_line import command_line
from mesh_cli.host.commands import applying, joining, owning, probing, running, status

app = command_line(
    "mesh-host", "Makes this machine what it is declared to be, and gives back what it was lent."
)

app.command("probe")(probing.probe)
app.command("apply")(applying.apply)
app.command("status")(status.status)
app.command("owned")(owning.owned)
app.command("forget")(owning.forget)
app.command("join")(joining.join)
app.command("leave")(joining.leave)
app.command("run")(running.run)
