"""`sparkgen doctor`: prints each result as soon as it is known, and what to ask the platform team."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from sparkgen import __version__, names
from sparkgen.cli import output
from sparkgen.cli.leaving import leaving_by_signals
from sparkgen.cli.option_table import Option, command
from sparkgen.cli.options import CHANGES, PLACE
from sparkgen.cli.problems import Stdin, show
from sparkgen.cli.request import ClusterOptions, Request
from sparkgen.cli.wait import seconds_of
from sparkgen.cluster import connect
from sparkgen.doctor import probe
from sparkgen.doctor.gather import NamespaceFacts
from sparkgen.doctor.values import Row, Verdict, request, words
from sparkgen.errors import Severity, SparkgenError
from sparkgen.spark_versions import SUGGESTED
from sparkgen.terminal import visible
from sparkgen.usecases import doctor as usecase
from sparkgen.usecases.apply import wanted
from sparkgen.usecases.local_files import found, with_contents
from sparkgen.usecases.runtime import with_own_runtime
from sparkgen.usecases.validate import check
from sparkgen.usecases.wait import TimeLimit

if TYPE_CHECKING:
    from sparkgen.document import Document

HELP = """Find out whether Spark applications can run in a namespace of a cluster, and what is missing.

The command reads permissions, versions, Pod Security, quotas, nodes and storage. Then it runs a small
application: it computes pi on two executors, lets them end when they are idle, starts them again, deletes one
and kills one. It prints each result at once, and at the end a text that you can send to your platform team.

The command takes three minutes at most, and leaves nothing in the namespace, also after Ctrl-C. If it is
killed, its application ends and goes by itself.

Exit codes: 0 everything needed works, 1 something does not work, 2 wrong usage or no cluster.
"""
EXAMPLES = """\b
Examples:
  sparkgen doctor -n analytics
  sparkgen doctor -n analytics --image registry.example.com/spark:3.5.8
  sparkgen doctor -n analytics --set spec.imagePullSecrets[0]=registry
  sparkgen doctor -n analytics --conformance
  sparkgen doctor -n analytics -o json > ticket.json
"""

SHORTEST = 60
LONGEST = 3600
_MARKS = {
    Verdict.WORKS: "✓",
    Verdict.WARNS: "!",
    Verdict.FAILS: "✗",
    Verdict.UNKNOWN: "?",
    Verdict.SKIPPED: "-",
}
_WIDTH = 16
_TEMPLATE = files("sparkgen").joinpath("templates", "doctor")


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorOptions(ClusterOptions):
    """What the application runs with; "" for the default. `values`, `sets`, `set_strings`: overlays."""

    image: str
    spark_version: str
    runtime_image: str
    values: tuple[str, ...]
    sets: tuple[str, ...]
    set_strings: tuple[str, ...]
    conformance: bool
    timeout: str
    output: str


def doctor(options: DoctorOptions) -> int:
    """Try the namespace. Returns 1 if something does not work."""
    timeout = options.timeout or ("6m" if options.conformance else "3m")
    seconds = seconds_of(timeout) or 0
    if not SHORTEST <= seconds <= LONGEST:
        raise SparkgenError(f"--timeout {timeout} must be between 1m and 1h")
    id_ = secrets.token_hex(names.SESSION_ID_LENGTH)[: names.SESSION_ID_LENGTH]
    document = document_of(options, seconds, f"{probe.PREFIX}{id_}")
    if document is None:
        return 1
    cluster = connect(options.place)
    facts = NamespaceFacts(cluster, with_own_runtime(wanted(document, cluster.namespace)), datetime.now(UTC))
    clock = usecase.Clock()
    limit = TimeLimit(timeout, clock.now() + seconds)
    rows: list[Row] = []

    def tell(row: Row) -> None:
        rows.append(row)
        if options.output == "text":
            _print(row)

    with output.outliving_readers(), leaving_by_signals():
        usecase.examine(facts, limit, tell, clock, conformance=options.conformance)
    asked = request(rows, facts.wanted.namespace, _kubernetes(rows))
    if options.output == "json":
        _print_json(facts.wanted.namespace, rows, asked)
    else:
        _print_end(rows, asked)
    return int(any(row.verdict is Verdict.FAILS for row in rows))


def document_of(options: DoctorOptions, seconds: int, name: str) -> Document | None:
    """Returns the application to run for so many seconds; None if it has errors, which are printed."""
    texts = {
        "metadata.name": name,
        "spec.image": options.image,
        "spec.sparkVersion": options.spark_version,
        "spec.runtimeImage": options.runtime_image,
    }
    chosen = [f"{path}={text}" for path, text in texts.items() if text]
    with as_file(_TEMPLATE) as folder:
        more = (str(folder / "conformance.yaml"),) if options.conformance else ()
        asked = Request(
            (str(folder / "app.yaml"),),
            (*more, *options.values),
            (*options.sets, f"spec.activeDeadlineSeconds={seconds + 60}"),
            (*options.set_strings, *chosen),
            local_files="unread",
        )
        checked = check(asked, bytes)
        errors = [one for one in checked.problems if one.severity is Severity.ERROR]
        if not errors:
            document, errors = with_contents(checked.documents[0], found(checked.documents[0], asked))
    if errors:
        show(errors, asked, Stdin(), on_stdout=False)
        return None
    return document


def _print(row: Row) -> None:
    lines = [f"{_MARKS[row.verdict]} {words(row.check):<{_WIDTH}} {row.found}"]
    if row.verdict in (Verdict.FAILS, Verdict.WARNS):
        lines += [f"    {name}: {text}" for name, text in (("means", row.meaning), ("ask", row.ask)) if text]
    for line in lines:
        output.write(f"{visible(line)}\n")


def _print_end(rows: Sequence[Row], asked: str) -> None:
    count = {verdict: sum(row.verdict is verdict for row in rows) for verdict in Verdict}
    if asked:
        output.write(f"\nTo ask the platform team:\n\n{asked}")
    summary = ", ".join(f"{number} {_SUMMARY[verdict]}" for verdict, number in count.items() if number)
    output.note(summary)


_SUMMARY = {
    Verdict.WORKS: "work",
    Verdict.WARNS: "to know about",
    Verdict.FAILS: "fail",
    Verdict.UNKNOWN: "unknown",
    Verdict.SKIPPED: "not tried",
}


def _print_json(namespace: str, rows: Sequence[Row], asked: str) -> None:
    import json  # noqa: PLC0415 - of one output format

    value = {
        "sparkgen": __version__,
        "namespace": namespace,
        "checks": [row.value for row in rows],
        "request": asked,
    }
    output.data(json.dumps(value, indent=2) + "\n")


def _kubernetes(rows: Sequence[Row]) -> str:
    row = next((row for row in rows if row.check == "kubernetes" and row.verdict is Verdict.WORKS), None)
    return row.found.partition(" ")[0] if row else ""


COMMAND = command(
    DoctorOptions,
    doctor,
    Option("image", "--image IMAGE", f"Spark image to try. Default: docker.io/apache/spark:{SUGGESTED}."),
    Option("spark_version", "--spark-version VERSION", f"Version of Spark in it. Default: {SUGGESTED}."),
    Option(
        "runtime_image",
        "--runtime-image IMAGE",
        "Runtime image to try. Default: the runtime of .sparkgen.yaml, or a ConfigMap.",
    ),
    *CHANGES,
    Option(
        "conformance",
        "--conformance",
        "Also cause faults that are safe in any namespace: a RoleBinding that is late, a full disk.",
    ),
    Option(
        "timeout",
        "--timeout TIME",
        "Time for everything, from 1m to 1h. Default: 3m, or 6m with --conformance.",
    ),
    *PLACE,
    Option(
        "output",
        "--output -o",
        "Output format; json is for a ticket.",
        choices=("text", "json"),
        default="text",
    ),
)
