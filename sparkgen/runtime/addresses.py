"""IP addresses as URLs, Spark and the kubelet write them."""

from __future__ import annotations

import ipaddress


def url_host(address: str) -> str:
    """An IP address or a name as a URL has it: an IPv6 address in brackets."""
    return f"[{address}]" if ":" in address and not address.startswith("[") else address


def plain_address(host: str) -> str:
    """An IP address as the kubelet writes it: without brackets, IPv6 in its short form. A name as it is.

    Spark has brackets around IPv6 addresses, and Java writes all of their zeros.
    """
    try:
        return str(ipaddress.ip_address(host.removeprefix("[").removesuffix("]")))
    except ValueError:
        return host
