"""A command that is named to be typed next is one that can be typed."""

from __future__ import annotations

import shlex

from mesh_cli.roots import called


def test_what_is_to_be_typed_next_has_the_root_that_was_said_and_no_other() -> None:
    assert called("mesh-host run", None) == "mesh-host run"
    assert called("mesh-host run", "/tmp/pi") == "mesh-host run --root /tmp/pi"
    assert shlex.split(called("mesh-host run", "a b; c"))[2:] == ["--root", "a b; c"]
