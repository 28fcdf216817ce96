"""A difference as text, Markdown or JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from sparkgen.diff.values import Action, ApplicationDiff, Difference, FieldChange, ObjectChange
from sparkgen.phrases import number_of, some_of
from sparkgen.terminal import escaped_json, visible

if TYPE_CHECKING:
    from sparkgen.whatif.prediction import Figures, Prediction

FORMS = ("text", "markdown", "json")
_SIGNS: dict[Action, str] = {
    "added": "+",
    "removed": "-",
    "changed": "~",
    "replaced": "*",
    "kept": "=",
}
_WIDEST = 60
"""Characters to which the labels of a table are padded; a longer one is not made the width of all."""
_MEANING: dict[Action, str] = {
    "added": "added",
    "removed": "removed",
    "changed": "changed",
    "replaced": "replaced",
    "kept": "no longer rendered; kept until it is deleted or pruned",
}
_SHOWN = 5
"""Fields whose effect is not in a prediction that are named."""
_APART = "&#8203;"
"""A space without width: text with it is neither a mention nor a link."""
_LONGEST_COMMENT = 60_000
"""The most characters of a comment: GitHub refuses more than 65,536, GitLab more than a million."""


def shown(difference: Difference, form: str, *, brief: bool = False) -> str:
    """The difference in one of FORMS, ending with a newline; as text, "" if there is no difference."""
    if form == "json":
        return as_json(difference, brief=brief)
    if form == "markdown":
        text = as_markdown(difference, brief=brief)
        return text if brief or len(text) <= _LONGEST_COMMENT else as_markdown(difference, brief=True)
    return as_text(difference, brief=brief)


def summary(difference: Difference) -> str:
    """One line: how many applications differ, and how many start a run."""
    count = len(difference.applications)
    starting = sum(one.verdict.starts for one in difference.applications)
    runs = number_of(starting, "new run") if starting else "no new runs"
    others = number_of(len(difference.overrides), "file") if difference.overrides else ""
    changed = f"; {others} by which another tool may change what it applies" if others else ""
    return f"{number_of(count, 'application')} changed, {runs}; {difference.unchanged} unchanged{changed}"


# --- text -------------------------------------------------------------------------------------------------


def as_text(difference: Difference, *, brief: bool = False) -> str:
    """The text for a terminal."""
    if not difference:
        return ""
    blocks = [_block_text(one, brief=brief) for one in difference.applications]
    return "\n\n".join([*blocks, summary(difference)]) + "\n"


def _block_text(one: ApplicationDiff, *, brief: bool) -> str:
    """One application. Names and values cannot add lines, neither here nor in the diffs of YAML."""
    lines = [visible(line) for line in _block(one)]
    if not brief:
        for change in one.objects:
            if change.diff and change.action != "kept":
                lines += ["", change.diff.rstrip("\n")]
    return "\n".join(lines)


def _block(one: ApplicationDiff) -> Iterator[str]:
    source = f" ({one.source})" if one.source else ""
    state = "" if one.state == "changed" else f": {one.state}"
    yield f"{one.title}{source}{state}"
    yield f"  starts a new run: {answer(one)}"
    yield from (f"  {line}" for line in _because(one))
    if one.fields:
        yield "  changes:"
        yield from (f"    {line}" for line in _table(one.fields))
    if one.prediction is not None:
        yield f"  {prediction_head(one.prediction)}"
        yield from (f"    {name:<14}  {step}" for name, step in prediction_rows(one.prediction))
    yield "  objects:"
    for change in one.objects:
        yield f"    {_SIGNS[change.action]} {object_name(change)}{_said(change)}"


def answer(one: ApplicationDiff) -> str:
    """The verdict as text: `yes: a new run beside the earlier one (pi-51bb888d -> pi-0a1b2c3d)`."""
    verdict = one.verdict
    names = [name for name in dict.fromkeys((verdict.old, verdict.new)) if name]
    return f"{'yes' if verdict.starts else 'no'}: {verdict.sentence} ({' -> '.join(names)})"


def _because(one: ApplicationDiff) -> Iterator[str]:
    """Why it is another run: the parts of the hash that changed, and the fields that changed them."""
    causes = [change.label for change in one.fields if change.in_run]
    if one.verdict.parts:
        yield f"changed in the run: {', '.join(one.verdict.parts)}"
        if causes:
            yield f"caused by: {', '.join(causes)}"
    elif one.state == "changed" and one.fields and not causes:
        yield "only tuning and settings change: they apply to the existing run"


def _table(changes: tuple[FieldChange, ...]) -> Iterator[str]:
    widest = min(_WIDEST, max(len(change.label) for change in changes))
    for change in changes:
        yield f"{change.label:<{widest}}  {_step(change)}  [{_effect(change)}]"


def _step(change: FieldChange) -> str:
    if not change.old:
        return f"set to {change.new or 'nothing'}"
    return f"{change.old} -> {change.new}" if change.new else f"{change.old} -> removed"


def _effect(change: FieldChange) -> str:
    return "new run" if change.in_run else "same run"


def prediction_head(one: Prediction) -> str:
    """What a prediction is from, or why there is none; and which changes are not in it."""
    left = f"; not in it: {some_of(one.not_predicted, _SHOWN)}" if one.not_predicted else ""
    if one.before is None:
        return f"no prediction of the next run: {one.reason}{left}"
    from sparkgen.whatif.text_report import signed  # noqa: PLC0415 - few differences have evidence

    return f"predicted from {one.log}, whose own replay is off by {signed(one.wall_error)}{left}"


def prediction_rows(one: Prediction) -> list[tuple[str, str]]:
    """The predicted figures, each with its name; none without a prediction."""
    if one.before is None or one.after is None:
        return []
    from sparkgen.whatif.text_report import range_words, seconds  # noqa: PLC0415 - as above

    before, after = one.before, one.after
    cost = f"cost ({one.currency})" if one.currency else "core-hours"
    between = range_words(after.wall_range) if after.wall_range is not None else ""
    wall = _change(before.wall_seconds, after.wall_seconds, seconds)
    return [
        ("wall time", f"{wall}; not certain: {between}" if between else wall),
        ("executor time", _change(before.executor_seconds, after.executor_seconds, seconds)),
        (cost, _change(before.cost, after.cost, "{:.4g}".format)),
    ]


def _change(before: float, after: float, shown: Callable[[float], str]) -> str:
    part = f" ({after / before - 1:+.0%})" if before > 0 else ""
    return f"{shown(before)} -> {shown(after)}{part}"


def object_name(change: ObjectChange) -> str:
    """The kind and names of an object: `Job pi-51bb888d -> pi-0a1b2c3d`."""
    names = [name for name in dict.fromkeys((change.old_name, change.new_name)) if name]
    return f"{change.kind} {' -> '.join(names)}"


def _said(change: ObjectChange) -> str:
    meaning = f" ({_MEANING['kept']})" if change.action == "kept" else ""
    return f"{meaning}: the server rejects it: {change.note}" if change.note else meaning


# --- Markdown ---------------------------------------------------------------------------------------------


def as_markdown(difference: Difference, *, brief: bool = False) -> str:
    """The text for a comment on a pull request."""
    head = f"### sparkgen diff: {code(difference.old)} → {code(difference.new)}"
    parts = [head, "", f"{summary(difference)}." if difference else "No changes.", ""]
    files = [*difference.overrides, *difference.notes]
    parts += [*(f"- {escaped(text)}" for text in files), ""] if files else []
    for one in difference.applications:
        parts += [*_section(one, brief=brief), ""]
    return "\n".join(parts).rstrip("\n") + "\n"


def _section(one: ApplicationDiff, *, brief: bool) -> Iterator[str]:
    state = "" if one.state == "changed" else f" ({one.state})"
    yield f"#### {code(one.title)}{state}"
    yield ""
    yes, _, rest = answer(one).partition(": ")
    yield f"**Starts a new run: {yes}** — {escaped(rest)}."
    for line in _because(one):
        yield f"{line[0].upper()}{escaped(line[1:])}."
    if one.fields:
        yield from ("", "| change | from | to | |", "|---|---|---|---|")
        for field in one.fields:
            title = f" ({escaped(field.title)})" if field.title else ""
            cells = (f"{escaped(field.label)}{title}", code(field.old), code(field.new), _effect(field))
            yield f"| {' | '.join(cells)} |"
    if one.prediction is not None:
        head = prediction_head(one.prediction)
        yield from ("", f"{head[0].upper()}{escaped(head[1:])}.")
        rows = prediction_rows(one.prediction)
        yield from ("", "| next run | |", "|---|---|") if rows else ()
        yield from (f"| {name} | {escaped(step)} |" for name, step in rows)
    yield ""
    count = len(one.objects)
    yield f"<details><summary>{count} object{'s' if count > 1 else ''}</summary>"
    yield ""
    for change in one.objects:
        yield f"- {_MEANING[change.action]}: {code(object_name(change))}{escaped(_said_short(change))}"
    if not brief:
        for change in one.objects:
            if change.diff and change.action != "kept":
                yield from ("", *fenced(change.diff))
    yield from ("", "</details>")


def _said_short(change: ObjectChange) -> str:
    return f": the server rejects it: {change.note}" if change.note else ""


def code(text: str) -> str:
    """The text as Markdown code; no character in it can end the code."""
    if not text:
        return ""
    text = visible(text)
    ticks = "`" * (max((len(run) for run in re.findall("`+", text)), default=0) + 1)
    space = " " if "`" in text else ""
    return f"{ticks}{space}{text}{space}{ticks}".replace("|", "\\|")


def escaped(text: str) -> str:
    """The text with all special characters of Markdown and HTML escaped, and without mentions by `@`."""
    plain = re.sub(r"([\\`*_\[\]<>|#&~$])", r"\\\1", visible(text))
    return plain.replace("@", f"@{_APART}").replace("://", f":{_APART}//").replace("www.", f"www{_APART}.")


def fenced(diff: str) -> list[str]:
    """A diff as a fenced block, with a longer fence than any in the diff."""
    ticks = "`" * max(3, max((len(run) for run in re.findall("`+", diff)), default=0) + 1)
    return [f"{ticks}diff", *diff.rstrip("\n").split("\n"), ticks]


# --- JSON -------------------------------------------------------------------------------------------------


def as_json(difference: Difference, *, brief: bool = False) -> str:
    """The JSON for programs: version 1 of a form to which fields are only added."""
    applications = []
    for one in difference.applications:
        value = asdict(one)
        value["startsNewRun"] = one.verdict.starts
        value["run"] = {
            "old": one.verdict.old,
            "new": one.verdict.new,
            "why": one.verdict.sentence,
            "parts": list(one.verdict.parts),
        }
        del value["verdict"]
        value["prediction"] = _prediction_json(one.prediction)
        value["fields"] = [
            {
                "path": change.path,
                "label": change.label,
                "title": change.title,
                "old": change.old,
                "new": change.new,
                "anotherRun": change.in_run,
            }
            for change in one.fields
        ]
        value["objects"] = [_object_json(change, brief=brief) for change in one.objects]
        applications.append(value)
    result = {
        "version": 1,
        "old": difference.old,
        "new": difference.new,
        "applications": applications,
        "unchanged": difference.unchanged,
        "overrides": list(difference.overrides),
        "notes": list(difference.notes),
    }
    return escaped_json(json.dumps(result, indent=2, ensure_ascii=False)) + "\n"


def _prediction_json(one: Prediction | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "log": one.log or None,
        "before": _figures_json(one.before),
        "after": _figures_json(one.after),
        "wallError": one.wall_error,
        "currency": one.currency or None,
        "notPredicted": list(one.not_predicted),
        "reason": one.reason or None,
    }


def _figures_json(one: Figures | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "wallSeconds": one.wall_seconds,
        "wallRangeSeconds": one.wall_range,
        "executorSeconds": one.executor_seconds,
        "cost": one.cost,
    }


def _object_json(change: ObjectChange, *, brief: bool) -> dict[str, str]:
    value = {
        "action": change.action,
        "kind": change.kind,
        "oldName": change.old_name,
        "newName": change.new_name,
    }
    if change.note:
        value["refused"] = change.note
    return value if brief else {**value, "diff": change.diff}
