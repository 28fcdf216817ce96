"""sparkConf and hadoopConf: properties that contradict a field, are not read, or stop Spark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sparkgen.grammar import GrammarError, duration, factor, memory, quantity
from sparkgen.model import kerberos
from sparkgen.model.properties import TYPED_PROPERTIES, property_text
from sparkgen.properties import HADOOP
from sparkgen.properties.older import new_name, overruled_names
from sparkgen.semantics.facts import ROLES, DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.secret import safe
from sparkgen.semantics.wording import shortened


@rule("SG119", WARNING)
def contradictions(facts: DocumentFacts) -> Iterator[Finding]:
    """Properties to which a typed field gives another value; the field wins, as in kubeflow's operator."""
    for field, name in TYPED_PROPERTIES.items():
        text = facts.conf.get(name)
        value = facts.get(*field)
        if text is None or value is None or value == [] or _same(text, facts.properties[name]):
            continue
        dotted = ".".join(field)
        said = safe(name, property_text(value)) or "something else"
        yield Finding(
            facts.path("sparkConf", name),
            f"has no effect: `{dotted}` is {said}, and the field takes precedence",
            safe(name, text),
            next_step=f"delete it, or delete `{dotted}`",
        )
    yield from _switched_off(facts)
    yield from _overruled(facts)
    hadoop = facts.get("hadoopConf") or {}
    for name, text in facts.conf.items():
        plain = name.removeprefix(HADOOP)
        if plain == name or plain not in hadoop or _same(text, hadoop[plain]):
            continue
        said = safe(plain, hadoop[plain]) or "something else"
        yield Finding(
            facts.path("sparkConf", name),
            f"has no effect: `hadoopConf` sets {said}, and takes precedence",
            safe(name, text),
            next_step=f"delete it, or delete `{shortened(plain)}` from `hadoopConf`",
        )


def _overruled(facts: DocumentFacts) -> Iterator[Finding]:
    """Older names of a property that is written under a name that Spark asks for first."""
    for name, winner in overruled_names(facts.written).items():
        text, other = facts.written[name], facts.written[winner]
        if not _same(text, other):
            yield Finding(
                facts.path("sparkConf", name),
                f"has no effect: it is an older name, and Spark reads `{winner}` in its place",
                safe(name, text),
                next_step=f"delete it, or delete `{winner}`",
            )


def _switched_off(facts: DocumentFacts) -> Iterator[Finding]:
    """An event log that a property switches off, although the document has a section for it."""
    name = "spark.eventLog.enabled"
    text, section = facts.conf.get(name), facts.get("eventLog")
    if text is not None and section is not None and "enabled" not in section and not _same(text, "true"):
        yield Finding(
            facts.path("sparkConf", name),
            "has no effect: `eventLog` is set, which turns it on",
            safe(name, text),
            next_step="delete it; to turn the log off, set `enabled: false` in `eventLog`",
        )


def _same(first: str, second: str) -> bool:
    """Whether two texts of one property mean the same: 4g and 4096m, 60s and 1m, true and True."""
    one, other = first.strip().lower(), second.strip().lower()
    if one == other or one.split(",") == other.split(","):
        return True
    for parse in (memory.to_bytes, duration.to_microseconds, quantity.parse, factor.parse):
        try:
            if parse(first.strip()) == parse(second.strip()):
                return True
        except GrammarError:
            continue
    return False


@rule("SG122", ERROR)
def not_spark_properties(facts: DocumentFacts) -> Iterator[Finding]:
    """Names that spark-submit drops (SparkSubmitArguments.ignoreNonSparkProperties), or with blanks."""
    for name in facts.conf:
        path = facts.path("sparkConf", name)
        if re.search(r"\s", name):
            fixed = re.sub(r"\s+", "", name)
            message = "property names have no spaces, so Spark would not find this one"
            yield about_key(path, message, f"write `{shortened(fixed)}`")
        elif not name.startswith("spark."):
            yield about_key(
                path,
                "spark-submit ignores properties whose name does not start with `spark.`",
                _better_home(name),
                "a name that starts with spark.",
            )


def _better_home(name: str) -> str:
    if name.startswith(("fs.", "dfs.", "hadoop.", "hive.", "parquet.", "mapreduce.", "yarn.")):
        return f"move it to `hadoopConf`, or write `{HADOOP}{shortened(name)}`"
    if name.startswith("log4j"):
        return "set levels in `logging.level` and `logging.loggers`"
    if name.startswith(("executor.", "driver.", "sql.")):
        return f"write `spark.{shortened(name)}`"
    return f"if your code reads it, write `spark.{shortened(name)}` and read that"


@rule("SG123", ERROR)
def hadoop_prefixes(facts: DocumentFacts) -> Iterator[Finding]:
    """Names in hadoopConf that keep Spark's prefix: Hadoop knows no such property."""
    for name in facts.get("hadoopConf") or {}:
        if name.startswith("spark."):
            plain = name.removeprefix(HADOOP)
            hadoop = plain != name
            yield about_key(
                facts.path("hadoopConf", name),
                "Hadoop has no property with this name, so it would be ignored",
                f"write `{shortened(plain)}`" if hadoop else "move it to `sparkConf`",
                "a Hadoop property, without a prefix" if hadoop else "a Hadoop property",
            )


@rule("SG124", ERROR)
def java_options(facts: DocumentFacts) -> Iterator[Finding]:
    """Options of the JVM with which Spark does not start.

    Source: SparkConf.validateSettings (executors: -Xmx, -Dspark), SparkSubmitCommandBuilder.checkJavaOptions
    (driver: -Xmx).
    """
    for role in ROLES:
        for kind in ("extraJavaOptions", "defaultJavaOptions"):
            name = f"spark.{role}.{kind}"
            options = facts.properties.get(name, "")
            heap = re.search(r"(?:^|[\s\"'])(-Xmx\S*)", options)
            if heap:
                yield Finding(
                    facts.place(name),
                    "sets the heap size, which Spark refuses here",
                    shortened(heap[1]),
                    "options without -Xmx",
                    f"delete {shortened(heap[1])}, and set `memory` of the {role}",
                )
            setting = re.search(r"-Dspark\S*", options)
            if role == "executor" and setting:
                yield Finding(
                    facts.place(name),
                    "sets a Spark property, which Spark refuses in executor options",
                    shortened(setting[0].partition("=")[0]),
                    "options without -Dspark",
                    "move the property to `sparkConf`",
                )


@rule("SG125", ERROR)
def settings_that_clash(facts: DocumentFacts) -> Iterator[Finding]:
    """Values and combinations with which SparkConf.validateSettings or spark-submit stops."""
    for name in ("spark.memory.fraction", "spark.memory.storageFraction"):
        text = facts.conf.get(name)
        if text is not None and not _is_share(text):
            path = facts.path("sparkConf", name)
            yield Finding(
                path,
                "is not a fraction: it must be between 0 and 1",
                shortened(text),
                "0 to 1",
                f'write `{name}: "0.6"`',
            )
    timeout = _seconds(facts, "spark.network.timeout", "120s", "s")
    heartbeat = _seconds(facts, "spark.executor.heartbeatInterval", "10s", "ms")
    if timeout is not None and heartbeat is not None and timeout <= heartbeat:
        name = "spark.executor.heartbeatInterval"
        other = "spark.network.timeout"
        at = name if name in facts.conf else other
        yield Finding(
            facts.path("sparkConf", at),
            f"Spark refuses a heartbeat interval of {heartbeat:g} s with a network timeout of {timeout:g} s",
            shortened(facts.conf[at]),
            f"`{name}` less than `{other}`",
            "lower the heartbeat interval (default: 10s), or raise the network timeout (default: 120s)",
        )
    encrypts = [
        name
        for name in ("spark.network.crypto.enabled", "spark.authenticate.enableSaslEncryption")
        if facts.is_true(name)
    ]
    if encrypts and not facts.is_true("spark.authenticate", default=True):
        yield Finding(
            facts.path("sparkConf", "spark.authenticate"),
            f"Spark refuses `{encrypts[0]}` without authentication",
            facts.conf["spark.authenticate"],
            "true",
            "delete it: sparkgen turns authentication on",
        )
    yield from _two_logins(facts)
    yield from _another_spark(facts)


def _another_spark(facts: DocumentFacts) -> Iterator[Finding]:
    """A remote Spark beside this one's master. Source: SparkSubmitArguments.validateSubmitArguments."""
    message = "spark-submit refuses a remote Spark together with a master, so the driver would fail"
    step = (
        "delete it; to use the Spark of a Connect server, run a program of its own that calls "
        "`SparkSession.builder.remote(...)`"
    )
    if "spark.remote" in facts.conf:
        yield about_key(facts.path("sparkConf", "spark.remote"), message, step)
    for path in facts.variables("driver", "SPARK_REMOTE"):
        yield about_key(path, message, step)


def _is_share(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False


def _seconds(facts: DocumentFacts, name: str, default: str, unit: str) -> float | None:
    try:
        return duration.to_milliseconds(facts.conf.get(name, default), default_unit=unit) / 1000
    except GrammarError:
        return None


@rule("SG126", WARNING)
def lost_resources(facts: DocumentFacts) -> Iterator[Finding]:
    """GPUs and the like that Spark expects, while nothing specifies which device the pod needs.

    Source: KubernetesUtils.buildResourcesQuantities: the limit is `<vendor>/<resource>`, so it takes both.
    """
    for role in ROLES:
        for name, amount in facts.conf.items():
            match = re.fullmatch(rf"spark\.{role}\.resource\.([^.]+)\.amount", name)
            vendor = f"{name.removesuffix('.amount')}.vendor"
            if match is None or vendor in facts.conf:
                continue
            if not any("/" in limit for limit in _limits(facts, role)):
                yield Finding(
                    facts.path("sparkConf", name),
                    f"nothing specifies which device the {role} pod needs, so it gets none",
                    shortened(amount),
                    next_step=f"add `{vendor}`, such as `nvidia.com`, or `gpu` below `{role}:`",
                )


def _limits(facts: DocumentFacts, role: str) -> set[str]:
    """Returns the resources in the limits of a role's Spark container."""
    gpu = (facts.role(role).get("gpu") or {}).get("name")
    names = {gpu} if gpu else set()
    for container in facts.containers:
        if container.role == role and container.kind == "spark" and not container.typed:
            names |= set((container.spec.get("resources") or {}).get("limits") or {})
    return names


def _two_logins(facts: DocumentFacts) -> Iterator[Finding]:
    """A user to act as, and a principal. Source: SparkSubmitArguments.validateSubmitArguments."""
    for name, text in facts.written.items():
        if new_name(name) != kerberos.PRINCIPAL_PROPERTY or facts.get(kerberos.SECTION) is not None:
            continue
        if facts.get(kerberos.PROXY_USER) is not None:
            yield Finding(
                facts.path("sparkConf", name),
                f"spark-submit refuses a principal together with `{kerberos.PROXY_USER}`",
                shortened(text),
                next_step=(
                    "keep one of them: log in as the user itself; or give the gateway's keytab in `kerberos`"
                ),
            )
