"""Which ended runs of an application to remove, and which to keep: `prune_plan`, a pure decision.

It is level-triggered: it looks at all Jobs and ConfigMaps of the application, whatever happened before. It
never deletes a Job that is running or belongs to the current run. It leaves alone everything younger than the
history Job itself, because a later commit, which has its own history Job, may have made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparkgen import contract

SUPERSEDED = "sparkgen.dev/superseded"
"""Marks a Job whose IGNORE_HEALTH was set here, so that both may be removed here if a revert makes the run
current."""
IGNORE_HEALTH = "argocd.argoproj.io/ignore-healthcheck"
"""Argo CD ignores a live object with this annotation in the application's health (controller/health.go)."""
ARGO = "argocd.argoproj.io/"
_READ = ("name", "uid", "resourceVersion", "creationTimestamp", "labels", "annotations")

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryPolicy:
    """The document's settings. `succeeded`, `failed`: how many ended runs to keep beside the current one.

    None keeps all. `workload`: the kind of the driver's object; `own`: the name of the history Job itself.
    """

    run: str
    workload: str
    own: str
    succeeded: int | None
    failed: int | None


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What to do: objects to delete, Jobs to mark as superseded, and Jobs to remove the mark from."""

    jobs: tuple[Object, ...] = ()
    config_maps: tuple[Object, ...] = ()
    pod_groups: tuple[Object, ...] = ()
    mark: tuple[Object, ...] = ()
    unmark: tuple[Object, ...] = ()


def prune_plan(
    asked: HistoryPolicy,
    jobs: Sequence[Object],
    config_maps: Sequence[Object],
    pod_groups: Sequence[Object] = (),
) -> PrunePlan:
    """What to do with the application's objects. Nothing, if a later history Job will do it.

    Sessions are not runs: they remove themselves.
    """
    jobs = [job for job in jobs if not contract.is_session(job)]
    histories = [job for job in jobs if contract.LABEL_RUN not in _labels(job)]
    born = max((_born(job) for job in histories if _name(job) == asked.own), default="")
    if not born or any(_born(job) > born for job in histories):
        return PrunePlan()
    drivers = [job for job in jobs if contract.LABEL_RUN in _labels(job)]
    # A CronJob deletes its Jobs itself: it has limits for that.
    superseded = [job for job in drivers if _run(job) != asked.run and not _owned(job) and _born(job) < born]
    gone = _beyond(superseded, "succeeded", asked.succeeded) + _beyond(superseded, "failed", asked.failed)
    old = [job for job in histories if _name(job) != asked.own and _born(job) < born and ended(job)]
    going = set(map(id, gone))
    staying = [job for job in drivers if id(job) not in going]
    return PrunePlan(
        jobs=(*gone, *old),
        config_maps=tuple(_unused(asked, staying, config_maps, born)),
        pod_groups=tuple(_unused(asked, staying, pod_groups, born)),
        mark=tuple(job for job in superseded if id(job) not in going and _is_argos(job) and not _marked(job)),
        unmark=tuple(job for job in drivers if _run(job) == asked.run and _marked(job)),
    )


def trim_decoded(value: dict[str, Any]) -> dict[str, Any]:
    """Reduces an object to what `prune_plan` reads, while JSON is decoded (jsonvalue.decode_object).

    So a page of large objects takes no more memory than the largest of them: whoever may create Jobs in the
    namespace must not end this one for lack of memory.
    """
    metadata = value.get("metadata")
    if not isinstance(metadata, dict) or "uid" not in metadata:
        return value
    kept = {key: text for key, text in metadata.items() if key in _READ}
    for field in ("labels", "annotations"):
        if isinstance(found := metadata.get(field), dict):
            own = (contract.LABEL_RUN, SUPERSEDED)
            kept[field] = {key: text for key, text in found.items() if key in own or key.startswith(ARGO)}
    kept["ownerReferences"] = [{}] if metadata.get("ownerReferences") else []
    component = {contract.LABEL_COMPONENT: contract.SESSION} if contract.is_session(value) else {}
    end = {"succeeded": "Complete", "failed": "Failed"}.get(ended(value))
    return {
        "metadata": kept,
        "spec": {"template": {"metadata": {"labels": component}}},
        "status": {"conditions": [{"type": end, "status": "True"}] if end else []},
    }


def ended(job: Object) -> str:
    """How a Job has ended: "succeeded" or "failed"; "" if it has not ended."""
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed"):
            return "succeeded" if condition["type"] == "Complete" else "failed"
    return ""


def _beyond(jobs: Sequence[Object], how: str, keep: int | None) -> list[Object]:
    """The Jobs that ended in this way beyond the number to keep: the oldest ones."""
    found = sorted((job for job in jobs if ended(job) == how), key=lambda job: (_born(job), _name(job)))
    return [] if keep is None else found[: max(len(found) - keep, 0)]


def _unused(asked: HistoryPolicy, jobs: Sequence[Object], items: Sequence[Object], born: str) -> list[Object]:
    """The ConfigMaps, or PodGroups, of runs that no Job needs. `jobs`: those that stay.

    If runs have no Job of their own (CronJob, Deployment), the files of the previous run stay, too: a firing
    may have begun with them, and a rollback needs them.
    """
    # An object with an owner is deleted with it: files of a run of `sparkgen run`, with the run's Job.
    files = [item for item in items if contract.LABEL_RUN in _labels(item) and not _owned(item)]
    needed = {asked.run, *map(_run, jobs)}
    if asked.workload != "Job":
        others = [item for item in files if _run(item) != asked.run]
        needed |= {_run(max(others, key=_born))} if others else set()
    return [item for item in files if _run(item) not in needed and _born(item) < born]


def _labels(item: Object) -> Mapping[str, str]:
    return item["metadata"].get("labels") or {}


def _annotations(item: Object) -> Mapping[str, str]:
    return item["metadata"].get("annotations") or {}


def _name(item: Object) -> str:
    return str(item["metadata"]["name"])


def _born(item: Object) -> str:
    """When it was created, in RFC 3339 and UTC as the API server writes it: such texts sort by time."""
    return str(item["metadata"].get("creationTimestamp") or "")


def _run(item: Object) -> str:
    return _labels(item)[contract.LABEL_RUN]


def _owned(item: Object) -> bool:
    return bool(item["metadata"].get("ownerReferences"))


def _is_argos(job: Object) -> bool:
    """Whether a Job was rendered for Argo CD: only there, a failed Job makes the application unhealthy."""
    return any(key.startswith(ARGO) for key in _annotations(job))


def _marked(job: Object) -> bool:
    return SUPERSEDED in _annotations(job)
