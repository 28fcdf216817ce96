"""What a driver's log says about a login to Kerberos that failed, or has ended. Pure.

The words are those of Java's Kerberos (sun.security.krb5), of Hadoop's UserGroupInformation and
SaslRpcClient, and of HDFS.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sparkgen.live.reason import Reason

CODE = "login"


@dataclass(frozen=True, slots=True)
class _Failure:
    """A pattern in the log, the cause, and the next step. `{}` stands for the user that the log names."""

    pattern: re.Pattern[str]
    cause: str
    step: str


def _failure(pattern: str, cause: str, step: str) -> _Failure:
    return _Failure(re.compile(pattern, re.MULTILINE), cause, step)


_FAILURES = (
    _failure(
        r"Client not found in Kerberos database",
        "the KDC does not know {}",
        "fix spec.kerberos.principal, or the realm in krb5.conf",
    ),
    _failure(
        r"Unable to obtain password from user",
        "the keytab has no key for {}",
        "fix spec.kerberos.principal, or name the Secret with its keytab",
    ),
    _failure(
        r"Checksum failed|Integrity check on decrypted field failed|"
        r"Pre-authentication information was invalid",
        "the key of {} has changed since the keytab was created",
        "create the Secret again with a new keytab",
    ),
    _failure(
        r"Client's entry in database (?:has )?expired|Password has expired",
        "{} has expired in the KDC",
        "ask the KDC's administrator to extend it, or use another principal",
    ),
    _failure(
        r"Clock skew too great",
        "the clocks of the node and of the KDC differ too much for a login of {}",
        "synchronize both with a time server",
    ),
    _failure(
        r"Cannot locate default realm|Can't get Kerberos realm",
        "there is no krb5.conf with a default_realm",
        "name a ConfigMap with the key krb5.conf in spec.kerberos.krb5ConfigMap",
    ),
    _failure(
        r"Cannot locate KDC|Cannot contact any KDC|"
        r"^(?>.*?(?:failure to login|KrbException|LoginException)).*"
        r"(?:Receive timed out|Connection refused|timed out|UnknownHost|No route to host)",
        "the driver cannot reach a KDC to log in {}",
        "fix the addresses in krb5.conf, and check that pods can reach them",
    ),
    _failure(
        r"User: \S+ is not allowed to impersonate \S+",
        "HDFS does not allow the gateway to impersonate this user ({})",
        "allow it in HDFS (hadoop.proxyuser.* in its core-site.xml), or fix spec.proxyUser",
    ),
    _failure(
        r"No common protection layer between client and server",
        "HDFS and the application have no hadoop.rpc.protection in common",
        "set it to HDFS's value in spec.hadoopConf or spec.hadoopConfigMap",
    ),
    _failure(
        r"Client cannot authenticate via:\s?\[TOKEN, KERBEROS\]",
        "a service requires Kerberos, and the application is not logged in",
        "configure a login in spec.kerberos, and list further file systems in its fileSystems",
    ),
    _failure(
        r"^(?>.*?[Tt]oken).*(?:is expired|can't be found in cache)",
        "the delegation tokens have expired",
        "use spec.kerberos.keytab, whose tokens are renewed: sparkgen rule SG277",
    ),
    _failure(
        r"Ticket expired|^(?>.*?TGT).* expired",
        "the tickets of {} have expired",
        "update the Secret in spec.kerberos.ticketCache, or use a keytab",
    ),
)
_PRINCIPAL = re.compile(r"for principal: (\S{1,253})")
_IMPERSONATES = re.compile(r"User: (\S{1,253}) is not allowed to impersonate (\S{1,253})")
NOBODY = "the principal"


def login_failed(log: str) -> Reason | None:
    """Returns why a login failed or has ended; None if the log does not show it."""
    for failure in _FAILURES:
        if failure.pattern.search(log):
            return Reason(CODE, failure.cause.format(_who(log)), failure.step)
    return None


def _who(log: str) -> str:
    """Returns the user that logs in, from the log."""
    if match := _IMPERSONATES.search(log):
        return f"{match[1]} for {match[2].rstrip(',.;')}"
    match = _PRINCIPAL.search(log)
    return match[1].rstrip(",.;") if match else NOBODY
