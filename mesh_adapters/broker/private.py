"""Files with a secret in them: read only where nobody but their owner may use them."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from attrs import frozen


@frozen(kw_only=True)
class Unfit:
    """Why a file was not read, in a sentence that has nothing of it; `missing` is whether there is none."""

    why: str
    missing: bool = False


def read_private(path: str | Path, longest: int) -> bytes | Unfit:
    """The bytes of a plain file that its owner alone may use, at most one more than `longest`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError) as error:
        missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        return Unfit(why=f"{path} cannot be read: {_words(error)}", missing=missing)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            return Unfit(why=f"{path} is no plain file")
        mode = stat.S_IMODE(status.st_mode)
        if mode & 0o077:
            return Unfit(why=f"{path} has mode {mode:04o}, so others may use it: chmod 600 {path}")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(longest + 1)
    except OSError as error:
        return Unfit(why=f"{path} cannot be read: {_words(error)}")
    finally:
        os.close(descriptor)


def _words(error: OSError | ValueError) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
