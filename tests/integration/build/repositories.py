"""Real git repositories for tests, made as a person would make them, and as somebody hostile would."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


class Repository:
    """A repository with a work tree at `path`; each commit is a minute newer than the one before."""

    def __init__(self, path: Path, *, filters: bool = True, kind: str = "sha1") -> None:
        self.path = path
        self._minutes = 0
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main", f"--object-format={kind}")
        if filters:
            self.git("config", "uploadpack.allowFilter", "true")

    @property
    def address(self) -> str:
        return f"file://{self.path}"

    def git(self, *arguments: str, given: bytes | None = None, at: int | None = None) -> str:
        """What a git command says; `at` is the time of what it commits, in seconds."""
        time = f"{1_700_000_000 + 60 * self._minutes if at is None else at} +0000"
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env={**ENVIRONMENT, "GIT_AUTHOR_DATE": time, "GIT_COMMITTER_DATE": time},
            input=given if given is not None else b"",
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, (arguments, done.stderr)
        return done.stdout.decode().strip()

    def commit(self, files: dict[str, str | bytes | None], *, at: int | None = None) -> str:
        """Write (or with None remove) files, and commit that; the commit."""
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if content is None:
                path.unlink()
            else:
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        self.git("add", "--all", "--force", ".")
        self._minutes += 1
        self.git("commit", "--quiet", "--allow-empty", "-m", f"commit {self._minutes}", at=at)
        return self.git("rev-parse", "HEAD")

    def object(self, content: bytes, kind: str = "blob") -> str:
        """Any object, however wrong it is."""
        return self.git("hash-object", "-t", kind, "-w", "--stdin", "--literally", given=content)

    def tree(self, *entries: tuple[str, str | bytes, str]) -> str:
        """A tree of (mode, name, object) as they are given, whether or not git would make such a one."""
        raw = b""
        for mode, name, of in entries:
            raw += mode.encode() + b" " + (name if isinstance(name, bytes) else name.encode()) + b"\0"
            raw += bytes.fromhex(of)
        return self.object(raw, "tree")

    def commit_tree(self, tree: str) -> str:
        """Have `main` be a commit of this tree."""
        commit = self.git("commit-tree", tree, "-m", "by hand")
        self.git("update-ref", "refs/heads/main", commit)
        return commit


def listing(folder: Path) -> dict[str, str]:
    """All that is in a folder: content of files, where links lead, and modes."""
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = f"-> {path.readlink()}"
        elif path.is_dir():
            found[name] = "/"
        else:
            found[name] = f"{path.stat().st_mode & 0o7777:o} {path.read_bytes().decode('latin-1')}"
    return found
