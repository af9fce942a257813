"""What ships, all of it on one machine with real systemd, and most of it taken off again.

> Modules that ship with the control plane: the host program, the builder (assign it to a node and that node
> builds), RabbitMQ, a registry

One test, since each start of these takes seconds. Debian's packages are those of the machine that tests.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

import pytest

from tests.integration.build.registry import CERTIFICATES, HTPASSWD
from tests.integration.host.systemd.node import Node as Host
from tests.integration.host.systemd.node import done, why
from tests.integration.lab.machine import LabMachine
from tests.integration.shipped.helpers import mesh_of, shipped, told
from tests.integration.shipped.wheel import ENDS, RUNS, wheel

PROGRAMS = ("rabbitmqctl", "docker-registry", "git", "bwrap", "buildah", "skopeo", "curl", "openssl")
VENV = "/usr/share/doc/python3-venv"

RENEW = "/usr/local/lib/mesh-host/renew"
DROPIN = "/etc/systemd/system/mesh-host.service.d/50-version.conf"
JOINED = "/usr/local/bin/joined"
HOST_UNIT = f"[Service]\nType=notify\nNotifyAccess=all\nExecStart={JOINED} run\nRestart=always\n"
BUILDER_UNIT = "[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"


@pytest.mark.long
def test_everything_that_ships_does_what_it_is_for(machine: LabMachine) -> None:
    needs_its_packages(machine)
    host = Host(machine)
    a_person_joined_with_another_program(machine)

    said = hears(host, *shipped())
    assert said["state"] == "failed"
    assert "certificate.pem into /etc/mesh-registry" in why(said, "command:registry-files")
    assert "mesh-builder join FILE" in why(said, "command:mesh-builder")
    assert {name for name, (_, outcome) in done(said).items() if outcome == "failed"} == {
        *("command:registry-files", "service:docker-registry"),
        *("command:mesh-builder", "service:mesh-builder"),
    }, "which is for a person to do; nothing else is wrong"
    the_broker_listens_for_all_and_is_managed_from_the_machine_alone(host)
    the_host_is_renewed_beside_the_program_that_joined(host)

    a_person_brings_the_registrys_files(machine)
    a_person_lets_it_join_as_a_builder(machine)
    said = hears(host, *shipped())
    assert said["state"] == "applied", said
    assert {check["passed"] for check in said["checks"]} == {True}
    the_registry_lets_in_who_has_an_account(host)
    assert host.state("mesh-builder") == ("enabled", "active")
    assert "docker://lab:5000/mesh" in machine.read("/etc/mesh-builder/builder.toml").decode()

    builds = host.shown("mesh-builder", "InvocationID")
    said = hears(host, "rabbitmq", "mesh-builder", registry="attic")
    assert done(said)["service:mesh-builder"] == ("refresh", "done"), "it publishes elsewhere from now on"
    assert host.shown("mesh-builder", "InvocationID") != builds
    assert host.state("docker-registry") == ("disabled", "inactive")
    assert machine.exists("/etc/mesh-registry/key.pem"), "what a person put there is theirs"
    assert not machine.exists(DROPIN)
    machine.run(["systemctl", "restart", "mesh-host"])
    assert runs_now(host) == f"{JOINED} run", "taken off, it is what joined"

    hears(host, "rabbitmq")  # which takes ten seconds to end, and ends with the machine
    assert host.state("mesh-builder") == ("disabled", "inactive")
    assert machine.exists("/etc/mesh-builder/credential.json"), "it can be given back any time"
    assert hears(host, "rabbitmq")["actions"] == [], "told once more, it does nothing"


def needs_its_packages(machine: LabMachine) -> None:
    """Skip where something would have to be fetched, which a machine of the lab cannot."""
    lacking = [program for program in PROGRAMS if shutil.which(program) is None]
    lacking += [] if machine.exists(VENV) else ["python3-venv"]
    why = f"{', '.join(lacking)} is not installed (sh scripts/system_packages.sh)"
    if lacking and os.environ.get("CI") == "true":
        pytest.fail(f"{why}; CI skips nothing", pytrace=False)
    if lacking:
        pytest.skip(why)


def hears(host: Host, *modules: str, registry: str | None = None) -> dict[str, Any]:
    """Tell it to have these modules, in a mesh where another node may have the registry."""
    host.generation += 1
    nodes = {"lab": list(modules)} | ({registry: ["registry"]} if registry else {})
    return host.hears(told(mesh_of(nodes), "lab", host.generation))


def the_broker_listens_for_all_and_is_managed_from_the_machine_alone(host: Host) -> None:
    listening = host.machine.run(["ss", "--listening", "--tcp", "--numeric", "--no-header"]).stdout
    places = {line.split()[3] for line in listening.splitlines()}
    assert "*:5672" in places
    assert "127.0.0.1:15672" in places
    timeout = host.machine.run(["rabbitmqctl", "eval", "application:get_env(rabbit, consumer_timeout)."])
    assert timeout.stdout.strip() == "{ok,1800000}"
    assert host.state("rabbitmq-server") == ("enabled", "active")


def a_person_brings_the_registrys_files(machine: LabMachine) -> None:
    put = "umask 077; cp server.pem $0/certificate.pem; cp server.key $0/key.pem"
    script = f"mkdir /root/made && cd /root/made\n{CERTIFICATES}\n{put}"
    machine.run(["sh", "-c", script, "/etc/mesh-registry"])
    machine.write("/etc/mesh-registry/htpasswd", HTPASSWD.encode(), mode=0o600)


def the_registry_lets_in_who_has_an_account(host: Host) -> None:
    trusted = ("--cacert", "/root/made/ca/ca.crt", "--write-out", "%{http_code}", "--output", "/dev/null")

    def status(*options: str) -> str:
        argv = ["curl", "--silent", "--show-error", *trusted, *options, "https://localhost:5000/v2/"]
        return host.machine.run(argv).stdout

    assert (status(), status("--user", "builder:builder-secret")) == ("401", "200")
    shown = host.machine.run(["stat", "-c", "%U:%G %a", "/etc/mesh-registry/key.pem"])
    assert shown.stdout == "root:docker-registry 640\n"


def a_person_lets_it_join_as_a_builder(machine: LabMachine) -> None:
    """What `mesh-builder join` leaves."""
    machine.write("/etc/systemd/system/mesh-builder.service", BUILDER_UNIT.encode())
    machine.write("/etc/mesh-builder/credential.json", b"{}", mode=0o600)
    machine.run(["systemctl", "daemon-reload"])


def a_person_joined_with_another_program(machine: LabMachine) -> None:
    """What `mesh-host join` leaves, and a version of the program for pip to find."""
    machine.write(JOINED, RUNS.encode(), mode=0o755)
    machine.write("/etc/systemd/system/mesh-host.service", HOST_UNIT.encode())
    machine.run(["systemctl", "start", "mesh-host"])
    place = "/var/lib/mesh-host-wheels/meshwright-0.1.0-py3-none-any.whl"
    machine.write(place, wheel("0.1.0", RUNS))


def the_host_is_renewed_beside_the_program_that_joined(host: Host) -> None:
    machine = host.machine
    new = "/opt/mesh-host/0.1.0/bin/mesh-host run"
    assert machine.read(DROPIN).decode() == f"[Service]\nExecStart=\nExecStart={new}\n"
    # It is not ended while it works: that comes seconds later, by this, which the test doesn't wait for.
    machine.run([RENEW, "watch", "0.1.0", "0.2"])
    assert runs_now(host) == new

    machine.write("/opt/mesh-host/0.2.0/bin/mesh-host", ENDS.encode(), mode=0o755)
    machine.run([RENEW, "apply", "0.2.0"])
    machine.run([RENEW, "watch", "0.2.0", "0.2"])
    assert runs_now(host) == new, "one that does not come up goes back"
    again = machine.run([RENEW, "apply", "0.2.0"], check=False)
    assert again.returncode == 1
    assert "mesh-host 0.2.0 did not come up here" in again.stderr, "and is not tried over and over"


def runs_now(host: Host) -> str:
    """The command line that the unit runs, without its interpreter."""
    (pid,) = host.shown("mesh-host", "MainPID")
    words = host.machine.read(f"/proc/{pid}/cmdline").decode().split("\0")
    return " ".join(words[1:]).strip()
