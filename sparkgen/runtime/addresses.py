"""Addresses as URLs have them."""

from __future__ import annotations


def url_host(address: str) -> str:
    """An IP address or a name as a URL has it: an IPv6 address in brackets."""
    return f"[{address}]" if ":" in address and not address.startswith("[") else address
