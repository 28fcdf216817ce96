"""Explains what sparkgen does with a Spark property: `sparkgen explain spark.executor.memory`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from sparkgen.properties.classes import BACKEND_CLASSES, PROPERTIES
from sparkgen.properties.known import known
from sparkgen.properties.older import new_name, older_names
from sparkgen.properties.table import judgement
from sparkgen.properties.verdicts import Judgement, Verdict
from sparkgen.schema.wording import either


def explain_property(name: str, fields: Sequence[str], width: int) -> str:
    """The explanation, ending with a newline. `fields`: the paths of fields that set the property."""
    new = new_name(name)
    found = judgement(new)
    rows = [("PROPERTY:", new)]
    if new != name:
        rows.append(("OLDER NAME:", name))
    if (one := known().get(new)) is not None and one.since:
        rows.append(("SINCE:", f"Spark {one.since}"))
    rows.append(("IN sparkConf:", _verdict(found, fields)))
    head = "\n".join(f"{label:<13} {text}" for label, text in rows)
    sentences = " ".join(_sentences(new, found, fields))
    lines = textwrap.wrap(sentences, width - 4, break_on_hyphens=False, break_long_words=False)
    body = "\n".join(f"    {line}" for line in lines)
    return f"{head}\n\nDESCRIPTION:\n{body}\n"


def _verdict(found: Judgement | None, fields: Sequence[str]) -> str:
    if fields:
        return "has an effect; the field takes precedence"
    verdict = Verdict.PASSED if found is None else found.verdict
    return {
        Verdict.FIELD: "an error: nothing would read it",
        Verdict.PASSED: "has an effect: Spark gets it unchanged",
        Verdict.READ: "has an effect",
        Verdict.DONE: "has no effect: sparkgen sets it itself",
        Verdict.NO_EFFECT: "has no effect",
        Verdict.REFUSED: "an error: Spark does not start with it",
    }[verdict]


def _sentences(name: str, found: Judgement | None, fields: Sequence[str]) -> Iterator[str]:
    if fields:
        yield f"The field {either(fields)} sets it."
    elif found is None:
        yield "sparkgen does not read this property. Spark, its libraries or your code may."
    elif found.verdict is Verdict.PASSED and not found.reason:
        yield "Spark reads it, as with every cluster manager."
    else:
        for text in (found.reason, found.step, found.remark):
            if text:
                small = text.startswith(("sparkgen", "spark-submit", "`"))
                yield f"{text if small else text[:1].upper() + text[1:]}."
    if name in older_names():
        yield f"Spark also reads it under its older name {either(older_names()[name])}."
    if name in PROPERTIES:
        yield f"These classes have no effect here: {', '.join(BACKEND_CLASSES)}."
