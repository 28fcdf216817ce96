"""Rows that the tables of all formats share: properties for typed fields, and what only sparkgen has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

from sparkgen import contract
from sparkgen.errors import Path
from sparkgen.importing.draft import Draft
from sparkgen.importing.entry import Outcome
from sparkgen.importing.table import ROLES, Row, Take
from sparkgen.model.eventlog import log_claim
from sparkgen.model.properties import EVENT_LOG_DEFAULTS, TYPED_PROPERTIES, property_text
from sparkgen.properties import HADOOP
from sparkgen.properties.table import judgement
from sparkgen.properties.verdicts import Verdict

CONF = ("spec", "sparkConf")
FILES = ("jars", "files", "pyFiles", "archives")
"""Lists of `deps` that may name files beside the document."""
DEFAULT_ACCOUNT = "spark"
"""The account of the driver in Spark's and the operators' own examples."""
_FILE_PROPERTIES = frozenset({*(TYPED_PROPERTIES["deps", name] for name in FILES), "spark.kerberos.keytab"})
REFERENCE = re.compile(r"\$\{(?:env|system)[:.]")
"""What Spark (ConfigReader) and Hadoop (Configuration) replace by variables and Java properties."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
OF_QUEUES = (contract.LABEL_QUEUE, contract.LABEL_QUEUE_PRIORITY)
RESOLVED = frozenset(
    {
        *(TYPED_PROPERTIES["deps", name] for name in ("packages", "excludePackages", "repositories")),
        *("spark.jars.ivy", "spark.jars.ivySettings", "spark.driver.userClassPathFirst"),
    }
)
"""Properties by which spark-submit fetches packages, and loads their classes, where it is started."""
_RESOLVED = "spark-submit also fetches packages, and loads their classes, on the submitting machine"
_RESOLVED_STEP = "submit only packages and repositories that you trust, or put the jars into the image"
_OWN = "only sparkgen does this"
_LOCAL = "a file outside of the image: only sparkgen brings it into the pods"
_LOCAL_STEP = "put the file into the image or an object store, and name it by its address there"
_ACCOUNT = "the driver creates the executors itself, so its account needs rights"
_ACCOUNT_STEP = "let the account create, watch and delete pods, Services, ConfigMaps and claims"


_NOTHING: Mapping[str, tuple[str, str]] = {}


def is_safe(given: Take, name: str, text: str) -> bool:
    """Whether a property says where it is submitted what it says in a pod; reports one that does not.

    Spark and Hadoop replace references to variables and to Java properties where they read the property, also
    through other properties, and Spark splits an option at its first equals sign. Hadoop also replaces a name
    without a prefix, and references inside of references.
    """
    if "=" in name:
        given.lost("spark-submit ends a property's name at its first equals sign", "correct the name")
    elif REFERENCE.search(text) or (name.startswith(HADOOP) and "${" in text):
        reason = "spark-submit would replace the reference by a value of the submitting machine"
        given.lost(reason, "set the property in the image's spark-defaults.conf, or write the value itself")
    else:
        return True
    return False


def spark_conf(given: Take, overridden: Mapping[str, tuple[str, str]] = _NOTHING) -> None:
    """Copy the properties that have an effect under sparkgen: the others might have one for another tool.

    `overridden`: the properties that the tool sets itself, each with the reason and the next step.
    """
    for key, child in given.node.entries.items():
        part, judged = given.at(key), judgement(key)
        if key in overridden:
            part.lost(*overridden[key])
        elif judged is not None and judged.verdict not in (Verdict.PASSED, Verdict.READ):
            part.needless("it has no effect in a sparkgen document")
        elif not is_safe(part, key, property_text(child.value)):
            continue
        elif key in RESOLVED:
            part.put((*CONF, key), child.value, Outcome.CHANGED, _RESOLVED, _RESOLVED_STEP)
        elif key in _FILE_PROPERTIES:
            _addresses(part, (*CONF, key), property_text(child.value).split(","), property_text)
        else:
            part.put((*CONF, key), child.value)


def to_property(name: str, given: Take) -> None:
    """Set a Spark property to a field's value."""
    text = property_text(given.node.value)
    if not is_safe(given, name, text):
        return
    if name in RESOLVED:
        given.put((*CONF, name), text, Outcome.CHANGED, _RESOLVED, _RESOLVED_STEP)
    else:
        given.put((*CONF, name), text, Outcome.REWRITTEN)


def property_rows(without: AbstractSet[str]) -> Iterator[Row]:
    """Yields a row for each typed field that sets a property, except fields in `without`, such as ``deps``.

    Names in `without` are paths below the spec, or their beginnings.
    """
    for path, name in TYPED_PROPERTIES.items():
        if not {".".join(path[:length]) for length in range(1, len(path) + 1)} & without:
            yield Row("spec." + ".".join(path), how=partial(to_property, name))


def tracking_timeout(given: Take) -> None:
    """Set the property for `shuffleTrackingTimeout`: a number is in milliseconds, as in kubeflow's field."""
    text = property_text(given.node.value)
    text = f"{text}ms" if isinstance(given.node.value, int) else text
    given.put((*CONF, "spark.dynamicAllocation.shuffleTracking.timeout"), text, Outcome.REWRITTEN)


def hadoop_properties(given: Take) -> None:
    """Set `hadoopConf` as properties `spark.hadoop.`, as Spark reads them."""
    for key in given.node.entries:
        to_property(f"{HADOOP}{key}", given.at(key))


def event_log(given: Take) -> None:
    """Set the properties of the event log, with sparkgen's defaults; nothing else mounts its claim."""
    section = given.node.value
    names = {path[1]: name for path, name in TYPED_PROPERTIES.items() if path[0] == "eventLog"}
    for name, text in {**EVENT_LOG_DEFAULTS, names["enabled"]: "true"}.items():
        given.draft.put((*CONF, name), text)
    for key in given.node.entries:
        if key in names:
            to_property(names[key], given.at(key))
    if "claim" in section and log_claim(section) is None:
        given.at("claim").needless("nothing mounts it")
    elif "claim" in section:
        step = "mount it in the driver, with `volumes` and `driver.volumeMounts`"
        given.at("claim").lost("only sparkgen mounts a claim for the event log", step)


def in_the_image(text: str) -> str | None:
    """Returns the address of a file for spark-submit: a file in the image has ``local://`` there.

    Without a scheme, or with ``file:``, spark-submit and the operators read files of their own machine.
    Returns None for a file that is not in the image, and for a path that depends on a working directory.
    """
    text = text.strip()
    scheme = _SCHEME.match(text)
    if scheme is not None and scheme[1].lower() != "file":
        return text
    path = text[scheme.end() :] if scheme else text
    for host in ("//localhost/", "///"):
        if scheme and path.lower().startswith(host):
            path = "/" + path[len(host) :]
    return f"local://{path}" if path.startswith("/") and not path.startswith("//") else None


def _addresses(given: Take, target: Path, texts: Sequence[str], value: Callable[[list[str]], Any]) -> None:
    """Set the addresses of files; a file beside the document, or elsewhere, is a finding."""
    found = [in_the_image(text) for text in texts]
    shown = [text if address is None else address for text, address in zip(texts, found, strict=True)]
    if None in found:
        given.put(target, value(shown), Outcome.CHANGED, _LOCAL, _LOCAL_STEP)
    else:
        same = shown == list(texts) and target[:2] != CONF
        given.put(target, value(shown), Outcome.CARRIED if same else Outcome.REWRITTEN)


def local_file(target: Path, given: Take) -> None:
    """Copy the main file; a file beside the document reaches no pod."""
    text = str(given.node.value)
    if text == contract.SPARK_INTERNAL:
        given.put(target, text)
    else:
        _addresses(given, target, [text], lambda shown: shown[0])


def local_files(target: Path, given: Take) -> None:
    """Copy a list of files to a field, or as text to a property."""
    texts = [text for item in given.node.value for text in str(item).split(",")]  # as Spark splits them
    _addresses(given, target, texts, property_text if target[:2] == CONF else list)


def account(target: Path, given: Take) -> None:
    """Copy the account of the driver, which needs other rights than under sparkgen."""
    given.put(target, given.node.value, Outcome.CHANGED, _ACCOUNT, _ACCOUNT_STEP)


def guess_account(draft: Draft, target: Path) -> None:
    """Name an account for the driver: sparkgen makes its own, and no other tool does."""
    draft.add(Outcome.GUESSED, target, DEFAULT_ACCOUNT, _ACCOUNT, _ACCOUNT_STEP)


def authenticate(draft: Draft) -> None:
    """Set `spark.authenticate`, which sparkgen sets by default, unless the document has a value for it."""
    if "spark.authenticate" not in (draft.get(*CONF) or {}):
        reason = "sparkgen's default: executors and driver let no stranger in"
        draft.add(Outcome.ADDED, (*CONF, "spark.authenticate"), "true", reason)


def label_pods(draft: Draft, target: Callable[[str, str], Path]) -> None:
    """Give the labels of the application to its pods, as sparkgen does; a label of the role takes precedence.

    `target`: role and key -> where the format has the label.
    """
    for key, text in (draft.get("metadata", "labels") or {}).items():
        for role in ROLES:
            if key in OF_QUEUES or (role == "executor" and not contract.belongs_on_executor(key)):
                continue
            place = target(role, key)
            if draft.get(*(str(part) for part in place)) is None:
                draft.put(place, text)


METADATA_ROWS = (
    *(Row(f"metadata.{name}", f"metadata.{name}") for name in ("name", "namespace", "labels", "annotations")),
    Row("metadata.target", needless=True, reason="only sparkgen's manifests depend on it"),
)
KERBEROS_ROWS = tuple(
    Row(f"spec.kerberos.{field}", how=partial(to_property, f"spark.kubernetes.kerberos.{name}"))
    for field, name in (
        ("krb5ConfigMap", "krb5.configMapName"),
        ("delegationToken.name", "tokenSecret.name"),
        ("delegationToken.key", "tokenSecret.itemKey"),
    )
)
"""What Spark's own Kubernetes support can do with a login."""

OWN_ROWS = (
    Row("spec.allocator", needless=True, reason="Spark's own backend always creates the executors"),
    Row("spec.runtimeImage", needless=True, reason="only sparkgen's allocator uses it"),
    Row("spec.runtimeConfigMap", needless=True, reason="only sparkgen's allocator uses it"),
    Row("spec.pythonImage", needless=True, reason="only sparkgen's allocator uses it"),
    Row(
        "spec.concurrencyPolicy",
        reason=_OWN,
        step="start it only after the earlier run has ended",
    ),
    Row("spec.delivery", needless=True, reason="only sparkgen delivers files"),
    Row("spec.artifacts", needless=True, reason="only sparkgen delivers files"),
    Row("spec.deps.requirements", reason=_OWN, step="install the Python packages into the image"),
    Row("spec.deps.pythonVersion", needless=True, reason="it is about `requirements`"),
    Row("spec.deps.pythonPlatform", needless=True, reason="it is about `requirements`"),
    Row(
        "spec.run",
        reason="runs have no names and no limit of their history",
        step="note where you submit from which run it was, and delete ended runs there",
    ),
    Row(
        "spec.serviceAccount",
        reason="sparkgen renders the account",
        step="write the ServiceAccount in a manifest of your own",
    ),
    Row("spec.rbac", reason="sparkgen renders the rights", step="write Role and RoleBinding yourself"),
    Row("spec.networkPolicy", reason="sparkgen renders it", step="write a NetworkPolicy yourself"),
    *(
        Row(
            f"spec.logging.{name}",
            reason="sparkgen writes log4j2.properties",
            step="put a log4j2.properties into the image's configuration directory",
        )
        for name in ("level", "loggers")
    ),
    Row(
        "spec.logging.archive",
        reason="sparkgen adds the container that copies logs",
        step="collect the logs with an agent on each node, such as Fluent Bit",
    ),
    Row(
        "spec.shuffleService",
        reason="executors find the service through sparkgen's allocator",
        step="with dynamic allocation, set `shuffleTrackingEnabled`",
    ),
    *(
        Row(f"spec.allocation.{name}", reason=_OWN, step=step)
        for name, step in (
            ("maxUnschedulablePods", "limit pods with a ResourceQuota"),
            ("waitForRegistration", "delete it"),
            ("hold", "delete it"),
            ("locality", "prefer nodes with `executor.affinity`"),
            ("memoryOverheadRecovery", "raise `executor.memoryOverhead`"),
            ("pendingTimeout", "watch pending pods with an alert"),
            ("poolTimeout", "delete it"),
            ("onMismatch", "delete it"),
            ("resources", "delete it: no other tool has an allocator"),
        )
    ),
    Row(
        "spec.executor.pools",
        reason="no other tool gives executors of one application several sets of nodes",
        step="write the node selector and tolerations of one pool into `executor`",
    ),
    Row("spec.sparkUIOptions.ingress", reason="sparkgen renders it", step="write an Ingress yourself"),
    Row("spec.sparkUIOptions.route", reason="sparkgen renders it", step="write an HTTPRoute yourself"),
    *(
        Row(f"spec.kerberos.{name}", reason="only sparkgen mounts a key of a Secret for the login", step=step)
        for name, step in (
            ("keytab", "mount the Secret with `driver.secrets`, and set `spark.kerberos.keytab`"),
            ("ticketCache", "mount the Secret with `driver.secrets`, and set KRB5CCNAME in `driver.env`"),
            ("principal", "set `spark.kerberos.principal`"),
        )
    ),
)
"""Fields that no other tool has."""
