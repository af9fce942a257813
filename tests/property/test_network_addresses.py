"""The laws of addresses. What each says stands in `mesh_core.testing.laws.addresses`."""

import pytest

from mesh_core.network.addresses import addressed, moving
from mesh_core.testing.laws.addresses import ADDRESS_LAWS, AddressCheck, Addresses


@pytest.mark.parametrize("check", ADDRESS_LAWS, ids=lambda check: check.__name__)
def test_addresses_keep_the_law(check: AddressCheck) -> None:
    check(Addresses(addressed=addressed, moving=moving))
