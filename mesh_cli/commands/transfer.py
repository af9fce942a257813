"""`mesh import`, `export`: a whole mesh, from and to one document."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli import reading
from mesh_cli.exits import Exit, Stop
from mesh_cli.options import AnywayOption, JsonOption, NoInputOption, StoreOption, YesOption
from mesh_cli.output import json_text, say, say_json, visible
from mesh_cli.recording import Recording
from mesh_cli.wiring import opened_store

if TYPE_CHECKING:
    from mesh_core.analysis.proposal import Proposal
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh


def import_mesh(
    file: Annotated[
        str,
        typer.Argument(metavar="MESH", help="A mesh document (.json, .toml or -).", show_default=False),
    ],
    *,
    replace: Annotated[
        bool, typer.Option("--replace", help="Also remove what the document does not name.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the difference; record nothing.")] = False,
    yes: YesOption = False,
    no_input: NoInputOption = False,
    anyway: AnywayOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take over a whole mesh document, or nothing of it.

    It replaces the modules, assignments and pins that it names. What machines reported is never overwritten.

    Example: mesh import examples/homelab/mesh.toml --dry-run
    """
    document = reading.mesh_document(file)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.analysis.difference import difference
        from mesh_core.analysis.merge import merged
        from mesh_core.faults import CatalogueError

        _refuse_another_range(mesh, document.mesh)
        try:
            return difference(mesh, merged(mesh, document, replace=replace))
        except CatalogueError as error:
            lines = [f"refused: {file} does not agree with the catalogue that it is to join"]
            lines += [f"  {fault}" for fault in error.faults]
            raise Stop(Exit.REFUSED, "catalogue", lines) from None

    def preview(proposal: Proposal) -> list[str]:
        from mesh_cli.render.consequences import difference_lines

        return difference_lines(proposal)

    words = ["import", file, *(["--replace"] if replace else [])]
    asks = replace and not (yes or no_input or dry_run)
    recording = Recording(*words, store=store, as_json=as_json, anyway=anyway, asks=asks, dry_run=dry_run)
    recording.run(decide, preview=preview)


def _refuse_another_range(mesh: Mesh, document: Mesh) -> None:
    """Addresses are kept: who moves to another range is shown by the command that moves them."""
    was, wanted = mesh.network, document.network
    if was is None or wanted is None or was.range == wanted.range:
        return
    lines = [
        f"refused: its network is {wanted.range}, and the mesh's is {was.range}",
        f"  `mesh network move {wanted.range} --dry-run` shows who would have another address",
        "nothing was recorded",
    ]
    raise Stop(Exit.REFUSED, "another-range", lines, {"range": was.range, "wanted": wanted.range})


def export(
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A new file; else stdout.", show_default=False)
    ] = None,
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the whole mesh as one JSON document.

    `mesh import` and `mesh plan --file` read it.

    Example: mesh export mesh.json
    """
    from mesh_core.wire.data import mesh_to_data

    with opened_store(store) as opened:
        mesh = opened.mesh()
    data = mesh_to_data(mesh)
    if file is None:
        say(json_text(data))
        return
    document = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(document + "\n")
    except FileExistsError:
        raise Stop(Exit.FAILED, "exists", f"{file} is there already, and was left as it is") from None
    except OSError as error:
        raise Stop(Exit.FAILED, "unwritable-file", f"{file} cannot be written: {error.strerror}") from None
    if as_json:
        say_json({"export": str(file)})
    else:
        say(f"wrote {visible(str(file))}: {len(mesh.catalogue.modules)} modules, {len(mesh.nodes)} nodes")
