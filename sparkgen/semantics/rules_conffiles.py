"""Files of Spark's configuration folder, and the user in whose name the application acts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain

from sparkgen import contract
from sparkgen.model import kerberos
from sparkgen.properties.older import new_name
from sparkgen.semantics.facts import DocumentFacts
from sparkgen.semantics.findings import Finding, about_key
from sparkgen.semantics.secret import has_secret, in_git, is_secret
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

_NAME = re.compile(r"[A-Za-z0-9._-]+")
_SEPARATOR = re.compile(r"[=:]|\s+[=:]?\s*")


def _texts(facts: DocumentFacts) -> dict[str, str]:
    return {name: given for name, given in (facts.get(FIELD) or {}).items() if isinstance(given, str)}


def files(facts: DocumentFacts) -> Iterator[Finding]:
    """Files that sparkgen writes itself, and texts that no ConfigMap can hold."""
    for name in facts.get(FIELD) or ():
        if name in INSTEAD:
            yield about_key(facts.path(FIELD, name), "sparkgen writes this file itself", INSTEAD[name])
    size = _size(facts)
    if size > LARGEST:
        yield about_key(
            facts.path(FIELD),
            f"these files have {size} bytes in total, but the run's ConfigMap has room for only {LARGEST}",
            "put a large file into its own ConfigMap, and refer to it with `configMapKeyRef`; or put it into "
            "the image",
        )


def _size(facts: DocumentFacts) -> int:
    return sum(len(text.encode()) for text in _texts(facts).values())


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


def secrets_in_files(facts: DocumentFacts) -> Iterator[Finding]:
    """Secrets in the texts of files: by their names in Hadoop's XML or in properties, or by their form."""
    for name, text in _texts(facts).items():
        if holds_secret(text):
            step = "put the file into a Secret, and refer to it with `secretKeyRef: {name: ..., key: ...}`"
            yield in_git(facts.path(FIELD, name), step, "contain")


def holds_secret(text: str) -> bool:
    """Whether a file's text has a secret in it, by the secret's form or by its name there."""
    if has_secret(text):
        return True
    pairs = chain(_elements(text), _lines(text))
    return any(is_secret(name, value) for name, value in pairs)


def _elements(text: str) -> Iterator[tuple[str, str]]:
    """Yields names and values of Hadoop's XML. Each part is searched once, because a text may be hostile."""
    for part in text.split("<name>")[1:]:
        name, _, rest = part.partition("</name>")
        value, end, _ = rest.partition("<value>")[2].partition("</value>")
        if end:
            yield name.strip(), value.strip()


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yields names and values of Java's properties, and of a shell's variables."""
    for line in text.splitlines():
        name, _, value = _SEPARATOR.sub("=", line.strip().removeprefix("export "), count=1).partition("=")
        if value and _NAME.fullmatch(name):
            yield name, value.strip()


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


def two_logins(facts: DocumentFacts) -> Iterator[Finding]:
    """A user to act as, and a principal. Source: SparkSubmitArguments.validateSubmitArguments."""
    for name, text in facts.written.items():
        if new_name(name) != kerberos.PRINCIPAL_PROPERTY or facts.get(kerberos.SECTION) is not None:
            continue
        if facts.get(PROXY) is not None:
            yield Finding(
                facts.path("sparkConf", name),
                f"spark-submit refuses a principal together with `{PROXY}`",
                shortened(text),
                next_step=(
                    "keep one of them: log in as the user itself; or give the gateway's keytab in `kerberos`"
                ),
            )
