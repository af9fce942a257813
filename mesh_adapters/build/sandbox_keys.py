"""A filter for system calls that takes the kernel's keyrings from a build.

A build inherits the session keyring of whoever started the builder (Kerberos tickets, keys of encrypted
disks), and no namespace takes that away. So the three calls that reach keyrings are refused with EPERM.
The filter is classic BPF (seccomp(2)) as bubblewrap's `--seccomp` reads it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

KEY_CALLS = {
    0xC000003E: (248, 249, 250),  # x86_64
    0x40000003: (286, 287, 288),  # i386
    0xC00000B7: (217, 218, 219),  # aarch64
    0x40000028: (309, 310, 311),  # arm
    0xC00000F3: (217, 218, 219),  # riscv64
}
"""For each architecture as audit(7) numbers it: `add_key`, `request_key` and `keyctl`."""

_LOAD, _AND, _IF_EQUAL, _ANSWER = 0x20, 0x54, 0x15, 0x06
_NUMBER, _ARCHITECTURE = 0, 4
_NOT_X32 = 0xBFFFFFFF
"""x86_64 has a second way to make the same calls, with this bit set."""
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1


def without_keys() -> bytes:
    """The filter; architectures that it does not know are let through."""
    return b"".join(_program())


def _program() -> Iterator[bytes]:
    yield _step(_LOAD, _ARCHITECTURE)
    for architecture, calls in KEY_CALLS.items():
        block = list(_block(calls))
        yield _step(_IF_EQUAL, architecture, otherwise=len(block))
        yield from block
    yield _step(_ANSWER, _ALLOW)


def _block(calls: tuple[int, ...]) -> Iterator[bytes]:
    yield _step(_LOAD, _NUMBER)
    yield _step(_AND, _NOT_X32)
    for left, call in zip(range(len(calls), 0, -1), calls, strict=True):
        yield _step(_IF_EQUAL, call, then=left)  # over the calls that are left and over "allow"
    yield _step(_ANSWER, _ALLOW)
    yield _step(_ANSWER, _REFUSE)


def _step(code: int, value: int, *, then: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, then, otherwise, value)
