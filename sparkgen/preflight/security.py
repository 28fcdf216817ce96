"""What a namespace's Pod Security level refuses in a document's pods, found with `sparkgen lint`'s rules.

Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.lint import rules_restricted
from sparkgen.lint.findings import PSS_RESTRICTED, Rule
from sparkgen.lint.registry import RULES, findings_of
from sparkgen.lint.settings import Settings
from sparkgen.model.shuffle import SERVICE_KIND

_ALWAYS = (rules_restricted.host_access, rules_restricted.privileged, rules_restricted.confinement)
"""Rules of "restricted" that are rules of "baseline" without a change."""
_BASELINE_CAPABILITIES = frozenset(
    (
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    )
)


def violations(document: Mapping[str, Any], level: str) -> Iterator[str]:
    """Yields what the level refuses, as messages of lint's rules; nothing for "privileged"."""
    if level not in ("baseline", "restricted"):
        return
    if document["kind"] == SERVICE_KIND:
        yield "a shuffle service uses directories and a port of its nodes (SG146)"
        return
    rules = [rule for rule in RULES if PSS_RESTRICTED in rule.profiles]
    for rule, finding in findings_of(document, Settings(), rules=rules):
        if level == "restricted" or _in_baseline(rule, finding.found):
            yield f"{finding.message} ({rule.code})"


def _in_baseline(rule: Rule, found: str) -> bool:
    """Whether "baseline", too, refuses what a rule of "restricted" found."""
    if rule is rules_restricted.capabilities:
        added = {name for name in found.split(", ") if name}
        return bool(added - _BASELINE_CAPABILITIES)
    if rule is rules_restricted.volume_types:
        return found == "hostPath"
    if rule is rules_restricted.seccomp:
        return found == "Unconfined"
    return rule in _ALWAYS
