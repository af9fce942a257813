"""How addresses, ranges, keys, endpoints and sites are written: what is right, what is told of the rest."""

from base64 import b64encode

import pytest

from mesh_core.model.network_text import (
    address_fault,
    endpoint_fault,
    is_machines,
    key_fault,
    range_fault,
    site_fault,
    split_endpoint,
)

LONG = "9" * 5_000
"""More digits than Python makes a number of."""


@pytest.mark.parametrize(
    "address", ["10.77.0.3", "0.0.0.1", "255.255.255.254", "fd77::3", "fd00:0:0:1::", "2001:db8::a:b"]
)
def test_what_is_an_address(address: str) -> None:
    assert address_fault(address) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "10.77.0",
        "10.77.0.3 ",
        " 10.77.0.3",
        "10.77.0.3\n",
        "10.77.0.256",
        "10.77.0.03",
        "010.77.0.3",
        "10.77.0.3/24",
        "10.77.0.3:51820",
        "0x0a.77.0.3",
        "172180227",
        "\u0661\u0660.77.0.3",
        "\uff11\uff10.77.0.3",
        "10.77.0.\u0663",
        "fd77::g",
        "fd77:::3",
        "fd77::3::4",
        "[fd77::3]",
        "fd77::3%eth0",
        "fe80::1%1",
        "fd77::00003",
        "localhost",
        LONG,
    ],
)
def test_what_is_no_address(text: str) -> None:
    assert address_fault(text) == (
        f"{text!r} is no address: one of IPv4 like 10.77.0.3, or of IPv6 like fd77::3"
    )


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("FD77::3", "fd77::3"),
        ("fd77:0::3", "fd77::3"),
        ("fd77::0003", "fd77::3"),
        ("fd77:0:0:0:0:0:0:3", "fd77::3"),
        ("fd77::10.77.0.3", "fd77::a4d:3"),
        ("::ffff:10.77.0.3", "10.77.0.3"),
        ("::ffff:a4d:3", "10.77.0.3"),
    ],
)
def test_an_address_in_another_spelling(text: str, written: str) -> None:
    """> `fd00::5`, never `FD00:0::5`: two that mean the same are equal

    One of IPv4 within IPv6 is written so by some Pythons and so by others.
    """
    assert address_fault(text) == f"{text!r} is written {written}"
    assert address_fault(written) is None


@pytest.mark.parametrize(
    "range_",
    [
        *("10.77.0.0/24", "10.0.0.0/8", "10.77.0.0/30", "192.0.2.4/30", "100.64.0.0/10"),
        *("fd77::/64", "fd00::/8", "fd77::/126", "2001:db8::/32"),
    ],
)
def test_what_is_a_range(range_: str) -> None:
    assert range_fault(range_) is None


NO_RANGE = "is no range: addresses and how many bits they share, like 10.77.0.0/24 or fd77::/64"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", NO_RANGE),
        ("10.77.0.0", NO_RANGE),
        ("fd77::", NO_RANGE),
        ("10.77.0.0/33", NO_RANGE),
        ("10.77.0.0/-1", NO_RANGE),
        ("10.77.0.0/+8", NO_RANGE),
        ("10.77.0.0/ 8", NO_RANGE),
        ("10.77.0.0/24\n", NO_RANGE),
        ("10.77.0.0/24/24", NO_RANGE),
        ("10.77.0.0/\u0662\u0664", NO_RANGE),
        ("010.77.0.0/24", NO_RANGE),
        ("fd77::/129", NO_RANGE),
        ("fd77::%eth0/64", NO_RANGE),
        ("fd77::/ffff::", NO_RANGE),
        (f"10.77.0.0/{LONG}", NO_RANGE),
        ("home", NO_RANGE),
        ("10.77.0.5/24", "is written 10.77.0.0/24"),
        ("10.77.0.0/024", "is written 10.77.0.0/24"),
        ("10.77.0.0/255.255.255.0", "is written 10.77.0.0/24"),
        ("10.77.0.0/0.0.0.255", "is written 10.77.0.0/24"),
        ("FD77::/64", "is written fd77::/64"),
        ("fd77:0::/64", "is written fd77::/64"),
    ],
)
def test_what_is_no_range(text: str, why: str) -> None:
    assert range_fault(text) == f"{text!r} {why}"


@pytest.mark.parametrize(
    ("range_", "why"),
    [
        ("10.77.0.0/31", "has no room for two machines"),
        ("10.77.0.1/32", "has no room for two machines"),
        ("fd77::/127", "has no room for two machines"),
        ("fd77::1/128", "has no room for two machines"),
        ("10.0.0.0/7", "is more than a network of one's own: at least 8 bits are shared"),
        ("0.0.0.0/0", "is more than a network of one's own: at least 8 bits are shared"),
        ("::/0", "is more than a network of one's own: at least 8 bits are shared"),
        ("fc00::/7", "is more than a network of one's own: at least 8 bits are shared"),
        ("127.0.0.0/8", "is not for machines to be reached at"),
        ("127.7.0.0/16", "is not for machines to be reached at"),
        ("169.254.0.0/16", "is not for machines to be reached at"),
        ("224.0.0.0/24", "is not for machines to be reached at"),
        ("240.0.0.0/8", "is not for machines to be reached at"),
        ("0.0.0.0/8", "is not for machines to be reached at"),
        ("::/64", "is not for machines to be reached at"),
        ("::ffff:0:0/96", "is not for machines to be reached at"),
        ("fe80::/64", "is not for machines to be reached at"),
        ("ff02::/16", "is not for machines to be reached at"),
    ],
)
def test_a_range_that_does_not_do(range_: str, why: str) -> None:
    assert range_fault(range_) == f"{range_} {why}"


KEY = b64encode(bytes(range(32))).decode()


@pytest.mark.parametrize("key", [KEY, b64encode(b"\xff" * 32).decode(), b64encode(bytes(32)).decode()])
def test_what_is_a_key(key: str) -> None:
    assert key_fault(key) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        KEY[:-1],
        f"{KEY}\n",
        f" {KEY}",
        f"{KEY}=",
        f"{KEY[:-2]}9=",  # the same 32 bytes, and two bits that are none's
        KEY.replace("A", "-", 1),
        KEY.replace("A", "\u0410", 1),
        KEY.replace("A", "*", 1),
        b64encode(bytes(31)).decode(),
        b64encode(bytes(33)).decode(),
        b64encode(bytes(64)).decode(),
        bytes(32).hex(),
        "\0",
    ],
)
def test_what_is_no_key(text: str) -> None:
    why = "is no public key of WireGuard: 32 bytes in base64, as `wg pubkey` writes them"
    assert key_fault(text) == f"{text!r} {why}"


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("vps.example.org:51820", "vps.example.org", 51820),
        ("vps:1", "vps", 1),
        ("VPS.Example.org:65535", "VPS.Example.org", 65535),
        ("xn--bcher-kva.example:53", "xn--bcher-kva.example", 53),
        ("3com.example:80", "3com.example", 80),
        ("10.77.0.3:51820", "10.77.0.3", 51820),
        ("[fd00::5]:51820", "fd00::5", 51820),
        (f"{'a' * 63}.{'b' * 63}:9", f"{'a' * 63}.{'b' * 63}", 9),
        (f"{'a.' * 126}a:9", f"{'a.' * 126}a", 9),
    ],
)
def test_what_is_an_endpoint(text: str, host: str, port: int) -> None:
    assert split_endpoint(text) == (host, port)
    assert endpoint_fault(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":",
        "vps",
        "vps:",
        ":51820",
        "vps:0",
        "vps:65536",
        "vps:100000",
        "vps:051820",
        "vps:+1",
        "vps:-1",
        "vps: 1",
        "vps:1\n",
        "vps\n:1",
        " vps:1",
        "vps:\u0665",
        "vps:\u00b2",
        f"vps:{LONG}",
        "vps:http",
        "vps:1:2",
        "v_ps.example:1",
        "_wg._udp.example:1",
        "vps.example.:1",
        ".example:1",
        "a..b:1",
        "-vps:1",
        "vps-:1",
        "vps.-example:1",
        "b\u00fccher.example:1",
        "http://vps:1",
        "ann@vps:1",
        "vps/x:1",
        f"{'a' * 64}.example:1",
        f"{'a.' * 127}a:1",
        "1.2.3:1",
        "10.77.0.256:1",
        "010.77.0.3:1",
        "1.2.3.4.5:1",
        "123:1",
        "[10.77.0.3]:51820",
        "[vps]:51820",
        "fd00::5:51820",
        "fd00::5",
        "[fd00::5]",
        "[fd00::5]51820",
        "[fd00::5:51820",
        "fd00::5]:51820",
        "[[fd00::5]]:51820",
        "[FD00::5]:51820",
        "[fd00:0::5]:51820",
        "[fe80::5%eth0]:51820",
        "[::ffff:10.77.0.3]:51820",
        "[]:51820",
    ],
)
def test_what_is_no_endpoint(text: str) -> None:
    assert split_endpoint(text) is None
    assert endpoint_fault(text) == (
        f"{text!r} is no endpoint: HOST:PORT, like vps.example.org:51820 or [fd00::5]:51820"
    )


@pytest.mark.parametrize("site", ["home", "h", "1", "a-b", "a" * 63])
def test_what_is_a_site(site: str) -> None:
    assert site_fault(site) is None


@pytest.mark.parametrize(
    "site", ["", "Home", "-a", "a-", "a.b", "a_b", "a b", "home\n", "\u00e4", "a" * 64, "\u0661"]
)
def test_what_is_no_site(site: str) -> None:
    rule = "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or a digit"
    assert site_fault(site) == f"{site!r} is no name of a site: {rule}"


@pytest.mark.parametrize(
    ("range_", "address", "is_one"),
    [
        ("10.77.0.0/29", "10.77.0.0", False),
        ("10.77.0.0/29", "10.77.0.1", True),
        ("10.77.0.0/29", "10.77.0.6", True),
        ("10.77.0.0/29", "10.77.0.7", False),
        ("10.77.0.0/29", "10.77.0.8", False),
        ("10.77.0.0/28", "10.77.0.7", True),
        ("fd77::/126", "fd77::", False),
        ("fd77::/126", "fd77::1", True),
        ("fd77::/126", "fd77::3", True),
        ("fd77::/126", "fd77::4", False),
        ("fd77::/126", "10.77.0.1", False),
        ("10.77.0.0/29", "fd77::1", False),
    ],
)
def test_which_addresses_are_those_of_machines(range_: str, address: str, is_one: bool) -> None:
    """> not the first and, with IPv4, not the last"""
    assert is_machines(range_, address) is is_one
