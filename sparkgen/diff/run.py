"""Whether an apply starts a run, and which parts of the hash changed. docs/design/run-identity.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from sparkgen import contract
from sparkgen.diff.trees import deep
from sparkgen.diff.values import Side, Verdict
from sparkgen.objects import ObjectView
from sparkgen.phrases import some_of
from sparkgen.resources.run import CHANGEABLE

_FILES = {
    contract.SPARK_DEFAULTS_FILE: "Spark's properties",
    contract.LOG4J2_FILE: "logging",
    contract.METRICS_FILE: "metrics",
    contract.EXECUTOR_TEMPLATE_FILE: "the executor pod",
    contract.EXECUTOR_SCRIPT_FILE: "the executor's start script",
}
"""The files of a run's ConfigMaps, and what they contain, in words."""
_SHOWN = 4
"""The most fields of the driver's pod that are named."""


def verdict(old: Side | None, new: Side | None) -> Verdict:
    """Whether applying the new side over the old one starts a run, and why."""
    if new is None:
        goes_on = "an active run ends when its objects are deleted"
        return Verdict(False, f"the application is removed; {goes_on}", old.run if old else "")
    workload = new.workload
    kind = workload["kind"] if workload else ""
    before = old.workload if old else None
    parts = tuple(hash_parts(old, new)) if old else ()
    starts, sentence = _sentence(kind, before, workload or {}, same=old is not None and old.run == new.run)
    return Verdict(starts, sentence, old.run if old else "", new.run, parts)


def _sentence(kind: str, before: ObjectView | None, after: ObjectView, *, same: bool) -> tuple[bool, str]:
    """Whether a run starts, and the sentence after "yes" or "no"."""
    if before is not None and before["kind"] != kind:
        starts, sentence = _sentence(kind, None, after, same=False)
        return starts, f"it was a {before['kind']} before; {sentence}"
    if kind == "CronJob":
        return False, _cron(before, after, same=same)
    if kind == "Deployment":
        return _deployment(before, after, same=same)
    return _job(before, after, same=same)


def _job(before: ObjectView | None, after: ObjectView, *, same: bool) -> tuple[bool, str]:
    suspended = bool(after.get("spec", {}).get("suspend"))
    if before is None or not same:
        if suspended:
            return False, "the new run is created suspended"
        return True, "the first run" if before is None else "a new run beside the earlier one"
    was = bool(before["spec"].get("suspend"))
    if was and not suspended:
        return True, "the run is no longer suspended"
    if suspended and not was:
        return False, "suspending it stops its driver, if it is running"
    return False, "the run is unchanged"


def _cron(before: ObjectView | None, after: ObjectView, *, same: bool) -> str:
    spec = after["spec"]
    when = f'the schedule "{spec["schedule"]}" starts runs'
    if spec.get("suspend"):
        return "the schedule is suspended"
    if before is not None and same:
        return "scheduled runs are unchanged"
    return f"{when}; the changes apply from the next run on" if before is not None else when


def _deployment(before: ObjectView | None, after: ObjectView, *, same: bool) -> tuple[bool, str]:
    replicas = after["spec"].get("replicas", 1)
    was = before["spec"].get("replicas", 1) if before is not None else 0
    if not replicas:
        return False, "it stays suspended" if not was else "suspending it stops its driver"
    if not was:
        return True, "the driver starts" if before is None else "it is no longer suspended"
    if same:
        return False, "the driver keeps running"
    return True, "the driver restarts with the changes"


def hash_parts(old: Side, new: Side) -> Iterator[str]:
    """The parts of the hash's input that differ; if none does, the run's id, which is in no object."""
    if old.run == new.run:
        return
    found = [*_files(old, new), *_pod(old, new)]
    yield from found or ["run.id"]


def _files(old: Side, new: Side) -> Iterator[str]:
    before, after = run_files(old), run_files(new)
    for name in dict.fromkeys([*after, *before]):
        if before.get(name, "").replace(old.run, new.run) != after.get(name, ""):
            yield _FILES.get(name, name)


def run_files(side: Side) -> dict[str, str]:
    """The files of the run's ConfigMaps, by name."""
    files: dict[str, str] = {}
    for item in side.objects:
        if item["kind"] == "ConfigMap" and item["metadata"].get("labels", {}).get(contract.LABEL_RUN):
            files |= {**item.get("data", {}), **item.get("binaryData", {})}
    return files


def _pod(old: Side, new: Side) -> Iterator[str]:
    """The fields of the workload that differ, in one text."""
    paths = [path for path, _, _ in workload_changes(old, new)]
    if paths:
        yield f"the driver pod ({some_of(['.'.join(path[-3:]) for path in paths], _SHOWN)})"


def workload_changes(old: Side, new: Side) -> list[tuple[tuple[str, ...], Any, Any]]:
    """The leaves of the workload's specification that are in the hash and differ."""
    return list(deep((), _hashed(old, new.run), _hashed(new, new.run)))


def _hashed(side: Side, run: str) -> Any:
    """The workload's part of the hash's input, with the new run's name instead of its own."""
    workload = side.workload
    if workload is None:
        return {}
    spec = job_spec(workload)
    hashed = {key: value for key, value in spec.items() if key not in CHANGEABLE}
    return renamed(hashed, side.run, run)


def job_spec(workload: ObjectView) -> Mapping[str, Any]:
    """The specification of the Job, of the CronJob's Jobs, or of the Deployment."""
    spec: Mapping[str, Any] = workload["spec"]
    return spec["jobTemplate"]["spec"] if workload["kind"] == "CronJob" else spec


def renamed(value: Any, old: str, new: str) -> Any:
    """A value with the run's name replaced in all its texts."""
    if isinstance(value, str):
        return value.replace(old, new) if old else value
    if isinstance(value, Mapping):
        return {key: renamed(item, old, new) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [renamed(item, old, new) for item in value]
    return value
