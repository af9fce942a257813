"""A machine whose `ip`, `wg` and `wireguard-go` are played here: one link, and what is in it."""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from attrs import define, field, frozen

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.files import Files
from mesh_adapters.host.machine import Machine, nothing_kept

NOW = 1_800_000_000
ABSENT = 'Device "mesh0" does not exist.'


@frozen(kw_only=True)
class Running(Machine):
    """Its files are under a directory, and it counts as the machine that the host runs on."""

    @property
    def running(self) -> bool:
        return True


class Killed(BaseException):
    """The process ends here."""


def public_of(private: str) -> str:
    """The public key of a private one: not the real one, but one for each."""
    return base64.b64encode(hashlib.sha256(private.strip().encode()).digest()).decode()


@define
class FakePeer:
    """A peer in the link. `heard` is when, in seconds since 1970."""

    endpoint: str | None = None
    allowed: list[str] = field(factory=list)
    keepalive: int = 0
    shared: bool = False
    heard: int = 0


@define
class FakeLink:
    """A link called mesh0."""

    index: int
    kind: str
    addresses: list[str] = field(factory=list)
    up: bool = False
    mtu: int = 1500
    private: str = ""
    port: int = 0
    peers: dict[str, FakePeer] = field(factory=dict)

    @property
    def public(self) -> str:
        return public_of(self.private) if self.private else "(none)"


@define
class FakeWireGuard:
    """The link of a machine at `root`, and what was run. `kernel` is whether the kernel has WireGuard."""

    root: Path
    kernel: bool = True
    link: FakeLink | None = None
    ran: list[tuple[str, ...]] = field(factory=list)
    before_each: Callable[[], None] = lambda: None
    """Called before each command: whoever is killed there has not run it."""
    _links: int = 0
    _keys: int = 0

    def __attrs_post_init__(self) -> None:
        for program in ("wg", "wireguard-go"):
            self.has(program)
        for name in ("random/boot_id",):
            self.put(f"proc/sys/kernel/{name}", "boot-1\n")
        self.put("proc/sys/net/ipv6/conf/all/forwarding", "0\n")
        self.put("proc/sys/net/ipv6/conf/default/accept_ra", "1\n")
        self.put("proc/sys/net/ipv6/conf/eth0/accept_ra", "1\n")
        self.put("etc/hosts", "127.0.0.1 localhost\n")

    @property
    def machine(self) -> Machine:
        return Running(
            root=self.root, files=Files(self.root), privileged=True, run=self.run, kept=nothing_kept
        )

    @property
    def changing(self) -> list[tuple[str, ...]]:
        """What was run that does not only look."""
        return [words for words in self.ran if words[:2] not in (("ip", "-json"), ("wg", "show"))]

    def has(self, program: str, there: bool = True) -> None:
        place = self.root / "usr/bin" / program
        if there:
            self.put(f"usr/bin/{program}", "")
            place.chmod(0o755)
        else:
            place.unlink()

    def put(self, path: str, content: str) -> None:
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(content)

    def setting(self, name: str) -> str:
        return (self.root / "proc/sys/net" / name).read_text().strip()

    def reboot(self) -> None:
        """What is not on the disk is gone."""
        self.link, self._links = None, 0
        boot = self.root / "proc/sys/kernel/random/boot_id"
        boot.write_text(f"{boot.read_text().strip()}+\n")

    def somebodys(self, kind: str = "wireguard") -> FakeLink:
        """A link that another program made."""
        self._links += 1
        self.link = FakeLink(self._links, kind, ["10.1.1.1/24"], True, private="somebody's")
        return self.link

    def run(self, command: Command) -> Ended:
        self.before_each()
        words = command.argv
        self.ran.append(words)
        try:
            output = self._do(words)
        except OSError as error:
            return Ended(command=command, code=1, output="", errors=str(error.args[-1]))
        return Ended(command=command, code=0, output=output, errors="")

    def _do(self, words: tuple[str, ...]) -> str:
        match words:
            case ("wg", "genkey"):
                self._keys += 1
                return base64.b64encode(bytes([self._keys]) * 32).decode() + "\n"
            case ("sh", "-c", 'exec wg pubkey <"$0"', place):
                return public_of(_key_in(place)) + "\n"
            case ("ip", "link", "add", "mesh0", "type", "wireguard"):
                return self._add("wireguard", self.kernel)
            case ("wireguard-go", "mesh0") | ("systemd-run", *_):
                return self._add("tun", True)
            case ("systemctl", *_):
                return ""
            case ("ip", *rest) if self.link is None or rest[0] not in ("-json", "address", "link"):
                raise OSError(1, ABSENT)
            case ("ip", *rest):
                return self._ip(self._there(), rest)
            case ("wg", "show", "mesh0", "dump"):
                return self._dump(self._there())
            case ("wg", "set", "mesh0", *rest):
                return self._set(self._there(), rest)
            case _:
                raise AssertionError(f"nobody plays {words}")

    def _there(self) -> FakeLink:
        if self.link is None:
            raise OSError(1, ABSENT)
        return self.link

    def _add(self, kind: str, possible: bool) -> str:
        if not possible:
            raise OSError(2, "Error: Unknown device type.")
        if self.link is not None:
            raise OSError(2, "RTNETLINK answers: File exists")
        self._links += 1
        self.link = FakeLink(self._links, kind)
        self.put("proc/sys/net/ipv4/conf/mesh0/forwarding", "0\n")
        return ""

    def _ip(self, link: FakeLink, rest: list[str]) -> str:
        match rest:
            case ["-json", *_]:
                return self._shown(link)
            case ["link", "delete", "mesh0"]:
                self.link = None
            case ["link", "set", "mesh0", "mtu", mtu, "up"]:
                link.mtu, link.up = int(mtu), True
            case ["address", "delete", address, "dev", "mesh0"]:
                link.addresses.remove(address)
            case ["address", "replace", address, "dev", "mesh0"]:
                link.addresses = [*dict.fromkeys([*link.addresses, address])]
            case _:
                raise AssertionError(f"nobody plays ip {rest}")
        return ""

    def _shown(self, link: FakeLink) -> str:
        addresses = [
            {"local": one.split("/")[0], "prefixlen": int(one.split("/")[1]), "scope": "global"}
            for one in link.addresses
        ]
        by_itself = {"local": "fe80::1", "prefixlen": 64, "scope": "link"}
        data = {
            "ifindex": link.index,
            "flags": ["UP"] if link.up else [],
            "mtu": link.mtu,
            "linkinfo": {"info_kind": link.kind},
            "addr_info": [*addresses, by_itself],
        }
        return json.dumps([{}, data])

    def _dump(self, link: FakeLink) -> str:
        if link.kind not in ("wireguard", "tun"):
            raise OSError(1, "Unable to access interface: Operation not supported")
        lines = [(link.private or "(none)", link.public, str(link.port), "off")]
        for key, peer in link.peers.items():
            shared = "secret" if peer.shared else "(none)"
            allowed = ",".join(peer.allowed) or "(none)"
            keepalive = str(peer.keepalive or "off")
            counted = (str(peer.heard), "0", "0", keepalive)
            lines.append((key, shared, peer.endpoint or "(none)", allowed, *counted))  # type: ignore[arg-type]
        return "".join("\t".join(line) + "\n" for line in lines)

    def _set(self, link: FakeLink, rest: list[str]) -> str:
        words = iter(rest)
        key, peer = "", FakePeer()
        for word in words:
            match word:
                case "private-key":
                    link.private = _key_in(next(words))
                case "listen-port":
                    link.port = int(next(words))
                case "peer":
                    key = next(words)
                    peer = link.peers.setdefault(key, FakePeer())
                case "remove":
                    del link.peers[key]
                case "endpoint":
                    peer.endpoint = next(words)
                case "persistent-keepalive":
                    said = next(words)
                    peer.keepalive = 0 if said == "off" else int(said)
                case "preshared-key":
                    assert next(words) == "/dev/null"
                    peer.shared = False
                case "allowed-ips":
                    _give(link, peer, next(words).split(","))
                case _:
                    raise AssertionError(f"wg set knows no {word}")
        return ""


def _give(link: FakeLink, peer: FakePeer, addresses: list[str]) -> None:
    """An address is one peer's: whoever is given it takes it from another."""
    peer.allowed = []
    for other in link.peers.values():
        other.allowed = [address for address in other.allowed if address not in addresses]
    peer.allowed = addresses


def _key_in(place: str) -> str:
    content = Path(place).read_text().strip()
    if len(base64.b64decode(content, validate=True)) != 32:
        raise OSError(1, "Key is not the correct length or format")
    assert not os.stat(place).st_mode & 0o077
    return content
