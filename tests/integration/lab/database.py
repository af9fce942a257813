"""PostgreSQL in a machine, as on one where it was just installed.

The packages are the host's, and so is the cluster that a machine sees: with what somebody keeps in it,
half written if it runs there, without encryption if the host threw its key away. So it gets a new one.
"""

from tests.integration.lab.machine import LabMachine

NEW = """
set -e
rm -rf /etc/postgresql/* /var/lib/postgresql/* /var/log/postgresql/* /etc/ssl/private/ssl-cert-snakeoil.key
make-ssl-cert generate-default-snakeoil --force-overwrite
server=$(ls -d /usr/lib/postgresql/*/bin/postgres | sort -V | tail -n 1)
version=$(basename "${server%/bin/postgres}")
# What is in memory needs no disk to have it for certain.
pg_createcluster "$version" main -- --no-sync
# systemd asks at boot which clusters there are.
systemctl daemon-reload
"""


def new_cluster(machine: LabMachine) -> None:
    """The one of the newest PostgreSQL there is, called `main`; `systemctl start postgresql` starts it."""
    machine.run(["sh", "-c", NEW], env={"DEBIAN_FRONTEND": "noninteractive"})
