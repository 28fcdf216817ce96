"""What becomes of Spark properties: those that native Spark applies to pods go to the fields that do it here.

The driver runs in client mode, in a pod that is there already: nothing reads most of `spark.kubernetes.*`
(sparkgen.semantics.conf_table says of each property what it would be here). The rows say where it goes;
`*` is the rest of the name, which may have dots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sparkgen.errors import Path
from sparkgen.grammar.whole import whole
from sparkgen.importing.conf_volumes import volumes
from sparkgen.importing.draft import Draft, Property
from sparkgen.importing.entry import Outcome
from sparkgen.importing.keytab import keytab
from sparkgen.model.kerberos import KEYTAB_PROPERTY
from sparkgen.model.properties import TYPED_PROPERTIES
from sparkgen.properties.older import new_name, overruled_names
from sparkgen.semantics import conf_table

ROLES = ("driver", "executor")
_OLDER = "an older name: Spark reads `{}` instead"
_OVERRULED = "`{}` has another value, and takes precedence, as in the input"


@dataclass(frozen=True, slots=True)
class ConfRow:
    """A property (or `prefix.*`) and the field that takes its value; several where both roles have it.

    `make` makes the field's value of the rest of the name and the text. `reason` says what differs.
    """

    name: str
    targets: tuple[str, ...]
    make: Callable[[str, str], Any] | None = None
    reason: str = ""


def _texts(_key: str, text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _secret(key: str, text: str) -> list[dict[str, str]]:
    return [{"name": key, "path": text}]


def _secret_variable(key: str, text: str) -> list[dict[str, Any]]:
    name, _, item = text.partition(":")
    return [{"name": key, "valueFrom": {"secretKeyRef": {"name": name, "key": item}}}]


def _variable(key: str, text: str) -> list[dict[str, str]]:
    return [{"name": key, "value": text}]


_ITEMS = (_secret, _secret_variable, _variable)
"""What makes one item of a list, which stands beside those of other properties."""


def _for_roles(rows: Iterable[ConfRow]) -> tuple[ConfRow, ...]:
    return tuple(
        ConfRow(
            row.name.replace("ROLE", role),
            tuple(target.replace("ROLE", role) for target in row.targets),
            row.make,
            row.reason,
        )
        for row in rows
        for role in ROLES
    )


ROWS: tuple[ConfRow, ...] = (
    *_for_roles(
        (
            ConfRow("spark.kubernetes.ROLE.label.*", ("ROLE.labels.*",)),
            ConfRow("spark.kubernetes.ROLE.annotation.*", ("ROLE.annotations.*",)),
            ConfRow("spark.kubernetes.ROLE.node.selector.*", ("ROLE.nodeSelector.*",)),
            ConfRow("spark.kubernetes.ROLE.secrets.*", ("ROLE.secrets",), _secret),
            ConfRow("spark.kubernetes.ROLE.secretKeyRef.*", ("ROLE.env",), _secret_variable),
            ConfRow("spark.kubernetes.ROLE.container.image", ("ROLE.image",)),
            ConfRow("spark.kubernetes.ROLE.scheduler.name", ("ROLE.schedulerName",)),
            ConfRow("spark.kubernetes.authenticate.ROLE.serviceAccountName", ("ROLE.serviceAccount",)),
        )
    ),
    ConfRow("spark.kubernetes.driverEnv.*", ("driver.env",), _variable),
    ConfRow("spark.kubernetes.hadoop.configMapName", ("hadoopConfigMap",)),
    ConfRow("spark.kubernetes.kerberos.krb5.configMapName", ("kerberos.krb5ConfigMap",)),
    ConfRow("spark.kubernetes.kerberos.tokenSecret.name", ("kerberos.delegationToken.name",)),
    ConfRow("spark.kubernetes.kerberos.tokenSecret.itemKey", ("kerberos.delegationToken.key",)),
    ConfRow("spark.kerberos.principal", ("kerberos.principal",)),
    ConfRow("spark.kubernetes.authenticate.serviceAccountName", ("driver.serviceAccount",)),
    ConfRow("spark.kubernetes.node.selector.*", ("driver.nodeSelector.*", "executor.nodeSelector.*")),
    ConfRow("spark.kubernetes.scheduler.name", ("driver.schedulerName", "executor.schedulerName")),
    ConfRow("spark.kubernetes.container.image", ("image",)),
    ConfRow("spark.kubernetes.container.image.pullPolicy", ("imagePullPolicy",)),
    ConfRow("spark.kubernetes.container.image.pullSecrets", ("imagePullSecrets",), _texts),
    ConfRow(
        "spark.kubernetes.driver.service.annotation.*",
        ("sparkUIOptions.serviceAnnotations.*",),
        None,
        "goes to the UI's Service: executors need no Service to find the driver",
    ),
    ConfRow(
        "spark.kubernetes.driver.service.label.*",
        ("sparkUIOptions.serviceLabels.*",),
        None,
        "goes to the UI's Service: executors need no Service to find the driver",
    ),
)
"""Properties that have a field of another form. Targets are below the application's spec."""

LOST: Mapping[str, tuple[str, str]] = {
    "spark.local.dir": ("the volumes of the pod determine the scratch space", ""),
    "spark.ui.port": ("the UI always has port 4040 in the pod", "set `sparkUIOptions.servicePort`"),
    "spark.kubernetes.executor.podNamePrefix": (
        "executor pods are named after the run",
        "select the pods by labels",
    ),
    "spark.kubernetes.driver.pod.name": (
        "the driver's pod is named after the run",
        "select the pod by labels",
    ),
    "spark.kubernetes.file.upload.path": (
        "no files are uploaded at submission",
        "add files to the image or an object store, or use `sparkgen push`",
    ),
    "spark.kubernetes.executor.deleteOnTermination": ("executor pods are always deleted", ""),
}
"""Properties of conf_table.UNUSED without which something is lost, unless they say what is so anyway: why."""

NEEDLESS: Mapping[str, str] = {
    "spark.kubernetes.driver.master": "the allocator uses the cluster in which it runs",
    "spark.kubernetes.driver.pod.excludedFeatureSteps": "Spark does not create the pods",
    "spark.kubernetes.executor.pod.excludedFeatureSteps": "Spark does not create the pods",
}
"""Properties of native Spark's own machinery: why nothing is lost without them."""

SAME: Mapping[str, tuple[str, ...]] = {
    "spark.kubernetes.executor.deleteOnTermination": ("true",),
    "spark.ui.port": ("4040",),
    "spark.submit.deployMode": ("cluster", "client"),
}
"""Property -> values that say what is so here anyway."""


def place(draft: Draft, typed: bool) -> None:
    """Put every waiting property where it belongs; with `typed`, properties that have a field go there.

    Source of the precedence: the typed fields of the operators come last, and win.
    """
    claims: list[Property] = []
    _rename(draft)
    keytabs = [item for item in draft.properties if item.name == KEYTAB_PROPERTY]
    for item in draft.properties:
        if item.name == KEYTAB_PROPERTY:
            continue
        if ".volumes." in item.name and item.name.startswith("spark.kubernetes."):
            claims.append(item)
        else:
            _place(draft, item, typed)
    volumes(draft, claims)
    for item in keytabs:
        keytab(draft, item)
    draft.properties.clear()


def _rename(draft: Draft) -> None:
    """Put older names under the new ones; a value that Spark would not read is not needed."""
    texts = {item.name: item.text for item in draft.properties}
    overruled = overruled_names(texts)
    kept = []
    for item in draft.properties:
        if item.name in overruled:
            _tell(draft, Outcome.NEEDLESS, item, _OLDER.format(overruled[item.name]))
        else:
            kept.append(replace(item, name=new_name(item.name)))
    draft.properties[:] = kept


def _place(draft: Draft, item: Property, typed: bool) -> None:
    field = _FIELDS.get(item.name)
    row = _row(item.name)
    if row is not None:
        _lift(draft, item, row)
    elif item.name == "spark.kubernetes.namespace":
        _namespace(draft, item)
    elif typed and field is not None:
        _typed(draft, item, field)
    elif item.name in conf_table.READ or item.name == "spark.submit.pyFiles":
        _keep(draft, item)
    elif item.name.endswith(".podTemplateContainerName"):
        _tell(draft, Outcome.NEEDLESS, item, "Spark's container is renamed in the template")
    elif (step := conf_table.entry(conf_table.MOVED, item.name)) is not None:
        _tell(draft, Outcome.LOST, item, "nothing reads this property, and its content is in a file", step)
    elif (step := conf_table.entry(conf_table.UNUSED, item.name)) is not None:
        _unused(draft, item, step)
    elif not item.name.startswith("spark."):
        reason = "spark-submit drops properties whose name does not start with `spark.`"
        _tell(draft, Outcome.NEEDLESS, item, reason)
    else:
        _keep(draft, item)


_FIELDS = {name: ("spec", *path) for path, name in TYPED_PROPERTIES.items()}
_WHOLE = frozenset({"cores", "instances", "initialExecutors", "minExecutors", "maxExecutors"})
_WHOLE_ALLOCATION = frozenset({"batchSize", "maxPendingPods", "maxExecutorFailures"})
_FLAGS = frozenset({"enabled", "shuffleTrackingEnabled"})


def _tell(
    draft: Draft, outcome: Outcome, item: Property, reason: str = "", step: str = "", target: Path = ()
) -> None:
    draft.tell(outcome, item.source, item.position, target, reason, step)


def _keep(draft: Draft, item: Property) -> None:
    target = ("spec", "sparkConf", item.name)
    draft.put(target, item.text)
    _tell(draft, Outcome.CARRIED, item, target=target)


def _row(name: str) -> tuple[ConfRow, str] | None:
    """The row of a property, and the rest of its name."""
    for row in ROWS:
        if row.name == name:
            return row, ""
    for row in ROWS:
        prefix = row.name.removesuffix("*")
        if prefix != row.name and name.startswith(prefix) and name != prefix:
            return row, name.removeprefix(prefix)
    return None


def _lift(draft: Draft, item: Property, found: tuple[ConfRow, str]) -> None:
    row, key = found
    value = row.make(key, item.text) if row.make is not None else item.text
    placed: list[Path] = []
    overridden = ""
    for dotted in row.targets:
        target = ("spec", *(key if part == "*" else part for part in dotted.split(".")))
        present = _present(draft, target, value)
        if present is None and row.make in _ITEMS and isinstance(value, list):
            placed.append(draft.append(target, value[0]))
        elif present is None:
            draft.put(target, value)
            placed.append(target)
        elif present not in (item.text, value):
            overridden = dotted.removesuffix(".*")
        else:
            placed.append(target)
    if not placed and overridden:
        _tell(draft, Outcome.NEEDLESS, item, _OVERRULED.format(overridden))
        return
    outcome = Outcome.CHANGED if row.reason else Outcome.CARRIED
    _tell(draft, outcome, item, row.reason, target=placed[0])


def _present(draft: Draft, target: Path, value: Any) -> Any:
    """What says the same field already: an item of the same name in a list, or the value."""
    old = draft.get(*(str(part) for part in target))
    if isinstance(old, list) and isinstance(value, list) and value and isinstance(value[0], dict):
        return draft.item(target, str(value[0]["name"]))
    return old


def _namespace(draft: Draft, item: Property) -> None:
    target = ("metadata", "namespace")
    named = draft.get(*target)
    if named in (None, item.text):
        draft.put(target, item.text)
        _tell(draft, Outcome.CARRIED, item, target=target)
    else:
        _tell(draft, Outcome.NEEDLESS, item, _OVERRULED.format("metadata.namespace"))


def _typed(draft: Draft, item: Property, field: tuple[str, ...]) -> None:
    """A property as the field that says the same, where its value has the field's form."""
    if draft.get(*field) is not None:
        _tell(draft, Outcome.NEEDLESS, item, _OVERRULED.format(".".join(field[1:])))
        return
    value: Any = item.text.strip()
    name, section = field[-1], field[1]
    if name in _WHOLE or (section == "allocation" and name in _WHOLE_ALLOCATION):
        number = whole(value)
        value = value if number is None else number
    elif name in _FLAGS:
        value = {"true": True, "false": False}.get(value.lower(), value)
    elif name == "executorAllocationRatio":
        value = _number(value)
    elif section in ("deps", "kerberos"):
        value = _texts("", value)
    draft.put(field, value)
    _tell(draft, Outcome.CARRIED, item, target=field)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _unused(draft: Draft, item: Property, step: str) -> None:
    reason = step.removeprefix("delete it: ").removeprefix("delete it; ")
    if item.name in NEEDLESS:
        _tell(draft, Outcome.NEEDLESS, item, NEEDLESS[item.name])
    elif item.name in LOST and item.text.strip() not in SAME.get(item.name, ()):
        why, instead = LOST[item.name]
        _tell(draft, Outcome.LOST, item, why, instead or reason)
    elif step == conf_table.UNUSED["spark.kubernetes."]:
        _tell(
            draft,
            Outcome.LOST,
            item,
            "only Spark's own Kubernetes support reads it",
            "look for a field with the same purpose: sparkgen explain spec",
        )
    else:
        _tell(draft, Outcome.NEEDLESS, item, reason)
