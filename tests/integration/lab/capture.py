"""Everything that crosses a bridge of the lab's network, as a file that tcpdump and Wireshark read."""

import socket
import struct
import threading
import time
from ipaddress import IPv4Address
from types import TracebackType
from typing import Self

from tests.integration.lab.machine import LabError
from tests.integration.lab.namespace import made_in

# What Python's `socket` has no names for: linux/if_ether.h, linux/if_packet.h, asm/socket.h.
ETH_P_ALL = 3
SOL_PACKET = 263
PACKET_ADD_MEMBERSHIP = 1
PACKET_STATISTICS = 6
PACKET_MR_PROMISC = 1
SO_RCVBUFFORCE = 33

ROOM = 64 * 1024 * 1024
"""What the kernel keeps of frames for us while we do something else."""
LONGEST = 256 * 1024
"""More than any frame has: what is not cut into packets before the last device is at most 64 KiB."""

FILE = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, LONGEST, 1)
IPV4 = b"\x08\x00"


class Capture:
    """From `with` to its end. Of frames between two of `addresses` only, where there are any.

    The bridge shows its frames to a promiscuous device only, so this makes it one.
    """

    def __init__(self, pid: int, bridge: str, *addresses: str) -> None:
        self._pid = pid
        self._bridge = bridge
        self._addresses = {IPv4Address(address).packed for address in addresses}
        self._frames: list[tuple[float, bytes]] = []
        self._over = threading.Event()
        self._reading = threading.Thread(target=self._read, daemon=True)

    @property
    def frames(self) -> list[bytes]:
        """What crossed so far, each with its Ethernet header."""
        return [frame for _, frame in self._frames]

    @property
    def pcap(self) -> bytes:
        """The same as a file. Words stand in it as they were sent, if they went in one packet."""
        return FILE + b"".join(_record(at, frame) for at, frame in self._frames)

    def __enter__(self) -> Self:
        """From here on nothing is missed: the kernel has the frames, whenever we read them."""
        self._socket = made_in(self._pid, self._listening)
        self._reading.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._reading.join()
        _, lost = struct.unpack("II", self._socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))
        self._socket.close()
        if lost and error is None:
            raise LabError(f"{lost} frames were lost, so what the others say proves nothing")

    def _listening(self) -> socket.socket:
        # Protocol 0 until it is bound: until then it would hear every device there is.
        listening = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        listening.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
        everything = struct.pack("iHH8s", socket.if_nametoindex(self._bridge), PACKET_MR_PROMISC, 0, b"")
        listening.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, everything)
        listening.bind((self._bridge, ETH_P_ALL))
        listening.settimeout(0.05)
        return listening

    def _read(self) -> None:
        """When it is over, go on until there is nothing more: what crossed before is all in it."""
        while True:
            over = self._over.is_set()
            try:
                frame = self._socket.recv(LONGEST)
            except TimeoutError:
                if over:
                    return
                continue
            if self._is_asked_for(frame):
                self._frames.append((time.time(), frame))

    def _is_asked_for(self, frame: bytes) -> bool:
        if not self._addresses:
            return True
        return frame[12:14] == IPV4 and {frame[26:30], frame[30:34]} <= self._addresses


def _record(at: float, frame: bytes) -> bytes:
    microseconds = int(at * 1_000_000)
    return struct.pack("<IIII", *divmod(microseconds, 1_000_000), len(frame), len(frame)) + frame
