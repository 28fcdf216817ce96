"""Turns facts into findings. Every check is a small pure function; all checks run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime

from sparkgen.cluster.annotations import controller_of
from sparkgen.codes import Code
from sparkgen.errors import Severity
from sparkgen.objects import ObjectView
from sparkgen.phrases import some_of
from sparkgen.preflight import needs, quota
from sparkgen.preflight.checks_nodes import fits, images, storage
from sparkgen.preflight.values import ClusterFacts, Finding, Reference, Unknown, Wanted, unchecked
from sparkgen.runtime.kubernetes.refusals import refusal_in

OLDEST = (1, 30)
"""The oldest Kubernetes that the end-to-end tests have run on: docs/compatibility.md."""

IMAGE_VOLUMES = (1, 35)
"""The first Kubernetes version with image volumes on by default."""
IMAGE_VOLUMES_AT_ALL = (1, 31)
"""The first Kubernetes version with image volumes, behind the feature gate ImageVolume."""

LEVEL = "pod-security.kubernetes.io/enforce"
"""Label of a namespace: the Pod Security level that it enforces."""

_LACKING = re.compile(r'cannot (\w+) resource "([^"]+)"')
_ESCALATION = "attempting to grant RBAC permissions not currently held"
_RIGHTS = re.compile(f"{_LACKING.pattern}|{_ESCALATION}")
_NO_DRY_RUN = "does not support dry run"
_USER_LACKS = "is forbidden: User"
_FORBIDDEN, _CONFLICT, _NOT_FOUND = 403, 409, 404
_SHOWN = 5

Check = Callable[[Wanted, ClusterFacts], Iterable[Finding]]


def judge(wanted: Wanted, facts: ClusterFacts) -> list[Finding]:
    """Returns all findings: those that stop an apply first, and what could not be checked last."""
    checks = CHECKS if facts.namespace is not None else BEFORE_THE_NAMESPACE
    found = [finding for check in checks for finding in check(wanted, facts)]
    return in_order(found)


def in_order(found: Iterable[Finding]) -> list[Finding]:
    """Returns each finding once: those that stop an apply first, and what could not be checked last."""
    order = (Severity.ERROR, Severity.WARNING, Severity.INFO)
    return sorted(dict.fromkeys(found), key=lambda finding: order.index(finding.severity))


# --- the cluster and the namespace ------------------------------------------------------------------------


def version(_: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds a Kubernetes that is older than the driver's pod needs."""
    if isinstance(facts.version, Unknown):
        yield unchecked("version", "the version of Kubernetes", facts.version)
        return
    number = _number(facts.version)
    if number and number < OLDEST:
        yield _error(
            "version",
            f"Kubernetes is {facts.version}, but drivers need {OLDEST[0]}.{OLDEST[1]} or newer: the "
            "allocator is a sidecar that starts before Spark",
            "choose another cluster with --context, or upgrade this one",
        )


def _number(version: str) -> tuple[int, int] | None:
    """The major and minor number of the cluster's version; None if the text has no such numbers."""
    match = re.match(r"v?([0-9]{1,9})\.([0-9]{1,9})", version)
    return (int(match[1]), int(match[2])) if match else None


def image_volumes(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds image volumes (`delivery.mount: image`) where the cluster lacks them or has them off."""
    found = None if isinstance(facts.version, Unknown) else _number(facts.version)
    if found is None or not any(_mounts_images(item) for item in wanted.objects):
        return
    step = "use delivery.mount: fetch"
    if found < IMAGE_VOLUMES_AT_ALL:
        text = f"delivery.mount is image, but Kubernetes {facts.version} has no image volumes"
        yield _error("image-volumes", text, step)
    elif found < IMAGE_VOLUMES:
        text = (
            f"delivery.mount is image, but in Kubernetes {facts.version} image volumes are off unless the "
            "cluster's administrator has set the feature gate ImageVolume"
        )
        yield Finding("image-volumes", Severity.WARNING, text, f"ask the administrator, or {step}")


def _mounts_images(item: ObjectView) -> bool:
    template = needs.driver(item)
    volumes = () if template is None else template["spec"].get("volumes") or ()
    return any("image" in volume for volume in volumes)


def namespace(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds a namespace that does not exist, or that is being deleted."""
    if isinstance(facts.namespace, Unknown):
        yield unchecked("namespace", f"whether the namespace {wanted.namespace} exists", facts.namespace)
    elif facts.namespace is None:
        step = (
            f"create it with kubectl create namespace {wanted.namespace}, or choose another one with "
            "--namespace"
        )
        yield _error("namespace", f"the namespace {wanted.namespace} does not exist", step)
    elif facts.namespace["metadata"].get("deletionTimestamp"):
        step = "wait until it is gone and create it again, or choose another one"
        yield _error("namespace", f"the namespace {wanted.namespace} is being deleted", step)


def gangs(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds executors that start as a gang of Kubernetes' own, where the cluster has no PodGroups."""
    if isinstance(facts.gangs, Unknown):
        yield unchecked("gangs", "whether the cluster has PodGroups of scheduling.k8s.io", facts.gangs)
    elif not facts.gangs and needs.has_gang(wanted.objects):
        yield _error(
            "gangs",
            "batchScheduler is kube-scheduler, but the cluster has no PodGroups of scheduling.k8s.io",
            "turn gangs on in the cluster (docs/queues/kubernetes.md), or leave out batchScheduler",
        )


def controller(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds objects that another controller applies, such as Argo CD."""
    found = {controller_of(item) for item in facts.live.values() if isinstance(item, Mapping)}
    for name in sorted(found - {""}):
        yield Finding(
            "controller",
            Severity.WARNING,
            f"{name} applies {wanted.name}, and reverts manual changes at its next sync",
            "commit the rendered files instead: sparkgen render -o DIR",
        )


# --- rights, and objects that the API server refuses ------------------------------------------------------


def rights(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds rights that the user lacks, in one finding; those that the Role grants are another finding."""
    lacking = dict.fromkeys(
        found.groups()
        for refusal in facts.refused.values()
        if refusal.status == _FORBIDDEN and (found := _LACKING.search(refusal.said))
    )
    if lacking:
        names = ", ".join(f"{verb} {resource}" for verb, resource in lacking)
        yield _error(
            "rights",
            f"you lack permissions in {wanted.namespace}: {names}",
            "ask for a Role with them (docs/commands.md, Permissions), or choose another --context or "
            "--namespace",
        )
    if any(_ESCALATION in refusal.said for refusal in facts.refused.values()):
        yield _error(
            "rights",
            f"you cannot grant the permissions in the Role {wanted.name} because you lack them yourself",
            "ask for the same permissions on pods, secrets and events (or for bind and escalate on roles), "
            "or have someone else apply the account and the Role once, and set serviceAccount.create and "
            "rbac.create to false",
        )


def objects(_: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds objects that the API server or a policy of the cluster refuses."""
    for (kind, name), refusal in facts.refused.items():
        if refusal.status == _FORBIDDEN and _RIGHTS.search(refusal.said):
            continue  # `rights` reports it
        if kind == "RoleBinding" and refusal.status == _NOT_FOUND:
            continue  # its Role does not exist yet: a user who may grant the Role's rights may bind it
        if refusal.status == _CONFLICT:
            step = "leave these fields to their managers, or take them over with --force-conflicts"
            yield _error("conflict", f"{kind} {name}: {refusal.said}", step)
        elif _NO_DRY_RUN in refusal.said:
            yield unchecked("objects", f"{kind} {name}", Unknown(refusal.message))
        else:
            yield _refused("objects", "", refusal.said, "fix what the message names, and apply again")


def _refused(kind: str, whose: str, said: str, step: str) -> Finding:
    """The finding for a refusal, in the server's words. If a webhook failed, no document could fix it."""
    known = refusal_in(said)
    if known is not None and known.code is Code.WEBHOOK_FAILED:
        step = "tell the cluster's administrators, and apply again when the webhook answers"
        return _error(kind, f"{whose}{known.cause}: {known.detail(said)}", step)
    return _error(kind, f"{whose}{said}", step)


# --- pods -------------------------------------------------------------------------------------------------


def pod_security(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds pods that the namespace's Pod Security level refuses."""
    if not isinstance(facts.namespace, Mapping):
        return
    level = (facts.namespace["metadata"].get("labels") or {}).get(LEVEL, "privileged")
    if level == "privileged":
        return
    from sparkgen.preflight import security  # noqa: PLC0415 - the rules of lint, for namespaces with a level

    found = list(dict.fromkeys(security.violations(wanted.document, level)))
    if found:
        yield _error(
            "pod-security",
            f'the namespace {wanted.namespace} allows only pods of the level "{level}": '
            f"{some_of(found, _SHOWN, '; ')}",
            "run sparkgen lint --profile pss-restricted to see each violation with its line, or use "
            "another namespace",
        )


def pods(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds pods that admission refuses: for a policy, LimitRange, quota, or a missing priority class."""
    for role, refusal in facts.pods.items():
        if refusal is None:
            continue
        if _USER_LACKS in refusal.said or _NO_DRY_RUN in refusal.said:
            what = f"whether the cluster's policies allow the {role}'s pod"
            yield unchecked("pods", what, Unknown(refusal.message))
            continue
        known = refusal_in(refusal.said)
        code = known.code if known else ""
        if code == Code.POD_SECURITY_VIOLATED and any(pod_security(wanted, facts)):
            continue
        if code == Code.QUOTA_EXCEEDED:
            if needs.starts(wanted, facts) and not any(quotas(wanted, facts)):
                step = (
                    "delete pods that you no longer need, ask for more quota, or request less in the document"
                )
                yield _error("quota", f"the {role}'s pod: {refusal.said}", step)
        elif code != Code.SERVICE_ACCOUNT_NOT_FOUND:  # `references` reports it
            yield _refused(
                "pods", f"the {role}'s pod is refused: ", refusal.said, "fix what the message names"
            )


def quotas(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds quotas without room for the driver, or for all executors that it starts with."""
    if isinstance(facts.quotas, Unknown):
        yield unchecked("quota", f"the quotas of {wanted.namespace}", facts.quotas)
        return
    if not needs.starts(wanted, facts):
        return
    groups = needs.pods(wanted.objects)
    wished = sum(group.count for group in groups[1:])
    for short in quota.shortages(facts.quotas, groups):
        amounts = (
            f"{short.resource}: {quota.shown(short.resource, short.needed)} needed, "
            f"{quota.shown(short.resource, short.left)} of {quota.shown(short.resource, short.hard)} left "
            f"in ResourceQuota {short.quota}"
        )
        if short.fit is None:
            step = (
                f"run kubectl describe resourcequota {short.quota} -n {wanted.namespace} to see what uses it"
            )
            yield _error("quota", f"the quota has no room for the driver; {amounts}", step)
        else:
            yield Finding(
                "quota",
                Severity.WARNING,
                f"the quota has room for {short.fit} of {wished} executors, and the others will wait; "
                f"{amounts}",
                "ask for more quota, or lower spec.executor.instances; the application runs with fewer "
                "executors meanwhile",
            )


def references(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds Secrets, ConfigMaps, claims and accounts that pods need and that do not exist, or lack a key."""
    unknown: dict[str, list[str]] = {}
    severity = Severity.WARNING if _has_no_pod_yet(wanted) else Severity.ERROR
    for one, there in facts.there.items():
        if isinstance(there, Unknown):
            unknown.setdefault(there.said, []).append(f"{one.kind} {one.name}")
        elif not there:
            yield Finding("references", severity, _missing(one, wanted), _create(one, wanted))
        elif has := facts.keys.get((one.kind, one.name)):
            for key, field in one.keys:
                if key not in has:
                    text = _without_key(one, key, has)
                    yield Finding("references", severity, text, f"fix {field}, or add the key")
    for reason, names in unknown.items():
        yield unchecked("references", f"whether {', '.join(names)} exist", Unknown(reason))


def _without_key(one: Reference, key: str, has: Iterable[str]) -> str:
    there = ", ".join(sorted(has)[:_SHOWN])
    return f"the {one.used_by} needs the key {key} of the {one.kind} {one.name}, which has {there}"


def _has_no_pod_yet(wanted: Wanted) -> bool:
    """Whether a Deployment has 0 replicas. A suspended Job does not count: a queue may start it."""
    drivers = [item for item in wanted.objects if needs.driver(item) is not None]
    return any(item["kind"] == "Deployment" and item["spec"].get("replicas") == 0 for item in drivers)


def _missing(one: Reference, wanted: Wanted) -> str:
    return f"the {one.used_by} needs the {one.kind} {one.name}, which does not exist in {wanted.namespace}"


def _create(one: Reference, wanted: Wanted) -> str:
    what = {
        "Secret": f"kubectl create secret generic {one.name} -n {wanted.namespace} ...; see docs/secrets.md",
        "ServiceAccount": "create it, or set serviceAccount.create: true to have sparkgen render it",
    }
    return what.get(one.kind, f"create it; {one.used_by} pods wait until it exists")


def expired(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds a run that has expired (`spec.run.expiresAt`): it would fail at once."""
    text = needs.expires_at(wanted.objects)
    if text and needs.starts(wanted, facts) and datetime.fromisoformat(text) <= facts.now:
        step = "set spec.run.expiresAt to a later date, or delete it"
        yield _error("expired", f"the run expired at {text}: it would fail at once", step)


def again(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds a run whose ConfigMap exists and whose Job does not: it was applied before, and runs again."""
    for item in wanted.objects:
        name = str(item["metadata"]["name"])
        files = facts.live.get(("ConfigMap", f"{name}-conf"))
        if item["kind"] == "Job" and isinstance(files, Mapping) and needs.starts(wanted, facts):
            yield Finding(
                "again",
                Severity.WARNING,
                f"{name} was applied before, but its Job no longer exists (time to live, or deleted by "
                "hand): it runs again",
            )


def beside(wanted: Wanted, facts: ClusterFacts) -> Iterator[Finding]:
    """Finds another run that is active while this run starts: there will be two drivers."""
    if isinstance(facts.active, Unknown) or not facts.active or not needs.starts(wanted, facts):
        return
    names = some_of(facts.active, _SHOWN)
    yield Finding(
        "beside",
        Severity.WARNING,
        f"the document has changed, so this starts another run while an earlier one is active: {names}",
        f"to end the earlier run first: sparkgen kill {wanted.name} --run {facts.active[0]} -n "
        f"{wanted.namespace}",
    )


BEFORE_THE_NAMESPACE: tuple[Check, ...] = (version, image_volumes, namespace)
CHECKS: tuple[Check, ...] = (
    *BEFORE_THE_NAMESPACE,
    gangs,
    controller,
    rights,
    objects,
    pod_security,
    pods,
    quotas,
    references,
    expired,
    beside,
    again,
    fits,
    storage,
    images,
)


def _error(check: str, message: str, next_step: str) -> Finding:
    return Finding(check, Severity.ERROR, message, next_step)
