"""The accounts of a RabbitMQ, by whichever door its administrator has."""

from __future__ import annotations

from mesh_adapters.broker.management import ManagedAccounts
from mesh_adapters.broker.principals import Management, OnTheMachine
from mesh_core.ports import Accounts


def open_accounts(administrator: Management | OnTheMachine, virtual_host: str) -> Accounts:
    """The accounts of a broker, with rights in one virtual host. Nothing is asked before it is used."""
    if isinstance(administrator, Management):
        return ManagedAccounts(administrator, virtual_host)
    from mesh_adapters.broker.rabbitmqctl import LocalAccounts

    return LocalAccounts(virtual_host)
