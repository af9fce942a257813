"""The wires of the lab's network: what many share, and what is behind a router."""

import itertools
import time
from ipaddress import IPv4Address, IPv4Network

from tests.integration.lab.capture import Capture
from tests.integration.lab.machine import LabError
from tests.integration.lab.namespace import Namespace, ip_in, path_of, run_in

BRIDGE = "lan"
UPLINK = "wan"
PASSES_SECONDS = 10

INTERNET = "203.0.113.0/24"
"""A range that RFC 5737 keeps for documents: nobody has an address of it."""

# Who wants to go elsewhere is told at once, and each time. A router that only lacks the route tells it to
# everybody once in a second, and programs that ask a name server wait for all the others.
NOWHERE = f"""
table inet nowhere {{
    chain passing {{
        type filter hook forward priority filter; policy accept;
        oifname {BRIDGE} reject with icmp net-unreachable
    }}
}}
"""

# Out goes all, and in again come the answers. What comes from outside to the router itself is dropped too.
ROUTER = f"""
table inet router {{
    chain passing {{
        type filter hook forward priority filter; policy drop;
        iifname {BRIDGE} oifname {UPLINK} accept
        ct state established,related accept
    }}
    chain arriving {{
        type filter hook input priority filter; policy accept;
        iifname {UPLINK} ct state established,related accept
        iifname {UPLINK} drop
    }}
    chain leaving {{
        type nat hook postrouting priority srcnat; policy accept;
        oifname {UPLINK} masquerade
    }}
}}
"""

# As a firewall in between does it: nobody is told, and what is on its way does not arrive either.
BLOCKED = """
table bridge blocked
delete table bridge blocked
table bridge blocked {{
    chain coming {{
        type filter hook prerouting priority 0; policy accept;
        {coming}
    }}
    chain going {{
        type filter hook postrouting priority 0; policy accept;
        {going}
    }}
}}
"""


class Segment:
    """A wire that many share: a bridge in a namespace of its own, which has the first address on it."""

    def __init__(self, subnet: str) -> None:
        self.network = IPv4Network(subnet)
        self.gateway = next(self.network.hosts())
        self.namespace = Namespace()
        self._numbers = itertools.count(1)
        self._taken = {self.gateway}
        self._ends: dict[str, tuple[int, str]] = {}
        self._blocked: set[tuple[str, str, int]] = set()
        try:
            self._make()
        except BaseException:
            self.close()
            raise

    def _make(self) -> None:
        # A frame that crosses the bridge is no packet that a router passes on.
        self.namespace.set("bridge/bridge-nf-call-iptables", 0)
        self.namespace.set("ipv4/ip_forward", 1)
        self.namespace.ip(
            f"link add {BRIDGE} address {mac(self.gateway)} type bridge",
            f"address add {self.gateway}/{self.network.prefixlen} dev {BRIDGE}",
            f"link set {BRIDGE} up",
        )

    def close(self) -> None:
        """Every wire goes with it, and is gone at its other end too."""
        self.namespace.close()

    def capture(self, *between: str) -> Capture:
        """To be used by `with`: all that crosses; with addresses, what is from one of them to another."""
        return Capture(self.namespace.pid, BRIDGE, *between)

    def plug_in(self, pid: int, device: str, address: str) -> str:
        """A wire to the network of that process, where it is the way to everywhere; its port here."""
        at = IPv4Address(address)
        if at not in self.network or at in self._taken:
            raise LabError(f"{at} is taken, or not of {self.network}")
        port = f"port{next(self._numbers)}"
        self.namespace.ip(
            f"link add {port} type veth peer name {device} address {mac(at)} netns {path_of(pid)}",
            f"link set {port} master {BRIDGE}",
            f"link set {port} up",
        )
        self._taken.add(at)
        self._ends[port] = pid, device
        try:
            ip_in(
                pid,
                f"address add {at}/{self.network.prefixlen} dev {device}",
                f"link set {device} up",
                f"route add default via {self.gateway} dev {device}",
            )
            self._wait_until_it_passes(port)
        except BaseException:
            self.pull_out(port, address)
            raise
        return port

    def pull_out(self, port: str, address: str) -> None:
        """The wire is gone, and the device at its other end with it."""
        self._taken.discard(IPv4Address(address))
        self._ends.pop(port, None)
        try:
            self.namespace.ip(f"link delete {port}")
        except LabError:
            # Where the network at the other end has ended, the wire went with it.
            if f" {port}@" in self.namespace.run(["ip", "-oneline", "link"]):
                raise

    def turn_off(self, port: str) -> None:
        """As if the plug were out: the device at the other end keeps its address and its routes."""
        self.namespace.ip(f"link set {port} down")

    def turn_on(self, port: str) -> None:
        """What is sent when this returns is not lost."""
        self.namespace.ip(f"link set {port} up")
        self._wait_until_it_passes(port)

    def _wait_until_it_passes(self, port: str) -> None:
        """Both ends of a wire may take a second to hear that they are joined: what is sent before is lost."""
        pid, device = self._ends[port]
        until = time.monotonic() + PASSES_SECONDS
        while not (
            " state forwarding " in self.namespace.run(["ip", "-details", "link", "show", port])
            and " state UP " in run_in(pid, ["ip", "link", "show", device])
        ):
            if time.monotonic() > until:
                raise LabError(f"nothing passes between {port} of {self.network} and process {pid}")
            time.sleep(0.01)

    def block(self, port: str, address: str, number: int) -> None:
        """Nothing passes any more between that port and this address and TCP port."""
        self._blocked.add((port, address, number))
        self._write_blocked()

    def unblock(self, port: str, address: str, number: int) -> None:
        """It passes again."""
        self._blocked.discard((port, address, number))
        self._write_blocked()

    def _write_blocked(self) -> None:
        rules = sorted(self._blocked)
        coming = [f"iifname {port} ip daddr {host} tcp dport {number} drop" for port, host, number in rules]
        going = [f"oifname {port} ip saddr {host} tcp sport {number} drop" for port, host, number in rules]
        text = BLOCKED.format(coming="\n".join(coming), going="\n".join(going))
        self.namespace.run(["nft", "-f", "-"], input=text)


class Internet(Segment):
    """Where everything comes together, and nothing else is."""

    def __init__(self) -> None:
        super().__init__(INTERNET)
        try:
            self.namespace.ip(f"route add default dev {BRIDGE}")
            self.namespace.set("ipv4/icmp_ratelimit", 0)
            self.namespace.run(["nft", "-f", "-"], input=NOWHERE)
        except BaseException:
            self.close()
            raise


class Site(Segment):
    """A household: what is in it reaches the internet by one address, and nothing from there gets in."""

    def __init__(self, subnet: str, internet: Segment, outside: str) -> None:
        super().__init__(subnet)
        self.outside = outside
        """What the internet sees of everyone who is in it."""
        try:
            self.namespace.run(["nft", "-f", "-"], input=ROUTER)
            internet.plug_in(self.namespace.pid, UPLINK, outside)
        except BaseException:
            self.close()
            raise


def mac(address: IPv4Address) -> str:
    """One for each address, always the same: nobody has to forget the one that somebody had before."""
    return "02:00:" + address.packed.hex(":")
