"""Which ended runs of an application go, and which stay: `prune_plan`, a pure decision on what there is.

Level-triggered: it looks at all Jobs and ConfigMaps of the application, whatever happened before. A Job that
runs, or that is the current run's, is never deleted; nothing that is younger than the history Job itself is
touched, because a later commit, which has a history Job of its own, may have made it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sparkgen import contract

SUPERSEDED = "sparkgen.dev/superseded"
"""Says that the mark below was set here, and may be taken away here when a revert makes the run current."""
IGNORE_HEALTH = "argocd.argoproj.io/ignore-healthcheck"
"""Argo CD leaves a live object that has it out of the application's health (controller/health.go)."""
ARGO = "argocd.argoproj.io/"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryPolicy:
    """What the document says. `succeeded`, `failed`: how many ended runs stay beside the current one.

    None keeps all. `workload`: the kind of the driver's object; `own`: the name of the history Job itself.
    """

    run: str
    workload: str
    own: str
    succeeded: int | None
    failed: int | None


@dataclass(frozen=True, slots=True)
class PrunePlan:
    """What is to be done: objects to delete, Jobs to mark as superseded, Jobs to take the mark from."""

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
    """What to do with the application's objects. Nothing, when a later history Job will do it.

    Sessions are no runs: they remove themselves.
    """
    jobs = [job for job in jobs if not contract.is_session(job)]
    histories = [job for job in jobs if contract.LABEL_RUN not in _labels(job)]
    born = max((_born(job) for job in histories if _name(job) == asked.own), default="")
    if not born or any(_born(job) > born for job in histories):
        return PrunePlan()
    drivers = [job for job in jobs if contract.LABEL_RUN in _labels(job)]
    # The Jobs of a CronJob are its own to delete: it has limits for that.
    superseded = [job for job in drivers if _run(job) != asked.run and not _owned(job) and _born(job) < born]
    gone = _beyond(superseded, "succeeded", asked.succeeded) + _beyond(superseded, "failed", asked.failed)
    old = [job for job in histories if _name(job) != asked.own and _born(job) < born and ended(job)]
    staying = [job for job in drivers if job not in gone]
    return PrunePlan(
        jobs=(*gone, *old),
        config_maps=tuple(_unused(asked, staying, config_maps, born)),
        pod_groups=tuple(_unused(asked, staying, pod_groups, born)),
        mark=tuple(job for job in superseded if job not in gone and _is_argos(job) and not _marked(job)),
        unmark=tuple(job for job in drivers if _run(job) == asked.run and _marked(job)),
    )


def ended(job: Object) -> str:
    """How a Job has ended: "succeeded" or "failed"; "" for one that has not."""
    for condition in (job.get("status") or {}).get("conditions") or ():
        if condition.get("status") == "True" and condition.get("type") in ("Complete", "Failed"):
            return "succeeded" if condition["type"] == "Complete" else "failed"
    return ""


def _beyond(jobs: Sequence[Object], how: str, keep: int | None) -> list[Object]:
    """The Jobs that ended so and are more than are kept: the oldest."""
    found = sorted((job for job in jobs if ended(job) == how), key=lambda job: (_born(job), _name(job)))
    return [] if keep is None else found[: max(len(found) - keep, 0)]


def _unused(asked: HistoryPolicy, jobs: Sequence[Object], items: Sequence[Object], born: str) -> list[Object]:
    """The ConfigMaps, or PodGroups, of runs that no Job needs. `jobs`: those that stay.

    Where runs have no Job of their own (CronJob, Deployment) the files of the run before stay as well: a
    firing may have begun with them, and a rollback needs them.
    """
    # What has an owner goes with it: the files of a run that `sparkgen run` asked for, with its Job.
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
    """When it was created. RFC 3339 in UTC, as the API server writes it: texts that sort by time."""
    return str(item["metadata"].get("creationTimestamp") or "")


def _run(item: Object) -> str:
    return _labels(item)[contract.LABEL_RUN]


def _owned(item: Object) -> bool:
    return bool(item["metadata"].get("ownerReferences"))


def _is_argos(job: Object) -> bool:
    """Whether it was rendered for Argo CD, to which alone a failed Job that is kept is a sick application."""
    return any(key.startswith(ARGO) for key in _annotations(job))


def _marked(job: Object) -> bool:
    return SUPERSEDED in _annotations(job)
