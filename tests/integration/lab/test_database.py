"""A machine has a PostgreSQL of its own, which nobody outside of it sees, nor it theirs."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.integration.lab.database import new_cluster
from tests.integration.lab.machine import LabError, LabMachine
from tests.integration.lab.many import running

pytestmark = pytest.mark.usefixtures("databases")

SETTINGS = Path("/etc/postgresql")
DATA = Path("/var/lib/postgresql")

# As a program does it that a mesh puts on a machine: Debian's Python, and the module of Debian's package.
PROGRAM = """
import psycopg2
with psycopg2.connect(dbname="shop") as database, database.cursor() as cursor:
    cursor.execute("SELECT word FROM words")
    print(cursor.fetchall())
"""


@pytest.fixture(scope="module")
def two() -> Iterator[tuple[LabMachine, LabMachine]]:
    before = everything_of_the_host()
    one, other = LabMachine("one"), LabMachine("other")
    with running(one, other), ThreadPoolExecutor(2) as pool:
        list(pool.map(start, (one, other)))
        yield one, other
    assert everything_of_the_host() == before


def everything_of_the_host() -> set[tuple[Path, int, int]]:
    """Each file of its clusters, with its size and when it was written; where one runs, only the settings."""
    runs = any(DATA.glob("*/*/postmaster.pid"))
    paths = [path for folder in ([SETTINGS] if runs else [SETTINGS, DATA]) for path in folder.rglob("*")]
    return {(path, path.lstat().st_size, path.lstat().st_mtime_ns) for path in paths}


def start(machine: LabMachine) -> None:
    new_cluster(machine)
    machine.run(["systemctl", "start", "postgresql"])


def as_user(machine: LabMachine, user: str, *argv: str) -> str:
    return machine.run(["runuser", "-u", user, "--", *argv]).stdout


def ask(machine: LabMachine, question: str, database: str = "postgres") -> str:
    return as_user(machine, "postgres", "psql", "--tuples-only", "--no-align", "-c", question, database)


def test_a_database_has_a_role_and_a_table_that_a_program_reads(two: tuple[LabMachine, LabMachine]) -> None:
    one, other = two
    ask(one, "CREATE ROLE nobody LOGIN")
    ask(one, "CREATE DATABASE shop OWNER nobody")
    as_user(one, "nobody", "psql", "-c", "CREATE TABLE words AS SELECT 'Grüße' AS word", "shop")
    assert as_user(one, "nobody", "/usr/bin/python3", "-c", PROGRAM) == "[('Grüße',)]\n"
    assert ask(other, "SELECT rolname FROM pg_roles WHERE rolname = 'nobody'") == ""
    with pytest.raises(LabError, match='database "shop" does not exist'):
        ask(other, "SELECT 1", "shop")


def test_a_cluster_is_new_and_encrypts_with_a_key_of_its_own(two: tuple[LabMachine, LabMachine]) -> None:
    keys = [machine.read("/etc/ssl/private/ssl-cert-snakeoil.key") for machine in two]
    assert keys[0] != keys[1]
    assert [ask(machine, "SHOW ssl") for machine in two] == ["on\n", "on\n"]
    numbers = [ask(machine, "SELECT system_identifier FROM pg_control_system()") for machine in two]
    assert numbers[0] != numbers[1]


def test_it_is_started_by_systemd_and_comes_back_with_what_it_had(two: tuple[LabMachine, LabMachine]) -> None:
    _, other = two
    ask(other, "CREATE TABLE kept AS SELECT 1 AS one")
    other.run(["systemctl", "restart", "postgresql"])
    assert other.run(["systemctl", "is-enabled", "postgresql"], check=False).stdout == "disabled\n"
    assert ask(other, "TABLE kept") == "1\n"
