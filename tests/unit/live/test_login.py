"""Failed logins in a driver's log: each has one cause, and a step that ends it."""

from __future__ import annotations

import pytest

from sparkgen.live.driverlog import failure_in
from sparkgen.live.login import login_failed

LOGIN = "KerberosAuthException: failure to login: for principal: alice@EXAMPLE.COM LoginException: "


@pytest.mark.parametrize(
    ("log", "cause"),
    [
        (f"{LOGIN}Client not found in Kerberos database (6)", "the KDC does not know alice@EXAMPLE.COM"),
        (f"{LOGIN}Unable to obtain password from user", "the keytab has no key for alice@EXAMPLE.COM"),
        (f"{LOGIN}Checksum failed", "the key of alice@EXAMPLE.COM has changed since the keytab was created"),
        (
            f"{LOGIN}Client's entry in database expired (1) - CLIENT EXPIRED",
            "alice@EXAMPLE.COM has expired in the KDC",
        ),
        (
            f"{LOGIN}Clock skew too great (37)",
            "the clocks of the node and of the KDC differ too much for a login",
        ),
        (f"{LOGIN}Cannot locate KDC", "the driver cannot reach a KDC to log in alice@EXAMPLE.COM"),
        (f"{LOGIN}Receive timed out", "the driver cannot reach a KDC to log in alice@EXAMPLE.COM"),
        ("IllegalArgumentException: Can't get Kerberos realm", "there is no krb5.conf with a default_realm"),
        (
            "User: gateway@EXAMPLE.COM is not allowed to impersonate alice",
            "HDFS does not allow the gateway to impersonate this user (gateway@EXAMPLE.COM for alice)",
        ),
        (
            "SaslException: No common protection layer between client and server",
            "HDFS and the application have no hadoop.rpc.protection in common",
        ),
        (
            "Client cannot authenticate via:[TOKEN, KERBEROS]",
            "a service requires Kerberos, ",
        ),
        (
            "SecretManager$InvalidToken: token (HDFS_DELEGATION_TOKEN owner=alice) can't be found in cache",
            "the delegation tokens have expired",
        ),
        ("GSSException: Ticket expired (32)", "the tickets of the principal have expired"),
    ],
)
def test_each_failure_has_its_cause(log: str, cause: str) -> None:
    """And the same code, whatever else the log says of errors."""
    found = failure_in(f"Traceback (most recent call last):\nOSError: boom\nCaused by: {log}\n")
    assert found is not None
    assert found.code == "login"
    assert found.cause.startswith(cause)
    assert found.next_step


def test_a_log_without_a_login_says_nothing() -> None:
    """A connection that is refused may be anything's."""
    assert login_failed("java.net.ConnectException: Connection refused\nKrb5 is on the class path") is None
