"""The accounts of the RabbitMQ on this machine through `rabbitmqctl`: see `Accounts` in `mesh_core.ports`.

A password is handed to it on its standard input: what is in its arguments everybody on the machine can see.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from mesh_adapters.broker.accounts import until_gone
from mesh_core.ports import BrokerOutage, BrokerRefused, BrokerUnreachable, Refused, Rights, Unreachable

RUN_SECONDS: Final = 60.0
WHERE: Final = "rabbitmqctl"
NO_USER: Final = 67
"""What it ends with where there is no such account (sysexits.h)."""
NO_BROKER: Final = "unable to perform an operation on node"
"""What it says where it cannot reach the broker; its exit code says other things too."""
WHY: Final = "an invitation was replaced, or its node is shut out"


class LocalAccounts:
    """The accounts, through `rabbitmqctl`, to be run as root on the broker's machine."""

    def __init__(
        self, virtual_host: str, program: str = WHERE, environment: Mapping[str, str] | None = None
    ) -> None:
        self._host = virtual_host
        self._program = program
        self._environment = environment

    def ensure_virtual_host(self) -> bool:
        """Make the virtual host, where it is missing."""
        if any(found["name"] == self._host for found in self._listed("list_vhosts", "name")):
            return False
        self._run("add_vhost", self._host)
        return True

    def ensure(self, account: str, password: str, rights: Rights) -> bool:
        """Make the account, or give it this password and these rights."""
        made = account not in self.names()
        self._run("add_user" if made else "change_password", account, given=f"{password}\n")
        self._run("set_user_tags", account)
        patterns = (rights.configure, rights.write, rights.read)
        self._run("set_permissions", "-p", self._host, account, *patterns)
        return made

    def revoke(self, account: str) -> bool:
        """Remove the account and end its connections."""
        was_there = self._run("delete_user", account, may_end_with=NO_USER) == 0
        until_gone(WHERE, account, self._is_connected, self._end_all)
        return was_there

    def names(self) -> tuple[str, ...]:
        """The names of all accounts."""
        return tuple(sorted(found["user"] for found in self._listed("list_users")))

    def _is_connected(self, account: str) -> bool:
        return any(found["user"] == account for found in self._listed("list_connections", "user"))

    def _end_all(self, account: str) -> None:
        # Where one of them ends by itself meanwhile this may fail; what is left is seen by the next look.
        with suppress(BrokerOutage):
            self._run("close_all_user_connections", account, WHY)

    def _listed(self, *arguments: str) -> list[dict[str, Any]]:
        ended = self._ended("--quiet", "--formatter", "json", *arguments)
        if ended.returncode:
            raise self._outage(ended)
        try:
            found: list[dict[str, Any]] = json.loads(ended.stdout)
        except ValueError:
            raise BrokerRefused(WHERE, Refused.UNFIT, "its answer is not understood") from None
        return found

    def _run(self, *arguments: str, given: str = "", may_end_with: int = 0) -> int:
        ended = self._ended("--quiet", *arguments, given=given)
        if ended.returncode not in (0, may_end_with):
            raise self._outage(ended)
        return ended.returncode

    def _ended(self, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
        from plumbum.machines.local import LocalCommand

        argv = LocalCommand(self._program)[arguments].formulate()
        try:
            return subprocess.run(
                argv,
                input=given,
                env=self._environment,
                cwd="/",
                capture_output=True,
                text=True,
                errors="replace",
                timeout=RUN_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BrokerUnreachable(WHERE, Unreachable.TIMED_OUT, "it does not answer in time") from None
        except OSError as error:
            raise BrokerUnreachable(WHERE, Unreachable.NO_ANSWER, error.strerror or str(error)) from None

    def _outage(self, ended: subprocess.CompletedProcess[str]) -> BrokerOutage:
        lines = [line.strip() for line in (ended.stderr or ended.stdout).splitlines() if line.strip()]
        said = next((line for line in lines if line != "Error:"), f"it ended with {ended.returncode}")
        if NO_BROKER in said:
            return BrokerUnreachable(WHERE, Unreachable.NO_ANSWER, said.partition(". Please see")[0])
        return BrokerRefused(WHERE, Refused.PERMISSION if "Only root" in said else Refused.UNFIT, said)
