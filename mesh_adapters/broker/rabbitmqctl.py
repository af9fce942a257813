"""The accounts of the RabbitMQ on this machine through `rabbitmqctl`: see `Accounts` in `mesh_core.ports`.

A password is handed to it on its standard input: what is in its arguments everybody on the machine can see.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from mesh_adapters.broker.ending import until_gone
from mesh_adapters.broker.standing import Standing, all_amiss, limits_of
from mesh_core.ports import (
    Amiss,
    Bound,
    BrokerOutage,
    BrokerRefused,
    BrokerUnreachable,
    Holding,
    How,
    Refused,
    Rights,
    Unreachable,
)

RUN_SECONDS: Final = 60.0
WHERE: Final = "rabbitmqctl"
NO_USER: Final = 67
"""What it ends with where there is no such account (sysexits.h)."""
NO_BROKER: Final = "unable to perform an operation on node"
"""What it says where it cannot reach the broker; its exit code says other things too."""
HOLDING: Final = "application:get_env(rabbit, consumer_timeout)."
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
        self._put_right(account, rights, tuple(Amiss))
        return made

    def mend(self, wanted: Mapping[str, Rights]) -> Mapping[str, tuple[Amiss, ...]]:
        """Give those of these accounts that there are their rights back: what was amiss."""
        found = all_amiss(self._standing(), wanted)
        for name, what in found.items():
            self._put_right(name, wanted[name], what)
        return found

    def limit(self, bound: Bound) -> How:
        """Put the limit up, as a policy of the broker's operator."""
        wanted = {"max-length-bytes": bound.content}
        there = (bound.name, bound.queues, "queues")
        for found in self._listed("list_operator_policies", "-p", self._host):
            same = (found["name"], found["pattern"], found["apply-to"]) == there
            if same and json.loads(found["definition"]) == wanted:
                return How.THERE
        words = ("--apply-to", "queues", bound.name, bound.queues, json.dumps(wanted))
        self._run("set_operator_policy", "-p", self._host, *words)
        return How.MADE

    def holding(self) -> Holding | None:
        """What the broker says of its `consumer_timeout`, in milliseconds; `undefined` is none."""
        ended = self._ended("--quiet", "eval", HOLDING)
        found = re.fullmatch(r"\{ok,\s*(\d+|undefined|infinity)\}|(undefined)", ended.stdout.strip())
        if ended.returncode or found is None:
            return None
        return Holding(seconds=int(found[1]) / 1000 if found[1] and found[1].isdigit() else None)

    def _standing(self) -> dict[str, Standing]:
        given = {found["user"]: found for found in self._listed("list_permissions", "-p", self._host)}
        limited = {found["user"]: found["limits"] for found in self._listed("list_user_limits", "--global")}
        return {
            user["user"]: Standing.of(
                given.get(user["user"]), json.loads(limited.get(user["user"], "{}")), user["tags"]
            )
            for user in self._listed("list_users")
        }

    def _put_right(self, account: str, rights: Rights, what: tuple[Amiss, ...]) -> None:
        if Amiss.POWERS in what:
            self._run("set_user_tags", account)
        if Amiss.RIGHTS in what:
            patterns = (rights.configure, rights.write, rights.read)
            self._run("set_permissions", "-p", self._host, account, *patterns)
        if Amiss.LIMITS in what:
            self._run("set_user_limits", account, json.dumps(limits_of(rights)))

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
