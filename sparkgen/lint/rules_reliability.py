"""Rules about valid documents whose runs may fail, hang, or fail without an explanation."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sparkgen import contract
from sparkgen.errors import Path
from sparkgen.lint.findings import (
    COST,
    INFO,
    PRODUCTION,
    WARNING,
    Finding,
    rule,
    server_rule,
    shared_rule,
    unset,
)
from sparkgen.lint.serversubject import ServerSubject
from sparkgen.lint.subject import Subject
from sparkgen.lint.view import Pod, View
from sparkgen.model import HISTORY_KIND, SERVER_KINDS, SERVICE_KIND

SHORTEST_GRACE = 60
_SPOT = ("spot", "preemptible", "interruptible")
_OOPS_END = 32 * 1024
_OOPS_GAP_END = 48 * 1024
_KEEP = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}


@rule("SG241", WARNING, PRODUCTION)
def deadline(subject: Subject) -> Iterator[Finding]:
    """A run that may hang forever."""
    if subject.ends and subject.application.deadline_seconds is None:
        yield unset(
            subject.facts.path("activeDeadlineSeconds"),
            "a run that hangs keeps its executors forever, and may hold back the next scheduled run",
            "set `activeDeadlineSeconds` to a few times the usual run time",
        )


def _on_spot(subject: Subject, pod: Pod) -> Path | None:
    """The path at which the document assigns a pod to spot nodes; None if it does not."""
    for field in ("nodeSelector", "tolerations", "affinity"):
        given = pod.spec.get(field)
        # A node affinity that avoids such nodes names them, too.
        text = json.dumps(given).lower() if given else ""
        if any(word in text for word in _SPOT) and not any(
            word in text for word in ('"notin"', '"doesnotexist"')
        ):
            places = (
                subject.facts.path(pod.role),
                subject.facts.path(pod.role, "template", "spec"),
            )
            return subject.where(places, field)
    return None


@rule("SG242", WARNING, PRODUCTION)
def driver_on_spot(subject: Subject) -> Iterator[Finding]:
    """A driver on a node that may be reclaimed, without retries."""
    path = _on_spot(subject, subject.driver)
    if path is not None and subject.ends and subject.application.retries == 0:
        yield unset(
            path,
            "the driver's node may be reclaimed, and the run is lost with it",
            "run the driver on permanent nodes, or retry it with `restartPolicy`",
        )


@rule("SG243", WARNING, PRODUCTION)
def executors_on_spot(subject: Subject) -> Iterator[Finding]:
    """Executors on such nodes that do not hand over their data before they end."""
    path = _on_spot(subject, subject.executor)
    if path is not None and not subject.facts.is_true("spark.decommission.enabled"):
        yield unset(
            path,
            "an executor whose node is reclaimed loses its shuffle files, and Spark recomputes stages",
            'set `spark.decommission.enabled` and `spark.storage.decommission.enabled` to "true"',
        )


@rule("SG244", WARNING, PRODUCTION)
def short_grace(subject: Subject) -> Iterator[Finding]:
    """Executors that hand over their data, but may be killed before they have finished."""
    seconds = subject.executor.spec.get("terminationGracePeriodSeconds", 30)
    if subject.facts.is_true("spark.decommission.enabled") and seconds < SHORTEST_GRACE:
        places = (subject.facts.path("executor"), subject.facts.path("executor", "template", "spec"))
        yield Finding(
            subject.where(places, "terminationGracePeriodSeconds"),
            f"an executor has {seconds} s to hand over its data, and is then killed",
            allowed=f"{SHORTEST_GRACE} or more",
            next_step="set `terminationGracePeriodSeconds: 120` of the executor",
        )


@rule("SG245", WARNING, PRODUCTION)
def unbounded_scratch(subject: Subject) -> Iterator[Finding]:
    """Scratch space that may fill the node's disk, whereupon the kubelet evicts pods."""
    for pod in subject.pods:
        main = next(container for container in pod.containers if container.kind == "spark")
        if "ephemeral-storage" in ((main.spec.get("resources") or {}).get("limits") or {}):
            continue
        homes = {volume.get("name"): path for path, volume in subject.facts.named_volumes(pod.role)}
        for volume in pod.spec.get("volumes") or ():
            name, empty = volume["name"], volume.get("emptyDir")
            scratch = name == contract.SCRATCH_VOLUME or name.startswith(contract.LOCAL_DIR_VOLUME_PREFIX)
            if scratch and empty is not None and not empty.get("sizeLimit"):
                yield Finding(
                    homes.get(name, subject.facts.path(pod.role, "volumeMounts")),
                    f"shuffle and spill of the {pod.role} may fill the node's disk, and get other pods "
                    "evicted",
                    next_step="mount `spark-local-dir-1`: an `emptyDir` with a `sizeLimit`, or a claim",
                    on_key=name not in homes,
                )


@rule("SG246", INFO, PRODUCTION)
def driver_priority(subject: Subject) -> Iterator[Finding]:
    """A driver that any pod of higher priority may preempt, so that hours of work are lost."""
    if not subject.driver.spec.get("priorityClassName"):
        yield unset(
            subject.facts.path("driver", "priorityClassName"),
            "any pod with a higher priority may preempt the driver, and all of its work is lost",
            "give the driver a `priorityClassName` above that of executors",
        )


@rule("SG282", WARNING, PRODUCTION)
def preemptible_driver(subject: Subject) -> Iterator[Finding]:
    """Executors with another priority class than the driver: on a full cluster, one may preempt it.

    `executorPriorityClassName` is for a lower class, so it is taken to be one beside the driver's. It has no
    effect beside a class of the executors' own.
    """
    facts = subject.facts
    typed = facts.get("executor", "priorityClassName") or facts.template("executor").get("priorityClassName")
    own, others = (role.spec.get("priorityClassName") for role in (subject.driver, subject.executor))
    lower = own and not typed and facts.get("batchSchedulerOptions", "executorPriorityClassName") is not None
    if others and others != own and not lower:
        place = ("driver", "priorityClassName") if own else ("executor", "priorityClassName")
        yield Finding(
            subject.facts.path(*place),
            "executors have another priority class than the driver: on a full cluster, an executor may "
            "preempt the driver, and all work is lost",
            str(own or others),
            next_step="give both roles the same class; if the driver's is higher, ignore this",
            on_key=not own,
        )


@shared_rule("SG247", WARNING, PRODUCTION, servers=(SERVICE_KIND, HISTORY_KIND))
def verbose_log(subject: View) -> Iterator[Finding]:
    """A log level that logs too much: it costs time, and may show data and credentials."""
    path = subject.path("logging", "level")
    level = subject.at(path)
    if level in ("DEBUG", "TRACE", "ALL"):
        yield Finding(
            path,
            "logs so much that it slows down the application, and may log data and credentials",
            level,
            "INFO, WARN, ERROR",
            "use INFO, and set `logging.loggers` for the package that you are debugging",
        )


@rule("SG248", INFO, PRODUCTION)
def event_log(subject: Subject) -> Iterator[Finding]:
    """A run that leaves no event log."""
    if not subject.facts.is_true("spark.eventLog.enabled"):
        yield unset(
            subject.property_path("spark.eventLog.enabled"),
            "when the driver ends, its UI is gone: nothing shows what was slow, or why it failed",
            "add `eventLog:` with `dir:`, for a SparkHistoryServer",
        )


@rule("SG249", WARNING, PRODUCTION)
def overlapping_runs(subject: Subject) -> Iterator[Finding]:
    """Two runs of one schedule at the same time, on the same data."""
    schedule = subject.application.schedule
    if schedule is not None and schedule["concurrencyPolicy"] == "Allow":
        yield Finding(
            ("spec", "concurrencyPolicy"),
            "a slow run and the next one may work on the same data at the same time",
            "Allow",
            "Forbid, Replace",
            "use Forbid, unless the application was written for it",
        )


@rule("SG250", WARNING, PRODUCTION)
def time_zone(subject: Subject) -> Iterator[Finding]:
    """A schedule without a time zone: it uses the time zone of the cluster's control plane."""
    schedule = subject.application.schedule
    if schedule is None or schedule.get("timeZone") is not None:
        return
    fields = schedule["schedule"].split()
    if schedule["schedule"].startswith(("@every", "@hourly")) or (
        len(fields) == 5 and fields[1] == "*" and fields[2:] == ["*"] * 3
    ):
        return
    yield unset(
        ("spec", "timeZone"),
        "no time zone is set: the hour is in the time zone of the cluster's control plane",
        "set one, such as `timeZone: Etc/UTC`",
    )


@rule("SG251", INFO, PRODUCTION)
def late_start(subject: Subject) -> Iterator[Finding]:
    """A missed run that may start at any later time."""
    schedule = subject.application.schedule
    if schedule is not None and schedule.get("startingDeadlineSeconds") is None:
        yield unset(
            ("spec", "startingDeadlineSeconds"),
            "a missed run starts when the cluster is back, no matter how late",
            "set `startingDeadlineSeconds` to how late a run may start",
        )


@rule("SG252", INFO, PRODUCTION)
def disruption_budget(subject: Subject) -> Iterator[Finding]:
    """A driver that a drain of its node evicts at once."""
    if subject.application.disruption_budget is None:
        yield unset(
            subject.facts.path("podDisruptionBudget", "enabled"),
            "draining the driver's node evicts it at once, and its work is lost",
            "set `podDisruptionBudget: {enabled: true}`: a drain then waits until it ends",
        )


@rule("SG253", WARNING, PRODUCTION)
def evictable_driver(subject: Subject) -> Iterator[Finding]:
    """A driver that an autoscaler may evict to save a node."""
    for key, text in _KEEP.items():
        if subject.driver.annotations.get(key) != text:
            places = (subject.facts.path("driver"), subject.facts.path("driver", "template", "metadata"))
            yield Finding(
                subject.where(places, "annotations", key),
                "lets an autoscaler evict the driver to save a node",
                subject.driver.annotations.get(key, ""),
                text,
                "delete it: sparkgen sets the right one",
            )


@shared_rule("SG254", WARNING, PRODUCTION, servers=SERVER_KINDS)
def required_labels(subject: View) -> Iterator[Finding]:
    """Missing labels that the repository's configuration requires."""
    labels = subject.at(("metadata", "labels")) or {}
    missing = [key for key in subject.settings.required_labels if key not in labels]
    if missing:
        yield unset(
            ("metadata", "labels"),
            f"your settings require labels that this document does not have: {', '.join(missing)}",
            f"add it: `{missing[0]}: ...`",
        )


@rule("SG260", INFO, PRODUCTION, COST)
def large_pointers(subject: Subject) -> Iterator[Finding]:
    """A heap just above the limit for compressed pointers, which holds fewer objects than a smaller heap."""
    for role in (subject.application.driver, subject.application.executor):
        place = subject.property_path(f"spark.{role.name}.memory")
        yield from _pointers(place, role.memory.heap, "use 31g, or more executors")


@server_rule("SG260", INFO, PRODUCTION, COST, kinds=(SERVICE_KIND, HISTORY_KIND))
def large_pointers_of_server(subject: ServerSubject) -> Iterator[Finding]:
    """A server's heap just above that limit."""
    return _pointers(subject.path("memory"), subject.server.heap, "use 31g")


def _pointers(path: Path, heap: int, step: str) -> Iterator[Finding]:
    """The finding about a heap (in MiB) just above the limit for compressed pointers, if it is."""
    if _OOPS_END <= heap < _OOPS_GAP_END:
        yield Finding(
            path,
            "from 32g, pointers take twice the space: a heap of up to 48g holds less than one of 31g",
            allowed="at most 31g, or 48g and more",
            next_step=step,
        )


@rule("SG255", WARNING, PRODUCTION)
def unlimited_result(subject: Subject) -> Iterator[Finding]:
    """Results of unlimited size, with which the driver runs out of memory."""
    text = subject.facts.properties.get("spark.driver.maxResultSize", "").strip()
    if text.rstrip("bkmgtpBKMGTP") == "0":
        yield Finding(
            subject.property_path("spark.driver.maxResultSize"),
            "a result larger than the driver's memory kills the driver, instead of failing with a message",
            text,
            "a size below the driver's memory",
            "set a limit; the default is 1g",
        )


@rule("SG256", WARNING, PRODUCTION)
def small_overhead(subject: Subject) -> Iterator[Finding]:
    """Python or R with little memory outside the heap: its processes use this memory, and may be killed."""
    memory = subject.application.executor.memory
    foreign = subject.application.language in ("Python", "R")
    if foreign and not memory.pyspark and memory.overhead * 5 < memory.heap:
        given = subject.property_path("spark.executor.memoryOverhead")
        factor = subject.property_path("spark.kubernetes.memoryOverheadFactor")
        yield Finding(
            given if subject.has(given) or not subject.has(factor) else factor,
            f"the processes of {subject.application.language} have {memory.overhead} MiB outside a heap of "
            f"{memory.heap} MiB, and are killed if they need more",
            allowed="a fifth of the heap or more",
            next_step="delete it: Spark's default is 40 percent of the heap",
        )


@rule("SG272", WARNING, PRODUCTION)
def notebook_without_claim(subject: Subject) -> Iterator[Finding]:
    """A notebook whose files are lost when its pod ends."""
    notebook = subject.application.notebook
    if notebook is not None and notebook.claim is None:
        yield unset(
            subject.path("notebook", "claim"),
            "all files of the notebook are lost when its pod ends",
            "set a PersistentVolumeClaim: `claim: ...`",
        )
