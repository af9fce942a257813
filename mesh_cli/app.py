"""The command line `mesh` as a whole: which commands there are, and in which order help shows them."""

from __future__ import annotations

import typer

from mesh_cli.command_line import command_line
from mesh_cli.commands import (
    assigning,
    broker,
    builders,
    building,
    collecting,
    declaring,
    inviting,
    modules,
    network,
    nodes,
    planning,
    pushing,
    sources,
    status,
    store,
    transfer,
)

app = command_line("mesh", "Works out what each of your machines should be, and why.")

app.command("plan")(planning.plan)
app.command("declare")(declaring.declare)
app.command("push")(pushing.push)
app.command("collect")(collecting.collect)
app.command("serve")(collecting.serve)
app.command("status")(status.status)
app.command("build")(building.build)
app.command("builds")(building.builds)
app.command("graph")(planning.graph)
app.command("lint")(planning.lint)
app.command("assign")(assigning.assign)
app.command("unassign")(assigning.unassign)
app.command("pin")(assigning.pin)
app.command("unpin")(assigning.unpin)
nodes.group.command("invite")(inviting.invite)
nodes.group.command("revoke")(inviting.revoke)
app.add_typer(nodes.group, name="node")
app.add_typer(modules.group, name="module")
app.add_typer(sources.group, name="source")
app.add_typer(network.group, name="network")
app.add_typer(broker.group, name="broker")
app.add_typer(builders.group, name="builder")
app.command("init")(store.init)
app.command("import")(transfer.import_mesh)
app.command("export")(transfer.export)
app.command("history")(store.history)
app.command("backup")(store.backup)

_renamed = typer.Typer()
_renamed.command("push", context_settings={"ignore_unknown_options": True})(pushing.overlay_push)
app.add_typer(_renamed, name="overlay", hidden=True)
