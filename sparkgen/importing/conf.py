"""Places Spark properties: those that native Spark applies to pods become the fields with the same effect.

The table of sparkgen.properties says what sparkgen does with each property, and which field takes its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sparkgen.errors import Path
from sparkgen.grammar import GrammarError, duration
from sparkgen.grammar.whole import whole
from sparkgen.importing.conf_volumes import volumes
from sparkgen.importing.draft import Draft, Property
from sparkgen.importing.entry import Outcome
from sparkgen.importing.keytab import keytab
from sparkgen.importing.properties import HALF, HALF_STEP, has_half
from sparkgen.model.kerberos import KEYTAB_PROPERTY
from sparkgen.model.properties import TYPED_PROPERTIES
from sparkgen.properties.classes import BACKEND_CLASSES, backend_classes, without_backend_classes
from sparkgen.properties.kubernetes_table import NAMESPACE
from sparkgen.properties.older import new_name, overruled_names
from sparkgen.properties.table import CATCH_ALL, judgement
from sparkgen.properties.verdicts import Form, Judgement, Verdict

_OLDER = "an older name: Spark reads `{}` instead"
_OVERRULED = "`{}` has another value, and takes precedence, as in the input"


def _texts(_key: str, text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _secret(key: str, text: str) -> list[dict[str, str]]:
    return [{"name": key, "path": text}]


def _secret_variable(key: str, text: str) -> list[dict[str, Any]]:
    name, _, item = text.partition(":")
    return [{"name": key, "valueFrom": {"secretKeyRef": {"name": name, "key": item}}}]


def _variable(key: str, text: str) -> list[dict[str, str]]:
    return [{"name": key, "value": text}]


def _switch(_key: str, text: str) -> bool | str:
    return {"true": True, "false": False}.get(text.strip().lower(), text)


def _seconds(_key: str, text: str) -> int | str:
    try:
        return duration.to_seconds(text)
    except GrammarError:
        return text


_VALUES: Mapping[Form, Callable[[str, str], Any]] = {
    Form.TEXT: lambda _key, text: text,
    Form.LIST: _texts,
    Form.SWITCH: _switch,
    Form.SECONDS: _seconds,
    Form.MOUNTED_SECRET: _secret,
    Form.REFERENCE: _secret_variable,
    Form.VARIABLE: _variable,
}
"""Form -> function that returns a field's value from the rest of the property's name and from its text."""
_ITEMS = (Form.MOUNTED_SECRET, Form.REFERENCE, Form.VARIABLE)
"""Forms whose value is one item of a list: each property adds an item."""


def place(draft: Draft, typed: bool) -> None:
    """Place each waiting property. `typed`: properties that have a typed field go there.

    Typed fields take precedence, as in the operators, which apply them last.
    """
    claims: list[Property] = []
    _drop_halves(draft)
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


def _drop_halves(draft: Draft) -> None:
    """Drop the properties that no document can have. All at once, because a file may have thousands."""
    for item in draft.properties:
        if has_half(item.name + item.text):
            _tell(draft, Outcome.LOST, item, HALF, HALF_STEP)
    draft.properties[:] = [item for item in draft.properties if not has_half(item.name + item.text)]


def _rename(draft: Draft) -> None:
    """Replace older names of properties by the new ones; values that Spark would not read are not needed."""
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
    judged = judgement(item.name)
    if item.name == NAMESPACE:
        _namespace(draft, item)
    elif judged is not None and judged.fields and _rest(judged, item.name) is not None:
        _lift(draft, item, judged)
    elif typed and field is not None:
        _typed(draft, item, field)
    elif judged is not None and field is None and judged.verdict not in (Verdict.PASSED, Verdict.READ):
        _judged(draft, item, judged)
    elif not item.name.startswith("spark."):
        reason = "spark-submit drops properties whose name does not start with `spark.`"
        _tell(draft, Outcome.NEEDLESS, item, reason)
    else:
        _keep(draft, item)


_FIELDS = {name: ("spec", *path) for path, name in TYPED_PROPERTIES.items() if path[0] != "eventLog"}
"""Properties that have a typed field. `eventLog` is left out: its defaults differ from those of Spark 3.5."""
_WHOLE = frozenset({"cores", "instances", "initialExecutors", "minExecutors", "maxExecutors"})
_WHOLE_ALLOCATION = frozenset({"batchSize", "maxPendingPods", "maxExecutorFailures"})
_FLAGS = frozenset({"enabled", "shuffleTrackingEnabled"})


def _tell(
    draft: Draft, outcome: Outcome, item: Property, reason: str = "", step: str = "", target: Path = ()
) -> None:
    draft.tell(outcome, item.source, item.position, target, reason, step)


def _keep(draft: Draft, item: Property) -> None:
    target = ("spec", "sparkConf", item.name)
    for _, lost in backend_classes({item.name: item.text}):
        reason = f"{lost} needs the scheduler backend of native Spark on Kubernetes"
        _tell(draft, Outcome.LOST, item, reason, BACKEND_CLASSES[lost])
    text = without_backend_classes(item.name, item.text)
    if text or not item.text:  # an empty text is a value, too
        draft.put(target, text)
        _tell(draft, Outcome.CARRIED, item, target=target)


def _rest(judged: Judgement, name: str) -> str | None:
    """Returns the text for `*` in a judgement's fields; None if the name ends too early."""
    if not judged.is_prefix:
        return ""
    return name[len(judged.name) :] or None


def _lift(draft: Draft, item: Property, judged: Judgement) -> None:
    key = _rest(judged, item.name) or ""
    value = _VALUES[judged.form](key, item.text)
    placed: list[Path] = []
    overridden = ""
    for dotted in judged.fields:
        target = ("spec", *(key if part == "*" else part for part in dotted.split(".")))
        present = _present(draft, target, value)
        if present is None and judged.form in _ITEMS and isinstance(value, list):
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
    outcome = Outcome.CHANGED if judged.remark else Outcome.CARRIED
    _tell(draft, outcome, item, judged.remark, target=placed[0])


def _present(draft: Draft, target: Path, value: Any) -> Any:
    """Returns the present value of a field, or None; for a list of mappings, the item of the same name."""
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
    """Write a property to its typed field, as a value of the field's type if the text permits that."""
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


def _judged(draft: Draft, item: Property, judged: Judgement) -> None:
    """Report a property that no field takes, and that has no effect in `sparkConf`."""
    if judged.verdict is Verdict.FIELD and item.name.endswith(".podTemplateContainerName"):
        _tell(draft, Outcome.NEEDLESS, item, "Spark's container is renamed in the template")
    elif judged.verdict is Verdict.FIELD:
        _tell(draft, Outcome.LOST, item, judged.reason or "sparkgen does not read this property", judged.step)
    elif (
        judged.name in CATCH_ALL
        and judged.verdict is Verdict.NO_EFFECT
        and item.name.startswith("spark.kubernetes.")
    ):
        step = "look for a field with the same purpose: sparkgen explain spec"
        _tell(draft, Outcome.LOST, item, "only Spark's own Kubernetes support reads it", step)
    elif (judged.lost or judged.verdict is Verdict.REFUSED) and item.text.strip() not in judged.same:
        _tell(draft, Outcome.LOST, item, judged.reason, judged.step)
    else:
        _tell(draft, Outcome.NEEDLESS, item, judged.reason)
