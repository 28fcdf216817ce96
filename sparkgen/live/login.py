"""What a driver's log says of a login to Kerberos that failed, or has ended. Pure.

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
    """What the log has, the cause, and the next step. `{}` stands for whoever the log says logs in."""

    pattern: re.Pattern[str]
    cause: str
    step: str


def _failure(pattern: str, cause: str, step: str) -> _Failure:
    return _Failure(re.compile(pattern, re.MULTILINE), cause, step)


_FAILURES = (
    _failure(
        r"Client not found in Kerberos database",
        "the KDC does not know {}",
        "correct spec.kerberos.principal, and the realm in krb5.conf",
    ),
    _failure(
        r"Unable to obtain password from user",
        "the keytab has no key of {}",
        "correct spec.kerberos.principal, or name the Secret with its keytab",
    ),
    _failure(
        r"Checksum failed|Integrity check on decrypted field failed|"
        r"Pre-authentication information was invalid",
        "the key of {} has changed since the keytab was made",
        "make the Secret again with a new keytab",
    ),
    _failure(
        r"Client's entry in database (?:has )?expired|Password has expired",
        "{} has expired in the KDC",
        "ask the KDC's administrator to extend it, or use another principal",
    ),
    _failure(
        r"Clock skew too great",
        "the clocks of the node and of the KDC differ too much for a login of {}",
        "have both ask a time server",
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
        "the driver does not reach a KDC for a login of {}",
        "correct the addresses in krb5.conf, and see whether the network lets pods reach them",
    ),
    _failure(
        r"User: \S+ is not allowed to impersonate \S+",
        "HDFS does not let the gateway act for this user ({})",
        "have HDFS permit it (hadoop.proxyuser.* of its core-site.xml), or correct spec.proxyUser",
    ),
    _failure(
        r"No common protection layer between client and server",
        "HDFS and the application have no hadoop.rpc.protection in common",
        "set it in spec.hadoopConf, or in spec.hadoopConfigMap, to what HDFS has",
    ),
    _failure(
        r"Client cannot authenticate via:\s?\[TOKEN, KERBEROS\]",
        "nobody is logged in where a service asks for Kerberos",
        "name a login in spec.kerberos, and file systems beside the default one in its fileSystems",
    ),
    _failure(
        r"^(?>.*?[Tt]oken).*(?:is expired|can't be found in cache)",
        "the delegation tokens have ended",
        "use spec.kerberos.keytab, which is renewed: sparkgen rule SG277",
    ),
    _failure(
        r"Ticket expired|^(?>.*?TGT).* expired",
        "the tickets of {} have ended",
        "keep the Secret of spec.kerberos.ticketCache fresh, or use a keytab",
    ),
)
_PRINCIPAL = re.compile(r"for principal: (\S{1,253})")
_IMPERSONATES = re.compile(r"User: (\S{1,253}) is not allowed to impersonate (\S{1,253})")
NOBODY = "the principal"


def login_failed(log: str) -> Reason | None:
    """Why nobody was logged in, or no longer is; None where the log says nothing of it."""
    for failure in _FAILURES:
        if failure.pattern.search(log):
            return Reason(CODE, failure.cause.format(_who(log)), failure.step)
    return None


def _who(log: str) -> str:
    """Whose login it is, by the log."""
    if found := _IMPERSONATES.search(log):
        return f"{found[1]} for {found[2].rstrip(',.;')}"
    found = _PRINCIPAL.search(log)
    return found[1].rstrip(",.;") if found else NOBODY
