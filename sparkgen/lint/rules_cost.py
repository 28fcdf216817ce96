"""Rules about unnecessary costs. Thresholds are in `Settings`; all sizes in MiB."""

from __future__ import annotations

from collections.abc import Iterator

from sparkgen.grammar import GrammarError
from sparkgen.grammar.duration import to_seconds
from sparkgen.grammar.quantity import parse as to_number
from sparkgen.lint.findings import COST, ERROR, INFO, PRODUCTION, WARNING, Finding, rule, unset
from sparkgen.lint.subject import Subject
from sparkgen.model.application import Role
from sparkgen.properties import HADOOP
from sparkgen.semantics.facts import DocumentFacts

LONGEST_IDLE = 600
MANY = 20
CIPHER_SUITES = "dfs.encrypt.data.transfer.cipher.suites"
FAST_SUITE = "AES/CTR/NoPadding"


@rule("SG261", WARNING, COST)
def fixed_fleet(subject: Subject) -> Iterator[Finding]:
    """Many executors that stay until the end, whether there is work for them or not."""
    executors, least = subject.application.executors, subject.settings.fixed_executors
    if not executors.dynamic and executors.instances >= least:
        yield Finding(
            subject.property_path("spark.executor.instances"),
            "all of them stay until the end, even while a single slow task runs",
            str(executors.instances),
            f"fewer than {least}, or dynamic allocation",
            "set `dynamicAllocation` with this number as `maxExecutors`",
        )


@rule("SG262", INFO, COST)
def idle_executors(subject: Subject) -> Iterator[Finding]:
    """Executors that cost money long after their last task."""
    if not subject.application.executors.dynamic:
        return
    names = {"executorIdleTimeout": "60s", "cachedExecutorIdleTimeout": "infinity"}
    for field, default in names.items():
        name = f"spark.dynamicAllocation.{field}"
        text = subject.facts.properties.get(name, default)
        seconds = _seconds(text)
        if seconds is None or seconds > LONGEST_IDLE:
            shown = "forever" if seconds is None else f"for {text}"
            what = "an executor with cached data" if field.startswith("cached") else "an idle executor"
            yield Finding(
                subject.property_path(name)
                if name in subject.facts.properties
                else subject.facts.path("dynamicAllocation", field),
                f"{what} is kept {shown} after its last task",
                text if name in subject.facts.properties else "",
                f"at most {LONGEST_IDLE} s",
                f"set `{field}: 10m`, or less",
            )


def _seconds(text: str) -> int | None:
    """A duration in seconds; None for one without an end."""
    try:
        return to_seconds(text)
    except GrammarError:
        return None


@rule("SG263", WARNING, COST)
def high_minimum(subject: Subject) -> Iterator[Finding]:
    """A minimum of executors that cost money while there is nothing to do."""
    executors, most = subject.application.executors, subject.settings.min_executors
    if executors.dynamic and executors.minimum >= most:
        yield Finding(
            subject.property_path("spark.dynamicAllocation.minExecutors"),
            "this many executors stay, even while there is nothing to do",
            str(executors.minimum),
            f"fewer than {most}",
            "use `initialExecutors` for a quick start, and a small minimum",
        )


@rule("SG264", WARNING, COST)
def over_requested(subject: Subject) -> Iterator[Finding]:
    """More CPU than tasks can use. A driver is not checked: it runs no tasks, but its threads use the CPU."""
    role = subject.application.executor
    if to_number(role.core_request) > role.cores:
        yield Finding(
            subject.property_path("spark.kubernetes.executor.request.cores"),
            f"Spark runs at most {role.cores} tasks at a time: the rest of the CPU is paid for, and idle",
            role.core_request,
            f"at most {role.cores}",
            "delete it, or raise `cores`",
        )


@rule("SG265", WARNING, COST)
def memory_per_core(subject: Subject) -> Iterator[Finding]:
    """More memory per core than nodes have, so that their other cores cannot be used."""
    role, most = subject.application.executor, subject.settings.memory_per_core
    if not role.spec.get("gpu") and role.memory.total > most * max(role.cores, 1):
        yield Finding(
            subject.property_path("spark.executor.memory"),
            f"{role.memory.total // max(role.cores, 1)} MiB per core is more than most nodes have: "
            "their other cores stay unused",
            allowed=f"at most {most} MiB per core",
            next_step="give the executor more cores, or less memory",
        )


@rule("SG266", INFO, COST)
def small_executors(subject: Subject) -> Iterator[Finding]:
    """Many executors with one core: each has its own JVM, overhead and copies of broadcasts."""
    executors, role = subject.application.executors, subject.application.executor
    most = executors.maximum if executors.maximum is not None else executors.initial
    if role.cores == 1 and most >= MANY:
        yield Finding(
            subject.property_path("spark.executor.cores"),
            f"{most} executors with one core need as many JVMs, overheads and copies of broadcast data",
            allowed="2 to 5",
            next_step="use `cores: 4` with four times the memory, and a quarter of the executors",
        )


@rule("SG267", ERROR, COST, PRODUCTION)
def budget(subject: Subject) -> Iterator[Finding]:
    """More resources than the repository's configuration allows one application (`settings.max...`)."""
    executors, settings = subject.application.executors, subject.settings
    asked = (settings.max_executors, settings.max_cores, settings.max_memory)
    if executors.maximum is None:
        if any(limit is not None for limit in asked):
            path = subject.facts.path("dynamicAllocation", "maxExecutors")
            yield unset(path, "has no upper limit, but the budget has one", "set `maxExecutors`")
        return
    path = subject.property_path(
        "spark.dynamicAllocation.maxExecutors" if executors.dynamic else "spark.executor.instances"
    )
    driver, role = subject.application.driver, subject.application.executor
    totals = (
        ("executors", executors.maximum, settings.max_executors),
        ("cores", _cores(driver) + executors.maximum * _cores(role), settings.max_cores),
        ("MiB of memory", driver.memory.total + executors.maximum * role.memory.total, settings.max_memory),
    )
    for what, total, limit in totals:
        if limit is not None and total > limit:
            yield Finding(
                path,
                f"with all executors, it uses {total:g} {what}, but one application may use only {limit}",
                allowed=f"at most {limit} {what}",
                next_step="lower the number or the size of executors, or have the budget raised",
            )


def _cores(role: Role) -> float:
    return float(to_number(role.core_request))


@rule("SG268", WARNING, COST)
def driver_gpu(subject: Subject) -> Iterator[Finding]:
    """A GPU for the driver, which runs no tasks."""
    if subject.application.driver.spec.get("gpu"):
        message = "the driver runs no tasks, but holds a GPU until the end"
        path = subject.facts.path("driver", "gpu")
        yield unset(path, message, "delete it, unless your own code in the driver uses it")


@rule("SG269", INFO, COST)
def large_driver(subject: Subject) -> Iterator[Finding]:
    """A very large driver, although it only plans, and executors do the work."""
    role, settings = subject.application.driver, subject.settings
    if role.cores > settings.driver_cores:
        yield Finding(
            subject.property_path("spark.driver.cores"),
            "the driver plans, and executors do the work: it rarely uses this many cores",
            str(role.cores),
            f"at most {settings.driver_cores}",
            "use fewer cores, or more executors",
        )
    if role.memory.heap > settings.driver_memory:
        yield Finding(
            subject.property_path("spark.driver.memory"),
            "a driver this large usually means that data is collected into it",
            allowed=f"at most {settings.driver_memory} MiB",
            next_step="write results from the executors, instead of collecting them",
        )


@rule("SG280", WARNING, PRODUCTION, COST)
def slow_encryption(subject: Subject) -> Iterator[Finding]:
    """HDFS data that is encrypted with Hadoop's default cipher, which takes 39 times the CPU.

    `docs/benchmarks/protection.md` has the measurement. A ConfigMap with Hadoop's files may set a cipher, so
    an application with such a ConfigMap is not checked.
    """
    facts = subject.facts
    if facts.get("hadoopConfigMap") or _hadoop(facts, CIPHER_SUITES):
        return
    for name, encrypted in (
        ("dfs.data.transfer.protection", "privacy"),
        ("dfs.encrypt.data.transfer", "true"),
    ):
        if _hadoop(facts, name).split(",")[0].strip() == encrypted:  # of several, SASL uses the first
            said = facts.path("hadoopConf", name)
            yield Finding(
                said if subject.has(said) else facts.path("sparkConf", f"{HADOOP}{name}"),
                "encrypts with Hadoop's default cipher, which takes 39 times as much CPU as no encryption",
                next_step=f"set `{CIPHER_SUITES}: {FAST_SUITE}` in `hadoopConf`, and in HDFS itself",
            )
            return


def _hadoop(facts: DocumentFacts, name: str) -> str:
    """A property as Hadoop compares it: without blanks around it, in lower case."""
    return facts.properties.get(f"{HADOOP}{name}", "").strip().lower()
