"""Over TLS, a connection to a checked address still has to prove that it is the host of the name."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.testing.sites import Site, SiteServer
from tests.integration.fetch_help import Names, fault_of, get

# Of docs.internal, made for this test alone, signed by itself.
CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIBbDCCAROgAwIBAgIBATAKBggqhkjOPQQDAjAYMRYwFAYDVQQDDA1kb2NzLmlu
dGVybmFsMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAxMDAwMDAwWjAYMRYwFAYD
VQQDDA1kb2NzLmludGVybmFsMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE91Up
mM7To7K0l/XtToxrqEUYQZ3QI50DgPo0qTKM4W3Zp0ofVYR8lMCLCmCXXGj8i25M
CmufP3ahmgX9RoIZ8qNMMEowGAYDVR0RBBEwD4INZG9jcy5pbnRlcm5hbDAPBgNV
HRMBAf8EBTADAQH/MB0GA1UdDgQWBBTspgfGauV9KJ/dS/TzKir2yOt9OTAKBggq
hkjOPQQDAgNHADBEAiBD+x/x35i26CtmBygH5lnn3rk4kLHGT1GFOENXgq0K7QIg
SOsRDe9euWSomgrqNYl0tOSbM04Sux0VX+AjA3s1gVM=
-----END CERTIFICATE-----
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg/eKT8YFOBxKQhB/E
bg8HcvIvNhZNxGnr24OEBKaCapqhRANCAAT3VSmYztOjsrSX9e1OjGuoRRhBndAj
nQOA+jSpMozhbdmnSh9VhHyUwIsKYJdcaPyLbkwKa58/dqGaBf1Gghny
-----END PRIVATE KEY-----
"""
NAMES = {"docs.internal": [["127.0.0.1"]], "other.internal": [["127.0.0.1"]]}


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    file = tmp_path / "docs.pem"
    file.write_text(CERTIFICATE)
    return file


@pytest.fixture
def asked_names() -> list[str | None]:
    return []


@pytest.fixture
def server(certificate: Path, asked_names: list[str | None]) -> Iterator[SiteServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    context.sni_callback = lambda _socket, name, _context: asked_names.append(name)
    with SiteServer(Site(pages={"/": b"<p>hello"}), tls=context) as server:
        yield server


async def test_the_name_is_asked_for_and_proved(server: SiteServer, certificate: Path, asked_names: list[str | None]) -> None:
    trusting = ssl.create_default_context(cafile=certificate)

    fetched = await get(f"https://docs.internal:{server.port}/", "docs.internal", resolver=Names(NAMES), ssl_context=trusting)

    assert fetched.data == b"<p>hello"
    assert asked_names == ["docs.internal"]
    assert server.requests[0].headers["host"] == f"docs.internal:{server.port}"


async def test_a_certificate_of_another_name(server: SiteServer, certificate: Path) -> None:
    trusting = ssl.create_default_context(cafile=certificate)

    fault = await fault_of(f"https://other.internal:{server.port}/", "other.internal", resolver=Names(NAMES), ssl_context=trusting)

    assert (fault.kind, fault.temporary) == ("tls", True)
    assert fault.reason.startswith("its certificate is not valid (Hostname mismatch")
    assert server.requests == []


async def test_a_certificate_that_nobody_trusts(server: SiteServer) -> None:
    fault = await fault_of(f"https://docs.internal:{server.port}/", "docs.internal", resolver=Names(NAMES))

    assert fault.kind == "tls"
    assert fault.reason.startswith("its certificate is not valid (self")
    assert server.requests == []
