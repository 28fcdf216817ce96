"""Files of Spark's configuration folder, and the user in whose name the application acts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sparkgen import contract
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import ERROR, WARNING, Finding, about_key, rule
from sparkgen.semantics.wording import shortened

FIELD = "sparkConfFiles"
PROXY = "proxyUser"

INSTEAD: Mapping[str, str] = {
    contract.SPARK_DEFAULTS_FILE: "write its properties in `sparkConf`",
    contract.LOG4J2_FILE: "set levels in `logging`, or let `-Dlog4j2.configurationFile` name another file",
    contract.METRICS_FILE: "write its lines in `monitoring.metricsProperties`",
    contract.EXECUTOR_SCRIPT_FILE: "give it another name",
    contract.SHUFFLE_SCRIPT_FILE: "give it another name",
}
"""A file that sparkgen writes itself -> what to do instead."""

INSTEAD_OF_ARCHIVE: Mapping[str, str] = {
    contract.LOGGED_SCRIPT_FILE: "give it another name",
    contract.LOG_ARCHIVE_SCRIPT_FILE: "give it another name",
}
"""The same for the files that sparkgen writes only if the document has a log archive."""

LARGEST = 1_000_000
"""Bytes of all texts together. A ConfigMap holds 1 MiB (ValidateConfigMap), sparkgen's own files included."""
APPLIED = 200_000
"""Bytes above which a client-side apply may fail: it keeps the whole ConfigMap in an annotation, with every
quote and line break escaped, and annotations hold 256 KiB together (TotalAnnotationSizeLimitB)."""

UNREAD: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (
        re.compile(r"log4j2\.(ya?ml|jsn|json|xml)"),
        f"nothing reads it: Spark finds {contract.LOG4J2_FILE} first, which sparkgen writes",
        INSTEAD[contract.LOG4J2_FILE],
    ),
    (
        re.compile(r"log4j\.(properties|xml)"),
        "nothing reads it: Spark logs with Log4j 2",
        INSTEAD[contract.LOG4J2_FILE],
    ),
    (
        re.compile(r"spark-env\.sh"),
        "only the driver's spark-submit reads it; executors do not",
        "set variables in `env` of both roles",
    ),
    (
        re.compile(r".*\.template"),
        "nothing reads Spark's template files",
        "remove `.template` from its name",
    ),
)
"""Names of files that do not do what people expect: message and next step."""


@rule("SG128", ERROR)
def files(facts: DocumentFacts) -> Iterator[Finding]:
    """Files that sparkgen writes itself, and texts that no ConfigMap can hold."""
    instead = INSTEAD if facts.get("logging", "archive") is None else {**INSTEAD, **INSTEAD_OF_ARCHIVE}
    for name in facts.get(FIELD) or ():
        if name in instead:
            yield about_key(facts.path(FIELD, name), "sparkgen writes this file itself", instead[name])
    size = _size(facts)
    if size > LARGEST:
        yield about_key(
            facts.path(FIELD),
            f"these files have {size} bytes in total, but the run's ConfigMap has room for only {LARGEST}",
            "put a large file into its own ConfigMap, and refer to it with `configMapKeyRef`; or put it into "
            "the image",
        )


def _size(facts: DocumentFacts) -> int:
    return sum(len(text.encode()) for _, text in facts.conf_texts())


@rule("SG129", WARNING)
def unread_files(facts: DocumentFacts) -> Iterator[Finding]:
    """Files that nothing reads, or not every program that should; and files too large for `kubectl apply`."""
    for name in facts.get(FIELD) or ():
        for pattern, message, step in UNREAD:
            if pattern.fullmatch(name):
                yield about_key(facts.path(FIELD, name), message, step)
    size = _size(facts)
    if APPLIED < size <= LARGEST:
        yield about_key(
            facts.path(FIELD),
            f"these files have {size} bytes in total: `kubectl apply` keeps a copy in an "
            "annotation, which may become too long",
            "apply with `--server-side`; or put a large file into its own ConfigMap, and refer to it with "
            "`configMapKeyRef`",
        )


@rule("SG179", WARNING)
def proxy_users(facts: DocumentFacts) -> Iterator[Finding]:
    """Variables that name another user, or the same one twice. Source: UserGroupInformation.getLoginUser."""
    user = facts.get(PROXY)
    if user is None:
        return
    no_effect = f"has no effect: `{PROXY}` sets it to {shortened(user)}"
    for role, name, message in (
        ("driver", contract.ENV_HADOOP_PROXY_USER, "sets a second user to act as, which Hadoop refuses"),
        ("executor", contract.ENV_SPARK_USER, no_effect),
    ):
        for path in facts.variables(role, name):
            step = f"delete it: `{PROXY}` sets the user that driver and executors act as"
            yield Finding(path, message, name, next_step=step)
