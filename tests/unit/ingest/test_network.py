"""Which addresses are public: those of the internet, however an IPv4 address is wrapped into an IPv6 one."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.ingest.crawl.network import is_public

PRIVATE = """
0.0.0.0 10.1.2.3 100.64.0.1 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.1 192.0.2.1 192.168.0.1
198.18.0.1 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1 255.255.255.255
:: ::1 fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 fec0::1 ff02::1 100::1 2001:db8::1 4000::1
::ffff:127.0.0.1 ::ffff:8.8.8.8 ::127.0.0.1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::8.8.8.8 2002:7f00:1:: 2002:a9fe:a9fe::
2001:0:0808:0808::80ff:fffe localhost docs.example
"""


@pytest.mark.parametrize("address", [*PRIVATE.split(), "", " 8.8.8.8", "0x08080808", "8.8.8", "08.8.8.8"])
def test_what_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.215.14", "2606:4700::1111", "2a00:1450::1", "64:ff9b::8.8.8.8", "2002:808:808::1"])
def test_what_is_public(address: str) -> None:
    assert is_public(address)


@given(st.ip_addresses(v=4))
def test_wrapping_makes_nothing_public(address: ipaddress.IPv4Address) -> None:
    wrapped = [
        f"::ffff:{address}",
        f"::{address}",
        f"64:ff9b::{address}",
        str(ipaddress.IPv6Address((0x2002 << 112) | (int(address) << 80))),
    ]

    assert not any(map(is_public, wrapped)) or is_public(str(address))


@given(st.ip_addresses())
def test_what_is_public_is_so_by_the_registries(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> None:
    assert not is_public(str(address)) or (address.is_global and not address.is_multicast)
