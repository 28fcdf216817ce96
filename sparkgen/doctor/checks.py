"""The checks that need no pod: what each needs, what it gathers, and what it decides."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sparkgen.cluster import ClusterError
from sparkgen.doctor import rights
from sparkgen.doctor.gather import NamespaceFacts
from sparkgen.doctor.values import Row, Verdict
from sparkgen.errors import Severity
from sparkgen.objects import ObjectView
from sparkgen.phrases import number_of, some_of
from sparkgen.preflight import ClusterFacts, Finding, Unknown, Wanted, judge, needs
from sparkgen.preflight.claims import is_default
from sparkgen.preflight.judge import LEVEL, OLDEST
from sparkgen.preflight.judge import version as judge_version
from sparkgen.preflight.rights import Right

_VERDICTS = {Severity.ERROR: Verdict.FAILS, Severity.WARNING: Verdict.WARNS, Severity.INFO: Verdict.UNKNOWN}
_SHOWN = 3
_OLDEST = ".".join(map(str, OLDEST))


@dataclass(frozen=True, slots=True)
class Check:
    """A check: `needs` names the checks that it depends on; `decide` takes the result of `gather`."""

    name: str
    needs: tuple[str, ...]
    gather: Callable[[NamespaceFacts], Any]
    decide: Callable[[Any], Row]


def row_of(check: Check, facts: NamespaceFacts) -> Row:
    """Returns the row of a check. Raises ClusterError if the cluster does not answer, or the login fails."""
    try:
        return check.decide(check.gather(facts))
    except ClusterError as error:
        if error.status in (None, 401):
            raise
        return Row(check.name, Verdict.UNKNOWN, str(error))


# --- decisions --------------------------------------------------------------------------------------------


def _version(version: str) -> Row:
    facts = ClusterFacts(version, None)
    good = f"{version} ({_OLDEST} or newer is needed)"
    return _judged("kubernetes", judge_version(_NOTHING, facts), good, "upgrade the cluster")


_NOTHING = Wanted("", "", (), {})


def _judged(name: str, findings: Iterable[Finding], good: str, ask: str) -> Row:
    """Returns the row for the preflight's findings, the worst first; `good`: for none of them."""
    found = [*findings]
    if not found:
        return Row(name, Verdict.WORKS, good)
    verdict = _VERDICTS[found[0].severity]
    text = some_of([one.message for one in found], _SHOWN, "; ")
    meaning = next((one.next_step for one in found if one.next_step), "")
    return Row(name, verdict, text, meaning, "" if verdict is Verdict.UNKNOWN else ask)


def _of_preflight(
    name: str,
    checks: tuple[str, ...],
    good: Callable[[Wanted, ClusterFacts], str],
    ask: str,
    read: Callable[[ClusterFacts], object] = lambda _: None,
) -> Callable[[tuple[Wanted, ClusterFacts]], Row]:
    """Returns a decision on what some checks of the preflight find. `read`: the fact that they need."""

    def decide(gathered: tuple[Wanted, ClusterFacts]) -> Row:
        wanted, facts = gathered
        if isinstance(unread := read(facts), Unknown):
            return Row(name, Verdict.UNKNOWN, unread.reason)
        found = [one for one in judge(wanted, facts) if one.check in checks]
        return _judged(name, found, good(wanted, facts), ask.format(namespace=wanted.namespace))

    return decide


def _rights(gathered: tuple[str, list[Right]]) -> Row:
    namespace, missing = gathered
    lacking = rights.lacking(missing)
    if not lacking:
        return Row("rights", Verdict.WORKS, f"you may {', '.join(rights.COMMANDS)}")
    found = "; ".join(f"{name}: {rights.listed(lost)}" for name, lost in lacking.items())
    every = rights.listed(dict.fromkeys(right for lost in lacking.values() for right in lost))
    return Row(
        "rights",
        Verdict.FAILS if "apply" in lacking else Verdict.WARNS,
        f"you lack permissions for {found}",
        f"sparkgen {', '.join(lacking)} will be refused",
        f"grant me in {namespace}: {every}. The ClusterRole admin, bound in the namespace, has all of them",
    )


def _level(_: Wanted, facts: ClusterFacts) -> str:
    namespace = facts.namespace if isinstance(facts.namespace, Mapping) else {}
    level = (namespace.get("metadata", {}).get("labels") or {}).get(LEVEL, "")
    enforced = f'the namespace enforces "{level}"' if level else "the namespace enforces no level"
    return f"{enforced}; pods of sparkgen are allowed"


def _room(wanted: Wanted, facts: ClusterFacts) -> str:
    if isinstance(facts.quotas, Unknown):
        return ""
    names = [needs.name_of(quota) for quota in facts.quotas]
    count = sum(pods.count for pods in needs.pods(wanted.objects) if pods.role == "executor")
    room = f"has room for a small driver and {number_of(count, 'executor')}"
    return f"{some_of(names, _SHOWN)} {room}" if names else "the namespace has no ResourceQuota"


def _limit_ranges(found: list[ObjectView]) -> Row:
    limits = [
        f"{bound} {resource} {amount} per {limit.get('type')}"
        for item in found
        for limit in (item.get("spec") or {}).get("limits") or ()
        for bound in ("min", "max")
        for resource, amount in (limit.get(bound) or {}).items()
    ]
    text = some_of(limits, 2 * _SHOWN) if limits else "there is neither a minimum nor a maximum"
    return Row("limit-ranges", Verdict.WORKS, text)


def _storage(gathered: tuple[list[ObjectView], list[ObjectView]]) -> Row:
    classes, claims = gathered
    default = next((needs.name_of(one) for one in classes if is_default(one)), "")
    waiting = [needs.name_of(one) for one in claims if (one.get("status") or {}).get("phase") == "Pending"]
    pending = f"; not bound: {some_of(waiting, _SHOWN)}" if waiting else ""
    count = f"{number_of(len(claims), 'claim')}{pending}"
    if default:
        return Row("storage", Verdict.WORKS, f"the default StorageClass is {default}; {count}")
    return Row(
        "storage",
        Verdict.WARNS,
        f"the cluster has no default StorageClass; {count}",
        "executors use the disk of their node; a document with volume claims must name a storageClassName",
        "tell us which StorageClass to use for volume claims, or make one the default",
    )


def _runtime(wanted: Wanted) -> Row:
    """The images of the pods: whether they can be pulled, the application's own pods show."""
    images = list(needs.images(needs.pods(wanted.objects)))
    return Row("runtime-image", Verdict.WORKS, some_of(images, _SHOWN))


def _preflight(facts: NamespaceFacts) -> tuple[Wanted, ClusterFacts]:
    return facts.wanted, facts.preflight


CHECKS: tuple[Check, ...] = (
    Check("kubernetes", (), lambda facts: facts.cluster.version(), _version),
    Check(
        "rights",
        ("kubernetes",),
        lambda facts: (facts.wanted.namespace, facts.missing_rights()),
        _rights,
    ),
    Check(
        "namespace",
        ("kubernetes",),
        _preflight,
        _of_preflight(
            "namespace", ("namespace",), lambda wanted, _: f"{wanted.namespace} exists", "create {namespace}"
        ),
    ),
    Check(
        "pod-security",
        ("namespace",),
        _preflight,
        _of_preflight(
            "pod-security",
            ("pod-security",),
            _level,
            "lower the level of {namespace}",
            lambda facts: facts.namespace,
        ),
    ),
    Check(
        "admission",
        ("namespace", "rights", "pod-security"),
        _preflight,
        _of_preflight(
            "admission",
            ("rights", "objects", "pods", "ownership"),
            lambda *_: "the API server accepts all objects and pods of an application",
            "let the policies of {namespace} accept these objects, or tell us what they must look like",
        ),
    ),
    Check(
        "quota",
        ("namespace",),
        _preflight,
        _of_preflight("quota", ("quota",), _room, "raise the quota of {namespace}"),
    ),
    Check("limit-ranges", ("namespace",), NamespaceFacts.limit_ranges, _limit_ranges),
    Check(
        "nodes",
        ("namespace",),
        _preflight,
        _of_preflight(
            "nodes",
            ("nodes",),
            lambda *_: "a node fits each pod",
            "add a node that fits",
            lambda facts: facts.nodes,
        ),
    ),
    Check("storage", ("namespace",), NamespaceFacts.storage, _storage),
    Check("runtime-image", ("namespace",), lambda facts: facts.wanted, _runtime),
)
"""In the order of the table."""
