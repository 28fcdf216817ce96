"""Sizes, quantities, durations and numbers: each in the grammar of the program that reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen.errors import Path
from sparkgen.grammar import GrammarError, cpu, duration, factor, memory, quantity
from sparkgen.model import sizes
from sparkgen.semantics.facts import ROLES, DocumentFacts, texts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, rule
from sparkgen.semantics.wording import refusals, shortened

MEMORY_SETTINGS = (
    "spark.driver.memory",
    "spark.driver.memoryOverhead",
    "spark.driver.minMemoryOverhead",
    "spark.executor.memory",
    "spark.executor.memoryOverhead",
    "spark.executor.minMemoryOverhead",
    "spark.executor.pyspark.memory",
    "spark.memory.offHeap.size",
)
"""Properties whose value JavaUtils.byteStringAs reads, as far as a pod's size or a start depends on them."""

CPU_SETTINGS = tuple(
    f"spark.kubernetes.{role}.{side}.cores" for role in ROLES for side in ("request", "limit")
)

DURATION_SETTINGS = (
    "spark.dynamicAllocation.cachedExecutorIdleTimeout",
    "spark.dynamicAllocation.executorIdleTimeout",
    "spark.dynamicAllocation.schedulerBacklogTimeout",
    "spark.dynamicAllocation.shuffleTracking.timeout",
    "spark.dynamicAllocation.sustainedSchedulerBacklogTimeout",
    "spark.executor.failuresValidityInterval",
    "spark.executor.heartbeatInterval",
    "spark.kubernetes.allocation.batch.delay",
    "spark.kubernetes.allocation.executor.timeout",
    "spark.locality.wait",
    "spark.network.timeout",
    "spark.rpc.askTimeout",
)

FACTOR_SETTINGS = (
    "spark.kubernetes.memoryOverheadFactor",
    "spark.driver.memoryOverheadFactor",
    "spark.executor.memoryOverheadFactor",
)

COUNT_SETTINGS: Mapping[str, int] = {
    "spark.driver.cores": 1,
    "spark.executor.cores": 1,
    "spark.task.cpus": 1,
    "spark.executor.instances": 0,
    "spark.executor.maxNumFailures": 1,
    "spark.dynamicAllocation.initialExecutors": 0,
    "spark.dynamicAllocation.minExecutors": 0,
    "spark.dynamicAllocation.maxExecutors": 0,
    "spark.kubernetes.allocation.batch.size": 1,
    "spark.kubernetes.allocation.maxPendingPods": 1,
}
"""Whole-number properties -> the least number that Spark takes."""

SWITCHES = (
    "spark.authenticate",
    "spark.decommission.enabled",
    "spark.dynamicAllocation.enabled",
    "spark.dynamicAllocation.shuffleTracking.enabled",
    "spark.eventLog.enabled",
    "spark.kubernetes.local.dirs.tmpfs",
    "spark.memory.offHeap.enabled",
    "spark.network.crypto.enabled",
    "spark.shuffle.service.enabled",
    "spark.sql.adaptive.enabled",
    "spark.storage.decommission.enabled",
    "spark.ui.enabled",
)
"""Boolean properties that are often set."""

LEAST_HEAP_MIB = 450
"""1.5 times the 300 MiB that UnifiedMemoryManager sets aside (RESERVED_SYSTEM_MEMORY_BYTES)."""

_TESTING = ("spark.testing", "spark.testing.reservedMemory", "spark.testing.memory")


@rule("SG101", ERROR)
def memory_sizes(facts: DocumentFacts) -> Iterator[Finding]:
    """Sizes that JavaUtils.byteStringAs refuses."""
    return refusals(texts(facts, "memory", MEMORY_SETTINGS), memory.to_bytes, memory.ALLOWED, "4g")


@rule("SG102", ERROR)
def amounts_of_cpu(facts: DocumentFacts) -> Iterator[Finding]:
    """Amounts of CPU that resource.ParseQuantity refuses, or that are negative."""
    return refusals(texts(facts, "cpu", CPU_SETTINGS), cpu.to_cores, cpu.ALLOWED, "500m")


def _amounts(path: Path, resources: Any) -> Iterator[tuple[Path, str]]:
    for side in ("requests", "limits"):
        for name, amount in ((resources or {}).get(side) or {}).items():
            yield (*path, side, name), str(amount)


@rule("SG103", ERROR)
def durations(facts: DocumentFacts) -> Iterator[Finding]:
    """Durations that JavaUtils.timeStringAs refuses."""
    found = texts(facts, "duration", DURATION_SETTINGS)
    return refusals(found, duration.to_microseconds, duration.ALLOWED, "60s")


@rule("SG105", ERROR)
def factors(facts: DocumentFacts) -> Iterator[Finding]:
    """Factors that are no decimal number above zero."""
    return refusals(texts(facts, "factor", FACTOR_SETTINGS), factor.parse, factor.ALLOWED, "0.1")


@rule("SG106", ERROR)
def setting_values(facts: DocumentFacts) -> Iterator[Finding]:
    """Whole numbers and switches of sparkConf that ConfigBuilder's converters refuse."""
    for name, least in COUNT_SETTINGS.items():
        text = facts.conf.get(name)
        if text is not None and not (
            re.fullmatch(r"[0-9]{1,9}", text.strip(), re.ASCII) and int(text) >= least
        ):
            allowed = f"a whole number from {least}"
            path = facts.path("sparkConf", name)
            yield Finding(
                path, f"must be {allowed}", shortened(text), allowed, f'write it as in `{name}: "2"`'
            )
    for name in SWITCHES:
        text = facts.conf.get(name)
        if text is not None and text.strip().lower() not in ("true", "false"):
            path = facts.path("sparkConf", name)
            message = "is a boolean, and Spark stops at anything except true and false"
            yield Finding(path, message, shortened(text), "true, false", f'write `{name}: "true"` or "false"')
    yield from _device_limits(facts)


def _device_limits(facts: DocumentFacts) -> Iterator[Finding]:
    """Devices that can be no limit of a pod (ResourceUtils.parseResourceRequest, ValidateQualifiedName)."""
    for name, text in facts.conf.items():
        match = re.fullmatch(r"spark\.(?:driver|executor)\.resource\.([^.]+)\.(amount|vendor)", name)
        if match is None:
            continue
        if match[2] == "amount":
            if not re.fullmatch(r"[0-9]{1,9}", text, re.ASCII):
                allowed = "a whole number"
                step = f'write it as in `{name}: "1"`'
                yield Finding(
                    facts.path("sparkConf", name), f"must be {allowed}", shortened(text), allowed, step
                )
        elif not re.fullmatch(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?", text):
            yield Finding(
                facts.path("sparkConf", name),
                "is not a domain, which Kubernetes needs, as in nvidia.com/gpu",
                shortened(text),
                "a domain in lower case",
                f"write the domain of the device plugin, as in `{name}: nvidia.com`",
            )


@rule("SG107", WARNING)
def memory_without_unit(facts: DocumentFacts) -> Iterator[Finding]:
    """A heap without a unit: MiB to one part of Spark, bytes to another (UnifiedMemoryManager, Utils)."""
    for role in ROLES:
        name = f"spark.{role}.memory"
        text = facts.properties.get(name, "").strip()
        if re.fullmatch(r"[0-9]+", text, re.ASCII):
            path = facts.place(name)
            yield Finding(
                path,
                f"has no unit; sparkgen reads it as {text} MiB, but parts of Spark read it as bytes",
                text,
                memory.ALLOWED,
                f"write `{path[-1]}: {text}m` if you mean MiB",
            )


@rule("SG108", ERROR)
def memory_below_minimum(facts: DocumentFacts) -> Iterator[Finding]:
    """Heaps with which Spark does not start (UnifiedMemoryManager.getMaxMemory)."""
    if any(name in facts.conf for name in _TESTING):
        return
    for role in ROLES:
        name = f"spark.{role}.memory"
        heap = _mib(facts.properties.get(name))
        if heap is not None and heap < LEAST_HEAP_MIB:
            yield Finding(
                facts.place(name),
                f"Spark does not start with a heap smaller than {LEAST_HEAP_MIB} MiB",
                shortened(facts.properties[name]),
                f"at least {LEAST_HEAP_MIB}m",
                "write 512m or more; for a small pod, lower `memoryOverhead` instead (default: 384m or more)",
            )


def _mib(text: str | None) -> int | None:
    """Returns a size in MiB; None if there is none or it is not valid, which another rule finds."""
    try:
        return None if text is None else memory.to_mib(text)
    except GrammarError:
        return None


@rule("SG109", ERROR)
def requests_above_limits(facts: DocumentFacts) -> Iterator[Finding]:
    """Requests larger than their limit: the API server refuses the pod (ValidateResourceRequirements)."""
    for role in ROLES:
        yield from _cores_above_limit(facts, role)
    for container in facts.containers:
        if container.typed and container.kind == "spark":
            continue
        resources = container.spec.get("resources") or {}
        for name, limit in (resources.get("limits") or {}).items():
            if container.kind == "spark" and name in ("cpu", "memory"):
                continue  # Spark's own sizes replace the requests: see SG110
            request = (resources.get("requests") or {}).get(name)
            if request is not None and _more(str(request), str(limit)):
                path = (*container.path, "resources", "requests", name)
                yield _above(path, str(request), str(limit))


def _cores_above_limit(facts: DocumentFacts, role: str) -> Iterator[Finding]:
    limit_name = f"spark.kubernetes.{role}.limit.cores"
    limit, limit_path = facts.properties.get(limit_name), facts.place(limit_name)
    if limit is None:
        limit, limit_path = _template_limit(facts, role)
    if limit is None:
        return
    request_name = f"spark.kubernetes.{role}.request.cores"
    request = facts.properties.get(request_name)
    if request is not None:
        if _more(request, limit):
            yield _above(facts.place(request_name), request, limit)
        return
    cores = facts.properties.get(f"spark.{role}.cores", "1")
    if _more(cores, limit):
        yield Finding(
            limit_path,
            f"is below the {cores} CPU that the pod requests, which is `cores` unless `coreRequest` is set",
            shortened(limit),
            f"at least {cores}",
            f'raise it to "{cores}", or set `coreRequest: "{shortened(limit)}"` of the {role}',
        )


def _template_limit(facts: DocumentFacts, role: str) -> tuple[str | None, Path]:
    """Returns a template's CPU limit, which applies if no field sets one, and its path."""
    for container in facts.containers:
        if container.role == role and container.kind == "spark" and not container.typed:
            limit = ((container.spec.get("resources") or {}).get("limits") or {}).get("cpu")
            if limit is not None:
                return str(limit), (*container.path, "resources", "limits", "cpu")
    return None, ()


def _above(path: Path, request: str, limit: str) -> Finding:
    return Finding(
        path,
        f"requests more than the limit of {shortened(limit)}, so Kubernetes refuses the pod",
        shortened(request),
        f"at most {shortened(limit)}",
        "lower the request or raise the limit",
    )


def _more(request: str, limit: str) -> bool:
    try:
        return quantity.parse(request) > quantity.parse(limit)
    except GrammarError:
        return False


@rule("SG110", WARNING)
def template_resources(facts: DocumentFacts) -> Iterator[Finding]:
    """Memory and CPU of the Spark container in a template, which Spark's own sizes replace.

    Spark does the same to its pod templates (BasicDriverFeatureStep, BasicExecutorFeatureStep).
    """
    for container in facts.containers:
        if container.typed or container.kind != "spark":
            continue
        needed = _needed_mib(facts, container.role)
        for path, text in _amounts((*container.path, "resources"), container.spec.get("resources")):
            replaced = path[-1] == "memory" or (path[-1] == "cpu" and path[-2] == "requests")
            if not replaced or (path[-1] == "memory" and _is_mib(text, needed)):
                continue
            yield _replaced_amount(container.role, path, text, needed)


def _replaced_amount(role: str, path: Path, text: str, needed: int | None) -> Finding:
    if path[-1] == "cpu":
        message = "is overridden by `coreRequest`, or else by `cores`"
        step = f"delete it, and set `coreRequest` of the {role}"
    else:
        size = f"the {needed} MiB" if needed is not None else "the memory"
        message = f"is overridden by {size} that Spark needs: heap and overhead together"
        step = f"delete it, and set `memory` or `memoryOverhead` of the {role}"
    return Finding(path, message, shortened(text), next_step=step)


def _needed_mib(facts: DocumentFacts, role: str) -> int | None:
    try:
        return sizes.memory(role, facts.properties, facts.spec["type"]).total
    except (GrammarError, ArithmeticError):  # a bad size or factor: another rule finds it
        return None


def _is_mib(text: str, mib: int | None) -> bool:
    try:
        return mib is not None and quantity.parse(text) == mib * 2**20
    except GrammarError:
        return False
