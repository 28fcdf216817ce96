"""The best configuration as an overlay to commit."""

from __future__ import annotations

from sparkgen.terminal import visible
from sparkgen.whatif.study import Run, Study
from sparkgen.whatif.text_report import seconds, signed
from sparkgen.yamltext import dump


def text(study: Study, run: Run) -> str:
    """The overlay as YAML, with comments about its origin."""
    outcome, before = run.outcome, study.replayed.outcome
    spec = {} if run.candidate is None else run.candidate.spec
    spec = {name: dict(value) if isinstance(value, dict) else value for name, value in spec.items()}
    lines = [
        f"# {visible(run.label)}: predicted from the event log of {_plain(study.recording.application_id)}.",
        f"# Error of the replay: {signed(study.wall_error)} wall time, {signed(study.executor_error)} "
        "executor-seconds.",
    ]
    if outcome is not None and before is not None:
        lines.append(f"# Predicted wall time: {seconds(outcome.wall)} instead of {seconds(before.wall)}.")
    if study.best_costs_more:
        lines.append("# The recorded configuration costs less.")
    if spec.get("shuffleService"):
        lines.append("# Add the name of your shuffle service: spec.shuffleService.name.")
    return "\n".join(lines) + "\n" + dump({"spec": spec})


def _plain(name: str) -> str:
    """A text from outside for a comment: only letters, digits, and `-_.`."""
    return "".join(letter for letter in name if letter.isalnum() or letter in "-_.")
