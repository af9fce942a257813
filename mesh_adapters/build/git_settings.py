"""How repositories are reached, how long that may take, and git's words without what is secret in them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from urllib.parse import unquote

from attrs import field, frozen

from mesh_adapters.broker.private import Unfit, read_private

_MIB = 1024 * 1024
_LONGEST_FILE = _MIB
_LONGEST_WHY = 400
_MOST_LINES = 3
_USERINFO = re.compile(r"(?<=://)[^/@\s]*@")
_TOLD_TWICE = re.compile(
    r"warning: |hint: |Please make sure you have the correct access|and the repository exi"
)

_OWNED_BY_ANOTHER = (
    "the repository belongs to another user of this machine, and git reads no such one;"
    " let who runs this own it, or reach it over ssh"
)
_ANOTHER_FORMAT = "the repository names its objects with SHA-256; only those that use SHA-1 are read"
_IN_OTHER_WORDS = {"dubious ownership": _OWNED_BY_ANOTHER, "mismatched algorithms": _ANOTHER_FORMAT}


@frozen(kw_only=True)
class GitSettings:
    """Ways in, and limits. A file with a secret in it has to have mode 0600.

    Nothing of the user who runs this is used unless it is named here: no key, no agent, no known hosts but
    the machine's, no helper that knows passwords.
    """

    credentials: Path | None = None
    """Names and passwords for https, a line each as in git's `.git-credentials`. It is only ever read."""
    identity: Path | None = None
    """A private key for ssh."""
    known_hosts: Path | None = None
    """Hosts that ssh may talk to, besides those in /etc/ssh/ssh_known_hosts."""
    authorities: Path | None = None
    """Certificates of authorities (PEM) for https, in place of the machine's."""
    seconds: float = 120.0
    """How long one look or one check-out may take, the wait for another process included."""
    most_bytes: int = 512 * _MIB
    """The most that a check-out may be."""
    most_history: int = 4096 * _MIB
    """The most that one file of a clone may be."""
    most_packs: int = 50
    """The fetches after which what they brought is packed together."""


@frozen(kw_only=True)
class Secrets:
    """What git is told of a credential file, and the words in it that nobody may see."""

    helper: str = ""
    words: tuple[str, ...] = field(default=(), repr=False)


def read_secrets(settings: GitSettings) -> Secrets | str:
    """The secrets that the settings name; or why they are not used, in a sentence without any."""
    if settings.identity is not None:
        key = read_private(settings.identity, _LONGEST_FILE)
        if isinstance(key, Unfit):
            return key.why
    if settings.credentials is None:
        return Secrets()
    lines = read_private(settings.credentials, _LONGEST_FILE)
    if isinstance(lines, Unfit):
        return lines.why
    found = [_secret_words(line) for line in lines.decode("utf-8", "replace").splitlines()]
    return Secrets(
        helper=_helper(settings.credentials), words=tuple(word for words in found for word in words)
    )


def _helper(credentials: Path) -> str:
    """A helper that answers, and nothing else: git's own would take a line out once a server refuses it."""
    store = f"git credential-store --file={shlex.quote(str(credentials))} get"
    return f'!f() {{ test "$1" = get && {store}; }}; f'


def _secret_words(line: str) -> tuple[str, ...]:
    """The password of a line, as it stands and as it is sent; where there is none, the name is one."""
    userinfo = line.strip().partition("://")[2].rpartition("@")[0]
    name, _, password = userinfo.partition(":")
    secret = password or name
    return tuple(word for word in {secret, unquote(secret)} if len(word) > 3)


def ssh_command(settings: GitSettings) -> str:
    """The ssh that git runs: it asks nothing, and knows the keys and hosts that it is told of."""
    identity = "none" if settings.identity is None else _quoted(settings.identity)
    known = "/dev/null" if settings.known_hosts is None else _quoted(settings.known_hosts)
    options = (
        "BatchMode=yes",
        "StrictHostKeyChecking=yes",
        "IdentitiesOnly=yes",
        "IdentityAgent=none",
        f"IdentityFile={identity}",
        f"UserKnownHostsFile={known}",
        "ConnectTimeout=20",
        "ServerAliveInterval=20",
    )
    return shlex.join(["ssh", "-F", "/dev/null", *(part for option in options for part in ("-o", option))])


def _quoted(path: Path) -> str:
    """A path as ssh reads one in an option: % begins a token there, and spaces end it."""
    return '"' + str(path).replace("%", "%%") + '"'


def telling(errors: str, secrets: Secrets) -> str:
    """Git's last telling words in one line, without control characters, names, passwords and tokens."""
    for sign, sentence in _IN_OTHER_WORDS.items():
        if sign in errors:
            return sentence
    printable = "".join(char if char.isprintable() else " " if char != "\n" else char for char in errors)
    lines = [" ".join(line.split()) for line in printable.splitlines()]
    said = "; ".join([line for line in lines if line and not _TOLD_TWICE.match(line)][-_MOST_LINES:])
    said = _USERINFO.sub("", said)
    for word in sorted(secrets.words, key=len, reverse=True):
        said = said.replace(word, "***")
    return said[:_LONGEST_WHY] or "git said nothing"
