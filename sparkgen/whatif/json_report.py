"""A study as data: one object for each log, for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from sparkgen.whatif.outcome import Outcome
from sparkgen.whatif.prices import Cost
from sparkgen.whatif.study import Run, Study

VERSION = 1


def text(studies: Sequence[Study]) -> str:
    """JSON of all studies."""
    return json.dumps({"version": VERSION, "studies": [data(study) for study in studies]}, indent=2) + "\n"


def data(study: Study) -> dict[str, Any]:
    """The data of one study: times in seconds, memory in MiB, errors and idle time as fractions."""
    recording = study.recording
    return {
        "log": recording.source,
        "application": recording.name,
        "applicationId": recording.application_id,
        "sparkVersion": recording.spark_version,
        "finished": recording.finished,
        "reading": asdict(recording.reading),
        "recorded": {**_outcome(study.truth), "cost": _cost(study.truth_cost)},
        "replayed": _run(study.replayed),
        "error": {"wall": study.wall_error, "executorSeconds": study.executor_error},
        "runs": [_run(run) for run in study.runs],
        "best": study.best.label if study.best else None,
        "bestCostsMore": study.best_costs_more,
        "currency": study.currency,
        "facts": asdict(study.facts),
        "lossSeconds": study.loss,
        "advice": [asdict(remark) for remark in study.advice],
        "notKnown": [asdict(remark) for remark in study.doubts],
    }


def _run(run: Run) -> dict[str, Any]:
    return {
        "label": run.label,
        "spec": dict(run.candidate.spec) if run.candidate else None,
        "stopped": run.stopped or None,
        **(_outcome(run.outcome) if run.outcome else {}),
        "cost": _cost(run.cost),
        "wallRangeSeconds": run.span,
        "wallRangeCauses": [cause.value for cause in run.span_causes],
        "notKnown": [asdict(remark) for remark in run.remarks],
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "wallSeconds": outcome.wall,
        "executorSeconds": outcome.executor_seconds,
        "podSeconds": outcome.pod_seconds,
        "taskSeconds": outcome.task_seconds,
        "mostExecutors": outcome.most,
        "idle": outcome.idle,
        "lost": outcome.lost,
    }


def _cost(cost: Cost | None) -> dict[str, Any] | None:
    return (
        None if cost is None else {"onDemand": cost.on_demand, "spot": cost.spot, "node": cost.node or None}
    )
