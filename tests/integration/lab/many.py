"""Several machines at once: each boots in about a second, most of which is waiting."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from tests.integration.lab.machine import LabMachine


def start_all(machines: Sequence[LabMachine]) -> None:
    """Boot them together, and return when all are up; nothing is left of any if one does not come up."""
    try:
        with ThreadPoolExecutor(len(machines)) as pool:
            booting = [pool.submit(machine.start) for machine in machines]
        for each in booting:
            each.result()
    except BaseException:
        close_all(machines)
        raise


def close_all(machines: Sequence[LabMachine]) -> None:
    """Pull all plugs; where one was not cleared away that is told after the others are."""
    with ThreadPoolExecutor(len(machines)) as pool:
        closing = [pool.submit(machine.close) for machine in machines]
    for each in closing:
        each.result()


@contextmanager
def running(*machines: LabMachine) -> Iterator[None]:
    """They run until the end of `with`."""
    start_all(machines)
    try:
        yield
    finally:
        close_all(machines)
