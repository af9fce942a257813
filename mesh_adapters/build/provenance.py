"""What was built of what, by whom and when: an in-toto statement with the SLSA provenance predicate.

It is written by the builder, outside of whatever it shut the build in. It is not signed, so it says no more
than whoever can write to the registry may say, and it claims no SLSA level.
"""

from __future__ import annotations

import re

from attrs import frozen

from mesh_adapters.build.oci import About, canonical
from mesh_core.model.build import Request
from mesh_core.model.source import Commit

STATEMENT = "https://in-toto.io/Statement/v1"
PREDICATE = "https://slsa.dev/provenance/v1"
BUILD_TYPE = "urn:meshwright:build:v1"
"""The module's `build`, as its manifest says it at the commit, run on the source's paths."""

_USER = re.compile(r"(https?://)[^/@]*@")
_SHORT_SSH = re.compile(r"([^/:@]+@[^/:]+):(.*)")


@frozen(kw_only=True)
class Made:
    """A build that ended well: what was asked, what it came to, and who did it when.

    `version` is the manifest's; `commit` the newest that touched a path of the source, at the commit that was
    asked for. `started` and `finished` are instants in UTC.
    """

    request: Request
    version: str
    commit: Commit
    builder: str
    started: str
    finished: str

    @property
    def about(self) -> About:
        """What the artifact says of itself."""
        return About(
            module=self.request.module,
            version=self.version,
            repository=shown(self.request.repository),
            commit=self.commit.id,
            at=self.commit.at,
        )


def shown(repository: str) -> str:
    """A repository's address as everybody may see it: who logs in over HTTPS may be a token."""
    return _USER.sub(r"\1", repository)


def statement(made: Made, digest: str) -> bytes:
    """The statement that a build made the artifact of this digest."""
    request = made.request
    return canonical(
        {
            "_type": STATEMENT,
            "subject": [{"name": request.module, "digest": _digest_set(digest)}],
            "predicateType": PREDICATE,
            "predicate": {
                "buildDefinition": {
                    "buildType": BUILD_TYPE,
                    "externalParameters": {
                        "repository": shown(request.repository),
                        "ref": request.ref,
                        "paths": list(request.paths),
                        "commit": request.commit,
                    },
                    "resolvedDependencies": [
                        {
                            "uri": f"git+{_url(shown(request.repository))}@{request.ref}",
                            "digest": {"gitCommit": request.commit},
                        }
                    ],
                },
                "runDetails": {
                    "builder": {"id": f"urn:meshwright:builder:{made.builder}"},
                    "metadata": {
                        "invocationId": request.id,
                        "startedOn": made.started,
                        "finishedOn": made.finished,
                    },
                },
            },
        }
    )


def _digest_set(digest: str) -> dict[str, str]:
    algorithm, _, digits = digest.partition(":")
    return {algorithm: digits}


def _url(repository: str) -> str:
    """A repository's address as a URL: git takes two forms that are none."""
    if repository.startswith("/"):
        return f"file://{repository}"
    short = None if "://" in repository else _SHORT_SSH.fullmatch(repository)
    return f"ssh://{short[1]}/{short[2].lstrip('/')}" if short else repository
