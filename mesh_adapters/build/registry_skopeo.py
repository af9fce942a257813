"""A registry over HTTPS, by skopeo: from a layout of ours into it, and back.

What Debian 12's skopeo (1.9.3) makes of artifacts, as tried on its docker-registry (2.8.2): a manifest with
an empty config, an artifact type and a subject is copied as it is. `inspect` shows it with `--raw` only:
without, skopeo looks for the config of an image. An index whose descriptors have an `artifactType` is refused
under `--preserve-digests`, because this skopeo would write it without; so the index of referrers in a
registry has none, and says in annotations what they are.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path

from attrs import frozen

from mesh_adapters.broker.private import Unfit, read_private
from mesh_adapters.host.commands import Ended, command, run

_LONGEST_AUTHFILE = 1024 * 1024
_FATAL = re.compile(r'level=fatal msg="((?:[^"\\]|\\.)*)"')
_QUERY = re.compile(r'\?[^\s"]*')


@frozen(kw_only=True)
class Access:
    """How a registry is come to. Without files of its own, as anybody, by the certificates of the machine.

    `authfile` is one of skopeo or podman, which nobody but its owner may read; `certificates` a folder with
    `*.crt` of the authorities that are believed.
    """

    authfile: Path | None = None
    certificates: Path | None = None

    def fault(self) -> str | None:
        """Why it cannot be used; None where it can."""
        if self.authfile is not None:
            read = read_private(self.authfile, _LONGEST_AUTHFILE)
            if isinstance(read, Unfit):
                return read.why
        if self.certificates is not None and not self.certificates.is_dir():
            # skopeo says nothing of it, and then that it does not know who signed.
            return f"{self.certificates} is no folder of certificates"
        return None


@frozen(kw_only=True)
class Refused:
    """What skopeo said last when something did not go, without anything secret."""

    why: str


@frozen(kw_only=True)
class Skopeo:
    """Copies from the layout `stage` to a registry, until the monotonic clock says `by`."""

    stage: Path
    access: Access
    by: float

    def copy(self, name: str, to: str) -> Refused | None:
        """Copy what has a name in the stage, as it is, to `HOST/NAME:TAG` or `HOST/NAME@DIGEST`."""
        options = ["--quiet", "--preserve-digests", *self._options("--dest-")]
        return self._copied(options, name, to)

    def copy_index(self, name: str, to: str) -> Refused | None:
        """Copy an index, and none of what it lists: that is there."""
        options = ["--quiet", "--preserve-digests", "--multi-arch=index-only", *self._options("--dest-")]
        return self._copied(options, name, to)

    def raw(self, reference: str) -> bytes | Refused:
        """The manifest at `HOST/NAME:TAG` or `HOST/NAME@DIGEST`, as the registry has it."""
        ended = self._run("inspect", "--raw", *self._options("--"), f"docker://{reference}")
        return ended.output.encode() if ended.well else Refused(why=_words(ended))

    def _copied(self, options: list[str], name: str, to: str) -> Refused | None:
        ended = self._run("copy", *options, f"oci:{self.stage}:{name}", f"docker://{to}")
        return None if ended.well else Refused(why=_words(ended))

    def _options(self, prefix: str) -> list[str]:
        # Said, so that no configuration of the machine turns it off.
        options = [f"{prefix}tls-verify=true"]
        if self.access.certificates is not None:
            options.append(f"{prefix}cert-dir={self.access.certificates}")
        if self.access.authfile is not None:
            options.append(f"{prefix}authfile={self.access.authfile}")
        return options

    def _run(self, what: str, *arguments: str) -> Ended:
        # What is copied is ours, and looked at by its digest afterwards, so no policy about images has a say.
        return run(
            command(
                "skopeo",
                "--insecure-policy",
                f"--tmpdir={self.stage.parent}",
                what,
                *arguments,
                seconds=max(0.1, round(self.by - time.monotonic(), 1)),
                environment=self._environment,
            )
        )

    @property
    def _environment(self) -> Mapping[str, str]:
        """Homes that are empty: the logins and settings of whoever runs this are not its own."""
        nobody = str(self.stage.parent)
        return {"HOME": nobody, "XDG_RUNTIME_DIR": nobody, "TMPDIR": nobody}


def _words(ended: Ended) -> str:
    """What skopeo said last. Addresses are without their queries, where registries put what lets one in."""
    if ended.code is None:
        return "the time for publishing was up before it was done"
    said = _FATAL.findall(ended.errors)
    return _QUERY.sub("", _unquoted(said[-1]) if said else ended.words)


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text
