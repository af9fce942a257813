"""What a host says of its part of the overlay network, in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def no_wireguard(kernels_words: str) -> str:
    """That neither the kernel nor anybody else has WireGuard."""
    what = "its kernel has no WireGuard, and wireguard-go is not installed"
    return f"the network was not made: {what} (apt install wireguard-go): {kernels_words}"


def no_tools() -> str:
    """That WireGuard's tools are not installed."""
    return "the network was not made: wg is not installed (apt install wireguard-tools)"


def key_unusable(place: str, words: str) -> str:
    """That the private key is none. It is not replaced by itself: the others know this machine by it."""
    return (
        f"the network was not made: the key in {place} is of no use ({words}); without it a new one is made"
    )


def key_unkept(words: str) -> str:
    """That a private key cannot be kept, so that none is made."""
    return f"the network was not made: its key cannot be kept: {words}"


def not_ours(interface: str, kind: str) -> str:
    """That an interface of that name is there, and is somebody else's."""
    there = f"{interface} is there already ({kind or 'a device'}), and the mesh did not make it"
    return f"the network was not made: {there}; it is not touched"


def cannot(command: str, words: str) -> str:
    """That a command failed, in its own words."""
    return f"the network is not as declared: {command}: {words}"


def not_found(endpoints: Sequence[str]) -> str:
    """That the names of endpoints are not known now."""
    return f"not found now, and looked for again: {', '.join(endpoints)}"


def put_right() -> str:
    """That somebody had changed it."""
    return "the network was put back: somebody had changed it"


def undone(generation: int, seconds: float) -> str:
    """That the broker was lost with a change."""
    lost = f"the broker was not reached within {seconds:g} s of it"
    return f"the network of generation {generation} was undone: {lost}; what was there before holds"


def names_elsewhere() -> str:
    """That a module has the file with the names for itself."""
    return "the names of the mesh are not in /etc/hosts: a module declares that file"


def names_damaged() -> str:
    """That somebody took half of the block away."""
    half = "one of the two lines of mesh-host in it is missing or stands twice"
    return f"the names of the mesh are not in /etc/hosts: {half}; take both away"


def names_unwritable(words: str) -> str:
    """That the file cannot be written."""
    return f"the names of the mesh are not in /etc/hosts: {words}"


def record_unusable(words: str) -> str:
    """That what the host knew of the network cannot be read, so that nothing of it is touched."""
    return f"the network was not touched: {words}; `mesh-host forget --everything` begins anew"


def record_unwritable(words: str) -> str:
    """That what is to be done cannot be noted before, so that nothing is done."""
    return f"the network was not touched, since its record cannot be kept: {words}"


def by_hand() -> str:
    """That a change was made without a broker that would be missed."""
    return "the network was changed, and not tried: nobody looks whether the broker is still reached"


def would_change(interface: str, address: str | None) -> str:
    """What a dry run says of the network."""
    if address is None:
        return f"the network would go: {interface}, and the names of the mesh"
    return f"the network would be changed: {interface} with {address}, its peers, and the names of the mesh"


def elsewhere() -> str:
    """That a directory stands for a machine."""
    return "the network is left out: this is no running machine"
