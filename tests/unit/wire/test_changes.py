"""Changes as the event log keeps them."""

from typing import Any

import pytest

from mesh_core import (
    Assign,
    Capability,
    Change,
    DropModule,
    DropNode,
    Module,
    Node,
    Pin,
    Provision,
    PutModule,
    PutNode,
    Report,
    Scope,
    SetPin,
    Unassign,
    Unpin,
    WireError,
)
from mesh_core.change import Attach, SetNetwork
from mesh_core.model.network import Attachment, Endpoint, Network, Peers
from mesh_core.wire.changes import change_from_data, change_to_data
from tests.unit.wire.documents import KEY

LAN = Endpoint(at="192.168.1.5:51820", site="home")

ZSH = Module(name="zsh", version="5.9", provides=[Provision(name="shell", scope=Scope.MESH)])
PIN = Pin(provision="database", node="nas", module="postgres")
WRITTEN: list[tuple[Change, dict[str, Any]]] = [
    (Assign(node="pi", module="zsh"), {"change": "assign", "node": "pi", "module": "zsh"}),
    (Unassign(node="pi", module="zsh"), {"change": "unassign", "node": "pi", "module": "zsh"}),
    (
        SetPin(node="pi", pin=Pin(provision="database", node="nas")),
        {"change": "pin", "node": "pi", "provision": "database", "from": "nas"},
    ),
    (
        SetPin(node="pi", pin=PIN),
        {"change": "pin", "node": "pi", "provision": "database", "from": "nas/postgres"},
    ),
    (Unpin(node="pi", provision="database"), {"change": "unpin", "node": "pi", "provision": "database"}),
    (
        PutModule(module=ZSH),
        {
            "change": "put-module",
            "module": {"name": "zsh", "version": "5.9", "provides": [{"name": "shell", "scope": "mesh"}]},
        },
    ),
    (DropModule(module="zsh"), {"change": "drop-module", "module": "zsh"}),
    (
        PutNode(node=Node(name="pi", assigned=["zsh"], pins=[PIN])),
        {
            "change": "put-node",
            "node": {"name": "pi", "assign": ["zsh"], "pins": {"database": "nas/postgres"}},
        },
    ),
    (
        PutNode(node=Node(name="pi", capabilities=[])),
        {"change": "put-node", "node": {"name": "pi", "assign": [], "capabilities": {}, "pins": {}}},
    ),
    (DropNode(node="pi"), {"change": "drop-node", "node": "pi"}),
    (
        Report(
            node="pi", capabilities=[Capability(name="g"), Capability(name="h", present=False, detail="")]
        ),
        {
            "change": "report",
            "node": "pi",
            "capabilities": {"g": True, "h": {"present": False, "detail": ""}},
        },
    ),
    (Report(node="pi", capabilities=[]), {"change": "report", "node": "pi", "capabilities": {}}),
    (
        Attach(
            node="pi",
            network=Attachment(address="10.77.0.3", key=KEY, endpoints=[LAN], site="home", relay=True),
        ),
        {
            "change": "attach",
            "node": "pi",
            "network": {
                "address": "10.77.0.3",
                "key": KEY,
                "endpoints": [{"at": "192.168.1.5:51820", "site": "home"}],
                "site": "home",
                "relay": True,
            },
        },
    ),
    (Attach(node="pi", network=Attachment()), {"change": "attach", "node": "pi", "network": {}}),
    (
        PutNode(node=Node(name="pi", network=Attachment(address="10.77.0.3"))),
        {
            "change": "put-node",
            "node": {"name": "pi", "assign": [], "pins": {}, "network": {"address": "10.77.0.3"}},
        },
    ),
    (SetNetwork(network=Network(range="fd77::/64")), {"change": "set-network", "network": "fd77::/64"}),
    (
        SetNetwork(network=Network(range="fd77::/64", peers=Peers.FULL, port=1, retired=["fd77::9"])),
        {
            "change": "set-network",
            "network": {"range": "fd77::/64", "peers": "full", "port": 1, "retired": ["fd77::9"]},
        },
    ),
    (
        SetNetwork(network=Network(range="fd77::/64", retired=["10.99.0.1"])),
        {"change": "set-network", "network": {"range": "fd77::/64", "retired": ["10.99.0.1"]}},
    ),
    (SetNetwork(network=None), {"change": "set-network", "network": None}),
]


@pytest.mark.parametrize(("change", "data"), WRITTEN)
def test_there_and_back(change: Change, data: dict[str, Any]) -> None:
    assert change_to_data(change) == data
    assert change_from_data(data) == change


def test_each_kind_of_change_is_among_them() -> None:
    assert {type(change).__name__ for change, _ in WRITTEN} == {
        "Assign",
        "Unassign",
        "SetPin",
        "Unpin",
        "PutModule",
        "DropModule",
        "PutNode",
        "DropNode",
        "Report",
        "Attach",
        "SetNetwork",
    }


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"change": "assign"},
        {"change": "assign", "node": "pi"},
        {"change": "rename", "node": "pi"},
        {"change": "put-module", "module": {"name": "zsh"}},
        {"change": "put-node", "node": {"name": "PI"}},
        {"change": "pin", "node": "pi", "provision": "database", "from": "NAS"},
        {"change": "report", "node": "pi", "capabilities": {"g": "yes"}},
        {"change": "attach", "node": "pi"},
        {"change": "attach", "node": "pi", "network": None},
        {"change": "attach", "node": "pi", "network": {"address": "10.77.0.03"}},
        {"change": "set-network"},
        {"change": "set-network", "network": "10.77.0.1/24"},
        {"change": "set-network", "network": {}},
    ],
)
def test_what_nobody_wrote(data: dict[str, Any]) -> None:
    with pytest.raises((WireError, KeyError, ValueError)):
        change_from_data(data)
