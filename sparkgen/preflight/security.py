"""What a namespace's Pod Security level refuses in the pods of a document: by the rules of `sparkgen lint`.

Source: https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.lint.registry import RULES
from sparkgen.lint.settings import Settings
from sparkgen.lint.subject import Subject
from sparkgen.model import SERVER_KINDS

_ALWAYS = ("host-access", "privileged", "confinement")
"""Rules of "restricted" that are rules of "baseline", word by word."""
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
    """What the level refuses, in the words of lint's rules; nothing for "privileged"."""
    if level not in ("baseline", "restricted") or document["kind"] in SERVER_KINDS:
        return
    subject = Subject.of(document, Settings())
    for rule in RULES:
        if "pss-restricted" not in rule.profiles:
            continue
        for finding in rule.check(subject):
            if level == "restricted" or _in_baseline(rule.name, finding.found):
                yield f"{finding.message} ({rule.code})"


def _in_baseline(rule: str, found: str) -> bool:
    """Whether "baseline" refuses what a rule of "restricted" found."""
    if rule == "capabilities":
        added = {name for name in found.split(", ") if name}
        return bool(added - _BASELINE_CAPABILITIES)
    if rule == "volume-type":
        return found == "hostPath"
    if rule == "seccomp":
        return found == "Unconfined"
    return rule in _ALWAYS
