"""The changes between two sets of objects, in a document's terms: for sides without a known document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.diff.run import job_spec, run_files, workload_changes
from sparkgen.diff.trees import Path, changed, deep
from sparkgen.diff.values import FieldChange, Side
from sparkgen.diff.words import label, value_text
from sparkgen.jsonvalue import decode
from sparkgen.model.properties import TYPED_PROPERTIES
from sparkgen.resources.run import CHANGEABLE

_FIELDS = {name: path for path, name in TYPED_PROPERTIES.items()}
"""Spark property -> the typed field that sets it."""
_DERIVED = ("SPARK_", "SPARKGEN_")
"""The prefixes of variables in the executor's pod that repeat properties."""
_CRON = ("schedule", "timeZone", "suspend", "concurrencyPolicy", "startingDeadlineSeconds")


def fact_changes(old: Side, new: Side) -> Iterator[FieldChange]:
    """The changes of properties, tuning, the two pods, and the workload's changeable fields."""
    before, after = run_files(old), run_files(new)
    properties = (_properties(before), _properties(after))
    for path, one, other in changed(*properties):
        yield _change(path, _FIELDS.get(path[0], ("sparkConf", path[0])), one, other, in_run=True)
    for path, one, other in changed(_tuning(old), _tuning(new)):
        words = ("executor", *path[1:]) if path[0] == "executors" else path
        yield _change(path, words, one, other, in_run=False)
    for path, one, other in workload_changes(old, new):
        yield _change(path, ("driver", *_pod_path(path)), one, other, in_run=True)
    file = contract.EXECUTOR_TEMPLATE_FILE
    templates = (_json(before, file, old.run, new.run), _json(after, file))
    for path, one, other in deep((), *templates):
        if not any(part.startswith(_DERIVED) for part in path):
            yield _change(path, ("executor", *_pod_path(path)), one, other, in_run=True)
    for path, one, other in changed(_changeable(old), _changeable(new)):
        yield _change(path, path, one, other, in_run=False)


def _change(path: Path, words: Path, old: Any, new: Any, *, in_run: bool) -> FieldChange:
    texts = (value_text(path, old), value_text(path, new))
    return FieldChange(".".join(path), label(words), *texts, in_run)


def _properties(files: Mapping[str, str]) -> dict[str, str]:
    lines = files.get(contract.SPARK_DEFAULTS_FILE, "").splitlines()
    pairs = (line.partition(" ") for line in lines if line)
    return {name: value for name, _, value in pairs}


def _json(files: Mapping[str, str], name: str, old: str = "", new: str = "") -> Any:
    text = files.get(name, "{}")
    try:
        return decode(text.replace(old, new) if old else text)
    except ValueError:  # not written by sparkgen
        return {"text": text}


def _tuning(side: Side) -> Any:
    for item in side.objects:
        if item["kind"] == "ConfigMap" and contract.TUNING_FILE in item.get("data", {}):
            return _json(item["data"], contract.TUNING_FILE)
    return {}


def _changeable(side: Side) -> dict[str, Any]:
    """The fields of the workload that may change without another run."""
    workload = side.workload
    if workload is None:
        return {}
    spec = workload["spec"]
    own = {key: spec[key] for key in _CRON if key in spec} if workload["kind"] == "CronJob" else {}
    inner = job_spec(workload)
    return {**{key: inner[key] for key in CHANGEABLE if key in inner}, **own}


def _pod_path(path: Path) -> Path:
    """A path in a workload or a pod template, without common prefixes and the name of Spark's container."""
    spark = {contract.DRIVER_CONTAINER, contract.EXECUTOR_CONTAINER}
    skipped = {"template", "spec", "metadata", "containers", *spark}
    return tuple(part for part in path if part not in skipped) or path
