"""What a statement says, and what it must not."""

import json
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.build.provenance import Made, shown, statement
from mesh_core.model.build import Request
from mesh_core.model.source import Commit

DIGEST = f"sha256:{'d' * 64}"
MADE = Made(
    request=Request(
        id="aaaaaaaa",
        module="web",
        repository="https://git.example/homelab.git",
        commit="f" * 40,
        ref="refs/heads/main",
        paths=("modules/web", "shared"),
    ),
    version="1.4.0",
    commit=Commit(id="c" * 40, at="2026-12-01T22:20:02Z"),
    builder="nas",
    started="2026-12-02T08:00:00Z",
    finished="2026-12-02T08:00:05Z",
)


def said(repository: str = MADE.request.repository) -> dict[str, Any]:
    content = statement(evolve(MADE, request=evolve(MADE.request, repository=repository)), DIGEST)
    read: dict[str, Any] = json.loads(content)
    return read


def test_a_statement() -> None:
    """In-toto Statement v1 with the predicate of SLSA provenance v1, to the letter."""
    assert said() == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": "web", "digest": {"sha256": "d" * 64}}],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:meshwright:build:v1",
                "externalParameters": {
                    "repository": "https://git.example/homelab.git",
                    "ref": "refs/heads/main",
                    "paths": ["modules/web", "shared"],
                    "commit": "f" * 40,
                },
                "resolvedDependencies": [
                    {
                        "uri": "git+https://git.example/homelab.git@refs/heads/main",
                        "digest": {"gitCommit": "f" * 40},
                    }
                ],
            },
            "runDetails": {
                "builder": {"id": "urn:meshwright:builder:nas"},
                "metadata": {
                    "invocationId": "aaaaaaaa",
                    "startedOn": "2026-12-02T08:00:00Z",
                    "finishedOn": "2026-12-02T08:00:05Z",
                },
            },
        },
    }


def test_the_artifact_names_the_newest_commit_and_no_build() -> None:
    """Asked for at another commit, by another request, on another day: the artifact says the same."""
    again = evolve(
        MADE,
        request=evolve(MADE.request, id="bbbbbbbb", commit="e" * 40),
        builder="vps",
        started="2027-01-01T00:00:00Z",
        finished="2027-01-01T00:00:01Z",
    )
    assert again.about == MADE.about
    assert MADE.about.commit == "c" * 40
    assert statement(again, DIGEST) != statement(MADE, DIGEST)


@pytest.mark.parametrize(
    ("repository", "uri"),
    [
        ("https://git.example/r.git", "git+https://git.example/r.git"),
        ("ssh://git@git.example:2222/r.git", "git+ssh://git@git.example:2222/r.git"),
        ("git@git.example:me/r.git", "git+ssh://git@git.example/me/r.git"),
        ("git@git.example:/srv/r.git", "git+ssh://git@git.example/srv/r.git"),
        ("/srv/git/r.git", "git+file:///srv/git/r.git"),
        ("file:///srv/git/r.git", "git+file:///srv/git/r.git"),
    ],
)
def test_a_repository_is_a_url_there(repository: str, uri: str) -> None:
    (dependency,) = said(repository)["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert dependency["uri"] == f"{uri}@refs/heads/main"


def test_who_logs_in_over_https_may_be_a_token_and_is_left_out() -> None:
    with_token = evolve(
        MADE, request=evolve(MADE.request, repository="https://ghp-token@git.example/homelab.git")
    )
    assert b"ghp-token" not in statement(with_token, DIGEST)
    assert with_token.about == MADE.about
    assert shown("https://u:p@h/r") == "https://h/r"
    assert shown("ssh://git@h/r@v1") == "ssh://git@h/r@v1"
    assert shown("https://h/r@v1") == "https://h/r@v1"


def test_no_level_is_claimed() -> None:
    assert "level" not in json.dumps(said()).lower()
