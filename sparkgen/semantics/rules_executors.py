"""How many executors there are, and when Spark may change that."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkgen.grammar import GrammarError, duration, memory
from sparkgen.model.properties import DYNAMIC_ALLOCATION
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.wording import shortened

MINIMUM = "spark.dynamicAllocation.minExecutors"
INITIAL = "spark.dynamicAllocation.initialExecutors"
MAXIMUM = "spark.dynamicAllocation.maxExecutors"
INSTANCES = "spark.executor.instances"
TRACKING = "spark.dynamicAllocation.shuffleTracking.enabled"


def _count(facts: DocumentFacts, name: str) -> int | None:
    """A whole-number property; None if it is not set or is no number, which another rule finds."""
    text = facts.properties.get(name, "").strip()
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text, re.ASCII) else None


@rule("SG111", ERROR)
def executor_bounds(facts: DocumentFacts) -> Iterator[Finding]:
    """Bounds with which Spark does not start.

    Source: ExecutorAllocationManager.validateSettings; SparkSubmitArguments.validateSubmitArguments for a
    fixed number of executors.
    """
    if not facts.is_true(DYNAMIC_ALLOCATION):
        if _count(facts, INSTANCES) == 0:
            yield Finding(
                facts.place(INSTANCES),
                "requests no executors, which Spark refuses without dynamic allocation",
                "0",
                "a whole number from 1",
                "write 1 or more, or set `dynamicAllocation.enabled: true`",
            )
        return
    least, most = _count(facts, MINIMUM) or 0, _count(facts, MAXIMUM)
    if most == 0:
        yield Finding(
            facts.place(MAXIMUM),
            "allows no executors, which Spark refuses",
            "0",
            "a whole number from 1",
            "write the maximum number of executors, or delete it",
        )
    elif most is not None and least > most:
        yield Finding(
            facts.place(MAXIMUM),
            f"is less than `minExecutors`, which is {least}: Spark refuses that",
            str(most),
            f"a whole number from {least}",
            "raise `maxExecutors` or lower `minExecutors`",
        )
    elif most is not None:
        yield from _starts_above(facts, most)


def _starts_above(facts: DocumentFacts, most: int) -> Iterator[Finding]:
    """More executors at the start than `most` (SchedulerBackendUtils.getInitialTargetExecutorNumber)."""
    for name in (INITIAL, INSTANCES):
        number = _count(facts, name)
        if number is not None and number > most:
            yield Finding(
                facts.place(name),
                f"starts with more executors than `maxExecutors`, which is {most}: Spark refuses that",
                str(number),
                f"at most {most}",
                f"lower it to {most}, or raise `maxExecutors`",
            )


@rule("SG112", WARNING)
def executor_numbers(facts: DocumentFacts) -> Iterator[Finding]:
    """Numbers that contradict each other: Spark takes the larger (getDynamicAllocationInitialExecutors)."""
    yield from _switched_off(facts)
    yield from _batches(facts)
    yield from _memory_steps(facts)
    yield from _pool_timeout(facts)
    if not facts.is_true(DYNAMIC_ALLOCATION):
        return
    least, most = _count(facts, MINIMUM) or 0, _count(facts, MAXIMUM)
    if most is not None and (most == 0 or least > most):
        return  # an error already
    for name in (INITIAL, INSTANCES):
        number = _count(facts, name)
        if number is None:
            continue
        if 0 < number < least:
            yield Finding(
                facts.place(name),
                f"is less than `minExecutors`, and Spark starts with {least} anyway",
                str(number),
                f"from {least}",
                "delete it, or lower `minExecutors`",
            )


def _switched_off(facts: DocumentFacts) -> Iterator[Finding]:
    section = facts.get("dynamicAllocation") or {}
    others = [name for name in section if name != "enabled"]
    if others and "enabled" not in section and DYNAMIC_ALLOCATION not in facts.conf:
        yield about_key(
            facts.path("dynamicAllocation"),
            f"dynamic allocation is not turned on, so `{others[0]}` has no effect",
            "add `enabled: true` below `dynamicAllocation:`, or delete the section",
        )


def _batches(facts: DocumentFacts) -> Iterator[Finding]:
    batch = _count(facts, "spark.kubernetes.allocation.batch.size")
    pending = _count(facts, "spark.kubernetes.allocation.maxPendingPods")
    if batch is not None and pending is not None and pending < batch:
        yield Finding(
            facts.place("spark.kubernetes.allocation.maxPendingPods"),
            f"is less than `batchSize`, so no batch ever gets all its {batch} pods",
            str(pending),
            f"from {batch}",
            f"raise it to {batch} or more, or lower `batchSize`",
        )


def _memory_steps(facts: DocumentFacts) -> Iterator[Finding]:
    """Steps that add nothing, or of which the maximum allows no whole one."""
    path = ("allocation", "memoryOverheadRecovery")
    section = facts.get(*path) or {}
    try:
        step, most = (memory.to_mib(section[name]) for name in ("step", "maxIncrease"))
    except (KeyError, GrammarError):
        return  # the field is absent, or another rule reports its value
    if not step:
        message = "is less than 1 MiB, so executors never get more memory"
        yield Finding(
            (*facts.path(*path), "step"), message, section["step"], "at least 1m", "write `step: 512m`"
        )
    elif most < step:
        yield Finding(
            (*facts.path(*path), "maxIncrease"),
            f"is less than `step`, so executors never get {section['step']} more",
            section["maxIncrease"],
            f"from {section['step']}",
            "raise it, or lower `step`",
        )


def _pool_timeout(facts: DocumentFacts) -> Iterator[Finding]:
    if facts.get("allocation", "poolTimeout") is not None and not facts.get("executor", "pools"):
        path = facts.path("allocation", "poolTimeout")
        yield about_key(path, "has no effect without `executor.pools`", "add pools, or delete it")


@rule("SG127", WARNING)
def shuffle_service(facts: DocumentFacts) -> Iterator[Finding]:
    """A shuffle service that executors would look for at the address of their own pods.

    Source: BlockManager.registerWithExternalShuffleServer: three tries, then the executor exits.
    """
    name = "spark.shuffle.service.enabled"
    if facts.get("shuffleService") is not None:
        return
    beside = any(
        container.kind == "sidecar"
        or container.spec.get("restartPolicy") == "Always"  # an init container that stays
        for container in facts.containers
        if container.role == "executor"
    )
    if facts.is_true(name) and not beside:
        yield Finding(
            facts.place(name),
            "executors look for the service at their own pod's address, do not find it, and exit",
            facts.properties[name],
            "false",
            "delete it: dynamic allocation tracks shuffle data instead; or use `shuffleService`",
        )


@rule("SG113", ERROR)
def shuffle_data(facts: DocumentFacts) -> Iterator[Finding]:
    """Dynamic allocation that would lose shuffle data: Spark does not start.

    Source: ExecutorAllocationManager.validateSettings. Tracking is on unless the document turns it off. A
    shuffle manager or shuffle I/O of someone else may keep the data elsewhere: no finding then.
    """
    if not facts.is_true(DYNAMIC_ALLOCATION) or facts.is_true(TRACKING, default=True):
        return
    if facts.get("shuffleService") is not None:
        return
    keeps = (
        facts.is_true("spark.shuffle.service.enabled")
        or (
            facts.is_true("spark.decommission.enabled")
            and facts.is_true("spark.storage.decommission.shuffleBlocks.enabled", default=True)
        )
        or "spark.shuffle.sort.io.plugin.class" in facts.conf
        or facts.conf.get("spark.shuffle.manager", "sort") not in ("sort", "tungsten-sort")
        or facts.is_true("spark.dynamicAllocation.testing")
    )
    if not keeps:
        yield Finding(
            facts.place(TRACKING),
            "without it, shuffle data is lost when an executor is removed, so Spark does not start",
            facts.properties[TRACKING],
            "true",
            "delete it; or turn on `spark.decommission.enabled`",
        )


@rule("SG114", ERROR)
def allocation_timers(facts: DocumentFacts) -> Iterator[Finding]:
    """Timers of dynamic allocation that Spark refuses: it counts whole seconds, and 0.5 s counts as 0.

    Source: ExecutorAllocationManager.validateSettings, and checkValue of the others in the configuration.
    """
    if not facts.is_true(DYNAMIC_ALLOCATION):
        return
    prefix = "spark.dynamicAllocation."
    for field, least in (
        ("schedulerBacklogTimeout", 1),
        ("sustainedSchedulerBacklogTimeout", 1),
        ("executorIdleTimeout", 0),
        ("cachedExecutorIdleTimeout", 0),
        ("shuffleTracking.timeout", 0),
    ):
        text = facts.properties.get(prefix + field)
        seconds = _seconds(text)
        if text is not None and seconds is not None and seconds < least:
            message = (
                "is less than one second, and Spark counts whole seconds here" if least else "is negative"
            )
            allowed = "1s or more" if least else "0s or more"
            yield Finding(facts.place(prefix + field), message, shortened(text), allowed, f"write {allowed}")


def _seconds(text: str | None) -> int | None:
    try:
        return None if text is None else duration.to_seconds(text)
    except GrammarError:
        return None


@rule("SG115", ERROR)
def task_larger_than_executor(facts: DocumentFacts) -> Iterator[Finding]:
    """Tasks that need more cores than an executor has (ResourceUtils.validateTaskCpusLargeEnough)."""
    cpus, cores = _count(facts, "spark.task.cpus"), _count(facts, "spark.executor.cores")
    has = 1 if cores is None else cores
    if cpus is not None and has and cpus > has:
        yield Finding(
            facts.path("sparkConf", "spark.task.cpus"),
            f"each task needs {cpus} cores, but an executor has {has}: Spark does not start",
            str(cpus),
            f"at most {has}",
            f"set `executor.cores: {cpus}` or more, or lower `spark.task.cpus`",
        )


@rule("SG116", WARNING)
def unbounded(facts: DocumentFacts) -> Iterator[Finding]:
    """Dynamic allocation without an upper bound: one query can fill the cluster."""
    if facts.is_true(DYNAMIC_ALLOCATION) and MAXIMUM not in facts.properties:
        typed = facts.get("dynamicAllocation", "enabled") is not None
        yield about_key(
            facts.path("dynamicAllocation") if typed else facts.path("sparkConf", DYNAMIC_ALLOCATION),
            "without `maxExecutors`, one large query can request thousands of pods",
            "add `maxExecutors`, with the most that the application ever needs",
        )


@rule("SG325", ERROR)
def pools(facts: DocumentFacts) -> Iterator[Finding]:
    """Pools of nodes that contradict each other, their executors or the queue."""
    path, found = facts.path("executor", "pools"), facts.get("executor", "pools") or ()
    names: set[str] = set()
    own = facts.get("executor", "nodeSelector") or {}
    for index, pool in enumerate(found):
        if pool["name"] in names:
            message = "is the name of two pools"
            step = "give each pool a name of its own"
            yield Finding((*path, index, "name"), message, pool["name"], "a new name", step)
        names.add(pool["name"])
        for key, value in (pool.get("nodeSelector") or {}).items():
            if key in own and str(own[key]) != str(value):
                yield Finding(
                    (*path, index, "nodeSelector", key),
                    "no node has both this label and that of `executor.nodeSelector`",
                    str(value),
                    str(own[key]),
                    "delete the label in `executor.nodeSelector`, which is for all pools",
                )
    total = sum(pool.get("share") or 0 for pool in found)
    if total > 100:
        message = "are more than all executors"
        yield Finding(path, message, f"{total} percent", "at most 100 percent together", "lower the shares")
    options = facts.get("batchSchedulerOptions") or {}
    if found and facts.get("batchScheduler") == "yunikorn" and options.get("minExecutors") != 0:
        yield about_key(
            path,
            "YuniKorn reserves places for executors on nodes of any pool",
            "add `minExecutors: 0` to `batchSchedulerOptions`, so that it reserves none",
        )
