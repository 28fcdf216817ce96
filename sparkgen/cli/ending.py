"""What `kill` and `delete` do. Knows no command line.

Kill gives the Job a deadline that is over: Kubernetes ends its pods and calls it failed, for good. Suspending
it would leave a run that never ends and, for a CronJob that forbids a second one, no later firing; deleting
it would have Git, or the next apply, run it again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sparkgen import contract
from sparkgen.cli import output
from sparkgen.cluster import ClusterError, Place, connect
from sparkgen.cluster.marks import DEADLINE, KILLED, KILLER, controller_of
from sparkgen.diff.live import KINDS, listed
from sparkgen.errors import SparkgenError
from sparkgen.live.find import choose, one
from sparkgen.live.state import State, is_suspended, life_of
from sparkgen.live.values import Application, Run, annotation_of
from sparkgen.preflight.ownership import owner_of
from sparkgen.usecases import object_names

if TYPE_CHECKING:
    from sparkgen.cluster import Cluster


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked for. `run`: "" for the one that runs; `form`: of ObjectForm."""

    place: Place
    name: str
    run: str = ""
    form: str = "text"
    yes: bool = False
    dry_run: bool = False
    quiet: bool = False


def kill(wish: Wish) -> int:
    """End a run; 0 also when there is nothing to end."""
    cluster = connect(wish.place)
    application = one(cluster, wish.name)
    run = _running(application, wish.run)
    if run is None:
        latest = application.runs[0] if application.runs else None
        words = f": {latest.name} is {life_of(latest).state.value}" if latest else ""
        output.note(f"no run of {application.name} runs{words}")
        return 0
    if not _agreed(f"end {run.name} in {run.namespace} ({cluster.context})?", wish):
        return 1
    now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    changed = cluster.patch(run.workload, killing(run.workload, now), manager=KILLER)
    _print([changed], "killed", wish)
    if not wish.quiet:
        output.note(_after(run, wish.place))
    return 0


def killing(workload: Mapping[str, Any], now: str) -> dict[str, Any]:
    """What changes on a driver's object that is to end; `now`: as an API server writes times.

    A Deployment, which an apply starts again, is not marked.
    """
    if workload["kind"] == "Deployment":
        return {"spec": {"replicas": 0}}
    annotations = {KILLED: now}
    before = workload["spec"].get("activeDeadlineSeconds")
    if before is not None and not annotation_of(workload, KILLED):
        annotations[DEADLINE] = str(before)
    return {"metadata": {"annotations": annotations}, "spec": {"activeDeadlineSeconds": 1}}


def _running(application: Application, wanted: str) -> Run | None:
    """The run to end; None when none runs. SparkgenError when several do."""
    if wanted:
        run = choose(application, wanted)
        if is_suspended(run.workload):
            raise SparkgenError(f"{run.name} is suspended, so that nothing of it runs")
        return None if life_of(run).over else run
    runs = [
        run
        for run in application.runs
        if not life_of(run).over
        and not is_suspended(run.workload)
        and life_of(run).state is not State.DELETING
    ]
    if len(runs) > 1:
        names = ", ".join(run.name for run in runs)
        raise SparkgenError(f"several runs of {application.name} run: {names}; choose one with --run")
    return runs[0] if runs else None


def _after(run: Run, place: Place) -> str:
    here = object_names.options(place, run.namespace)
    name = controller_of(run.workload)
    if run.kind == "Deployment":
        undone = (
            f"{name} starts it again, unless Git says spec.suspend: true"
            if name
            else ("the next apply starts it again; spec.suspend: true in the document keeps it stopped")
        )
        return f"its driver has time to end; {undone}"
    return (
        "its driver and executors have their grace period to end; next: "
        f"sparkgen wait {run.application} --run {run.name}{here}, or sparkgen run {run.application}{here}"
    )


def delete(wish: Wish) -> int:
    """Remove all objects of an application; 1 when the person says no."""
    cluster = connect(wish.place)
    found, unseen = _objects(cluster, wish.name)
    if not found:
        one(cluster, wish.name)  # it says what there is
        raise SparkgenError(f"nothing of {wish.name} may be seen in {cluster.namespace}: {'; '.join(unseen)}")
    for text in unseen:
        output.note(f"not looked at: {text}")
    if wish.dry_run:
        _print(found, "(dry run)", wish)
        return 0
    names = sorted({controller_of(item) for item in found} - {""})
    if names:
        output.note(
            f"warning: {' and '.join(names)} manages {wish.name}: it will be created again, and run again. "
            "Remove it there instead"
        )
    if not wish.yes and sys.stdin.isatty():
        output.complain("".join(f"  {object_names.full_name(item)}\n" for item in found))
    question = f"delete these {len(found)} objects of {wish.name} in {cluster.namespace} ({cluster.context})?"
    if not _agreed(question, wish):
        return 1
    gone: list[dict[str, Any]] = []
    try:
        for item in found:
            metadata = item["metadata"]
            if cluster.delete(item["apiVersion"], item["kind"], metadata["name"], metadata["namespace"]):
                gone.append(item)
    finally:  # not one by one: a reader that goes away would end it halfway
        if gone:
            _print(gone, "deleted", wish)
    return 0


def _print(items: Sequence[Mapping[str, Any]], what: str, wish: Wish) -> None:
    """Objects, and what became of them where text is asked for."""
    if wish.form in ("json", "yaml"):
        output.data(object_names.objects_text(items, wish.form))
        return
    after = f" {what}" if wish.form == "text" else ""
    output.write("".join(f"{object_names.full_name(item)}{after}\n" for item in items))


def _objects(cluster: Cluster, name: str) -> tuple[list[dict[str, Any]], Sequence[str]]:
    """What was applied for the application, what starts pods first; and the kinds that may not be listed."""
    selector = f"{contract.LABEL_APPLICATION}={name},{contract.LABEL_MANAGED_BY}=sparkgen"
    found, unseen = [], []
    for api_version, kind in reversed(KINDS):
        try:
            items = listed(cluster, api_version, kind, selector)
        except ClusterError as error:
            if error.status != 403:
                raise
            unseen.append(str(error))
            continue
        # What has an owner goes with it, but for the Jobs of a CronJob: their names tell what ends. A server
        # whose document sets an application's label is no part of the application.
        own = [item for item in items if owner_of(item) == f"application {name}"]
        found += [item for item in own if not item["metadata"].get("ownerReferences")]
    return found, unseen


def _agreed(question: str, wish: Wish) -> bool:
    """Whether the person says yes. SparkgenError where nobody can be asked."""
    if wish.yes:
        return True
    if not sys.stdin.isatty():
        raise SparkgenError(f"{question} There is nobody to ask: add --yes")
    output.complain(f"{question} [y/N] ")
    if sys.stdin.readline().strip().lower() in ("y", "yes"):
        return True
    output.note("nothing was changed")
    return False
