"""The same control plane and builders with a real registry: TLS, an authority of its own, and an account."""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from tests.integration.build.registry import RegistryServer
from tests.integration.build.registry import guarded as guarded
from tests.integration.builder.shop import Running, Shop

PREFIX = "mesh/modules"
_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
_GOT = re.compile(r'"GET (\S+) HTTP/1\.1" 200 \d+ "[^"]*" "mesh-host"')


@frozen
class Remote:
    """A registry as builders and hosts are told it, and as somebody else sees it."""

    shop: Shop
    server: RegistryServer

    def running(self, name: str, *words: str) -> AbstractContextManager[Running]:
        """`mesh-builder run` of one of the builders, which publishes there."""
        return self.shop.running(name, "--registry", f"docker://{self.server.host}/{PREFIX}", *words)

    def place(self, module: str) -> str:
        """Where hosts find what was built of a module."""
        return f"https://{self.server.host}/{PREFIX}/{module}"

    def manifest(self, module: str, digest: str) -> dict[str, Any]:
        """The manifest that is there under a digest."""
        found = json.loads(self._under(f"{module}/manifests", digest))
        assert isinstance(found, dict)
        return found

    def blob(self, module: str, digest: str) -> bytes:
        """The content that is there under a digest."""
        return self._under(f"{module}/blobs", digest)

    def _under(self, kind: str, digest: str) -> bytes:
        content = self.server.get(f"/v2/{PREFIX}/{kind}/{digest}", accept=_MANIFEST)
        assert f"sha256:{sha256(content).hexdigest()}" == digest
        return content

    def given_to_hosts(self) -> set[str]:
        """What hosts got of it by now, as the registry itself wrote it down."""
        return set(_GOT.findall((self.server.folder / "said").read_text()))

    def let_in(self, root: Path) -> None:
        """Give the host under a root an account there."""
        place = root / "etc/mesh-host/registry-auth.json"
        place.write_bytes(self.server.authfile("hosts.json").read_bytes())
        place.chmod(0o600)

    def vouched_for(self, root: Path) -> None:
        """Have the host under a root trust the authority that signed its certificate."""
        place = root / "etc/mesh-host/registry-ca.pem"
        place.write_bytes((self.server.certificates / "ca.crt").read_bytes())


@pytest.fixture
def remote(shop: Shop, guarded: RegistryServer, monkeypatch: pytest.MonkeyPatch) -> Remote:
    """Builders that are started meanwhile trust it, and have an account there."""
    monkeypatch.setenv("MESH_BUILDER_REGISTRY_CREDENTIALS", str(guarded.authfile("builders.json")))
    monkeypatch.setenv("MESH_BUILDER_REGISTRY_CERTIFICATES", str(guarded.certificates))
    return Remote(shop, guarded)
