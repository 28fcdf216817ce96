"""The page docs/spark-differences.md: the table of differences, and the cases that look for others."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from differential.commands import Case
from differential.differences import Difference
from docs.reference.markdown import table
from sparkgen.properties.table import judgement

SENTENCE = re.compile(r"(?<=\.) (?=[A-Z])")
"""Between two sentences: each has a line of its own."""
HEAD = """# How an application differs under sparkgen

<!-- Generated from tools/differential/differences.py and tests/e2e/differential: run `make golden`. -->

This page shows you what changes for an application that you ran with an operator or `spark-submit`.
All else is as with Spark's own Kubernetes support: files, class paths, properties, exit codes.

## What differs

"Native" means Spark's own Kubernetes support in cluster mode.
"""
BY_SPARK = """## What differs with `allocator: spark`

With [Spark's own backend](spark-backend.md), the driver creates its executors as natively.
So "Who creates executors" does not count, and all other differences above do.
There are a few more.
"""
TESTS = """
## How this is tested

Each case below is one `spark-submit` command.
`make e2e-full` runs it three times on the [test cluster](test-cluster.md), with each version that it is for.
The first time, `spark-submit` itself submits the command.
Then `sparkgen import` converts the command, and `sparkgen apply` runs the document with each allocator.
Each program prints what the driver and an executor see.
The test compares both reports of sparkgen with the report of `spark-submit`.
It also compares the pods, how they end, and what is left in the namespace.
The test fails at each difference that is not listed above.
A difference that no case needs any more fails a test, too.

The report contains:

- the files of the working directory, with digests
- Python's path and the class path, in order
- environment variables, system properties, and the configurations of Spark and Hadoop
- the user, the user of Hadoop, limits, encodings and the time zone
- what `SparkFiles` finds
- how the program ends
- whether executors are gone when `main` has returned and a thread of it goes on

"""


def page(differences: Iterable[Difference], by_spark: Iterable[Difference], cases: Sequence[Case]) -> str:
    """The page as Markdown; `by_spark`: what differs beyond that with `allocator: spark`."""
    parts = [HEAD, *map(_section, differences), BY_SPARK, *map(_section, by_spark), TESTS]
    rows = table(("case", "what it is about"), ((f"`{case.name}`", _cell(case)) for case in cases))
    return "\n".join(parts[:-1]) + parts[-1] + rows


def _section(row: Difference) -> str:
    items = {"Native": row.native, "sparkgen": row.sparkgen, "Why": row.reason}
    if row.lost:
        items["Import reports"] = "; ".join(map(_lost, row.lost))
    lines = (SENTENCE.sub("\n  ", f"- **{name}**: {text}.") for name, text in items.items())
    return "\n".join((f"### {row.what[:1].upper()}{row.what[1:]}\n", *lines, ""))


def _lost(name: str) -> str:
    """A property or variable that import reports, with what it says of a property."""
    found = judgement(name)
    return f"`{name}` ({found.reason})" if found is not None and found.reason else f"`{name}`"


def _cell(case: Case) -> str:
    only = f" Only for Spark {' and '.join(case.versions)}." if case.versions else ""
    return f"{case.title}{only}"
