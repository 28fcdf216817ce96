"""The law of parsers: an input from outside that is twice as long makes at most about twice the work.

Each parser of text that somebody else may have written has a row here, with inputs that grow where it hurts.
Expressions have a law of their own: test_patterns.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sparkgen.cluster import reading
from sparkgen.cluster.errors import ClusterError
from sparkgen.cluster.place import Place, choose
from sparkgen.codes import hindrance_of, unmarked
from sparkgen.delivery import requirements, secret_files
from sparkgen.delivery.registry import errors as registry_errors
from sparkgen.diff import forms, trees, words
from sparkgen.document import comments, configuration, setvalues
from sparkgen.document.locks import Locks
from sparkgen.document.node import Document
from sparkgen.document.parse import parse
from sparkgen.document.sources import Reader
from sparkgen.errors import SparkgenError
from sparkgen.eventlog import EventLogError, read_recording
from sparkgen.grammar import cpu, cron, duration, factor, memory, quantity, timestamp, timezone, whole
from sparkgen.grammar.error import GrammarError
from sparkgen.importing import shell
from sparkgen.importing.properties import read_properties
from sparkgen.importing.repair import problems_of
from sparkgen.importing.script import read_script
from sparkgen.jsonvalue import decode
from sparkgen.lint.configfile import read_config
from sparkgen.live import allocatorlog, driverlog, login, pod_reasons
from sparkgen.live.find import find
from sparkgen.live.queue import Queues
from sparkgen.local import java, variables
from sparkgen.model.properties import effective_properties
from sparkgen.runtime.allocator.driver import properties as driver_properties
from sparkgen.runtime.allocator.driver import protocol
from sparkgen.runtime.exits import Refused
from sparkgen.runtime.fetch import archive
from sparkgen.runtime.fetch.values import artifacts
from sparkgen.runtime.httpserver import parse as http
from sparkgen.runtime.kubernetes import untrusted
from sparkgen.runtime.registry.challenge import challenge
from sparkgen.semantics import secret
from sparkgen.terminal import log_line, readable
from sparkgen.usecases.validate import examine
from sparkgen.whatif.price_file import prices_of
from sparkgen.writers import manifest
from sparkgen.yamltext import dump
from tests.unit.live import objects
from tests.unit.live.test_queue import queued_job, workload

from .work import work

SIZE = 150
MOST_GROWTH = 2.2
REFUSALS = (
    GrammarError,
    SparkgenError,
    Refused,
    http.BadRequest,
    protocol.BadMessage,
    setvalues.SetError,
    untrusted.Malformed,
    shell.Unclosed,
    archive.BadArtifact,
    ClusterError,
    EventLogError,
    json.JSONDecodeError,
)


@dataclass(frozen=True, slots=True)
class Row:
    """A parser, and inputs for it of a given size."""

    parse: Callable[[Any], object]
    inputs: dict[str, Callable[[int], Any]]


VOLUMES = """\
apiVersion: sparkgen.dev/v1alpha1
kind: SparkApplication
metadata: {name: a}
spec:
  volumes:
"""


def text(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """A text of so many units."""
    return lambda size: before + unit * size + after


def data(unit: str, before: str = "", after: str = "") -> Callable[[int], bytes]:
    """The same as bytes."""
    return lambda size: (before + unit * size + after).encode()


def numbered(form: str, before: str = "", after: str = "") -> Callable[[int], str]:
    """A text of so many units, each with its number."""
    return lambda size: before + "".join(form.replace("#", str(index)) for index in range(size)) + after


def of_document(read: Callable[[bytes, str], Any]) -> Callable[[str], object]:
    """A reader of documents."""
    return lambda given: read(given.encode(), "app.yaml")


def of_grammar(read: Callable[[str], object]) -> Row:
    """A reader of one value."""
    return Row(
        read,
        {
            "digits": text("1"),
            "points": text("1."),
            "units": text("1h"),
            "blanks": text(" ", "1", "x"),
            "commas": text("1,"),
            "letters": text("m"),
            "stars": text("* "),
            "parts": text("a/"),
        },
    )


YAML = {
    "keys": numbered("k#: v\n"),
    "items": text("- a\n"),
    "flow": text("a, ", "x: [", "]"),
    "nested": text("[", "", ""),
    "deep": lambda size: "".join(f"{' ' * index}k:\n" for index in range(min(size, 60))),
    "anchors": numbered("a#: &a# {}\n"),
    "aliases": text("- *a\n", "- &a [1, 2]\n"),
    "twice": text("k: v\n"),
    "documents": text("---\na: b\n"),
    "comments": text("# c\n", "", "a: b\n"),
    "long line": text("x", "a: "),
    "block": text("  x\n", "a: |\n"),
    "quotes": text("''", "a: '", "'"),
    "escapes": text("\\n", 'a: "', '"'),
    "tabs": text("\t"),
    "conflict": text("<<<<<<< a\n"),
    "templates": text("{{ a }}"),
    "tags": text("!!"),
    "no end": text("- - - "),
    "merges": text("  <<: *a\n", "a: &a {x: y}\nb:\n"),
}
LOG = {
    "lines": text("26/11/20 10:00:00 INFO A: b\n"),
    "errors": text("26/11/20 10:00:00 ERROR A: b\n"),
    "blank": text("\n"),
    "one line": text("ERROR "),
    "traces": text("Traceback (most recent call last):\nValueError: x\n"),
    "java": text('Exception in thread "a" '),
    "causes": text("Caused by: a.B: c\n"),
    "words": text("sparkgen: "),
    "lost": text("Lost task "),
    "quotes": text('"'),
}
SHELL = {
    "words": text("a "),
    "quotes": text("''", "spark-submit "),
    "backslashes": text("\\\n", "spark-submit ", "local:///a.py"),
    "doubles": text("A=$A$A\n", "A=x\n", "spark-submit $A"),
    "conditions": text("if a; then\n", "", "spark-submit a.py\n"),
    "chains": text("a && ", "", "spark-submit a.py"),
    "here-documents": text("bash <<A\nspark-submit a.py\nA\n"),
    "functions": numbered("f#() { f# $@; }\n", "", "f0"),
    "commands": text("spark-submit a.py\n"),
    "variables": numbered("A#=x\n", "", "spark-submit $A1"),
    "appended": text("A+=x\n", "A=x\n"),
    "defaults": lambda size: "spark-submit " + "${A:-" * size + "x" + "}" * size,
    "brackets": text("[", "spark-submit "),
    "braces": text("{a,", "spark-submit "),
    "substitutions": text("$(", "spark-submit "),
    "loops": text("for i in 1; do\n", "", "spark-submit $i"),
    "cases": text("case a in\na) b;;\nesac\n"),
    "redirections": text(">", "spark-submit "),
    "comments": text("#\n"),
    "evals": text("eval 'spark-submit a.py'\n"),
    "parts": text("a''", "spark-submit "),
    "shifts": lambda size: "set -- " + "a " * 40 * size + "\n" + "shift\n" * size + "spark-submit $1",
    "all arguments": lambda size: "set -- " + "a " * 40 * size + "\n" + 'spark-submit "$@"\n' * size,
    "substituted": text("$(spark-submit a)", 'x "', '"'),
    "branches": text("a) spark-submit b;; ", "case x in ", "esac"),
}
PROPERTIES = {
    "lines": numbered("a.b# = c\n"),
    "continued": text("\\\n", "a=", "b"),
    "escapes": text("\\u0041", "a="),
    "blanks": text(" ", "a"),
    "comments": text("#\n"),
    "separators": text("="),
    "backslashes": text("\\"),
}


def of_file(read: Callable[[str], object], name: str) -> Callable[[str | bytes], object]:
    """A reader of a file with a name."""

    def reading(given: str | bytes) -> object:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_bytes(given.encode() if isinstance(given, str) else given)
            return read(str(path))

    return reading


def locked(path: str) -> object:
    """The artifacts that a lock has for a document, and what is wrong with it."""
    locks = Locks(Reader(bytes), named=path)
    (found,) = parse(b"kind: SparkApplication\nmetadata: {name: a}\n", "app.yaml").documents
    assert found.root is not None
    return locks.artifacts(Document(found.root, found.root.value, "app.yaml", 0)), locks.problems


def zipped(size: int) -> bytes:
    """An archive with so many parts of a rolling log."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        for index in range(size):
            file.writestr(f"eventlog_v2_app/events_{index + 1}_app", STARTED)
    return made.getvalue()


STARTED = """\
{"Event": "SparkListenerLogStart", "Spark Version": "4.0.1"}
{"Event": "SparkListenerApplicationStart", "App Name": "a", "App ID": "b", "Timestamp": 1, "User": "c"}
"""
EVENT_LOG = {
    "starts": text(STARTED),
    "blank": text("\n", STARTED),
    "broken": text("{\n", STARTED),
    "unknown": text('{"Event": "SparkListenerOther", "a": [1]}\n', STARTED),
    "one line": text('{"a": ', STARTED),
    "no line": text("x"),
    "deep": text("[", STARTED + '{"Event": "SparkListenerOther", "a": '),
    "executors": numbered(
        '{"Event": "SparkListenerExecutorAdded", "Timestamp": #, "Executor ID": "#", "Executor Info": '
        '{"Host": "a#", "Total Cores": 1}}\n',
        STARTED,
    ),
    "removals": numbered(
        '{"Event": "SparkListenerExecutorRemoved", "Timestamp": #, "Executor ID": "#", '
        '"Removed Reason": "a"}\n',
        STARTED,
    ),
    "block managers": numbered(
        '{"Event": "SparkListenerBlockManagerAdded", "Block Manager ID": {"Executor ID": "#", "Host": "a", '
        '"Port": 1}, "Maximum Memory": 1, "Timestamp": #}\n',
        STARTED,
    ),
    "stages": numbered(
        '{"Event": "SparkListenerStageCompleted", "Stage Info": {"Stage ID": #, "Stage Attempt ID": 0, '
        '"Stage Name": "a", "Number of Tasks": 1, "Parent IDs": [0], "Submission Time": 2, '
        '"Completion Time": 3}}\n',
        STARTED,
    ),
    "attempts": numbered(
        '{"Event": "SparkListenerStageCompleted", "Stage Info": {"Stage ID": 1, "Stage Attempt ID": #, '
        '"Stage Name": "a", "Number of Tasks": 1, "Parent IDs": [0], "Submission Time": 2, '
        '"Completion Time": 3}}\n',
        STARTED,
    ),
    "jobs": numbered(
        '{"Event": "SparkListenerJobStart", "Job ID": #, "Submission Time": 2, "Stage IDs": [1, 2], '
        '"Stage Infos": []}\n{"Event": "SparkListenerJobEnd", "Job ID": #, "Completion Time": 3, '
        '"Job Result": {"Result": "JobSucceeded"}}\n',
        STARTED,
    ),
    "tasks": numbered(
        '{"Event": "SparkListenerTaskEnd", "Stage ID": 1, "Stage Attempt ID": 0, "Task Type": "ResultTask", '
        '"Task End Reason": {"Reason": "Success"}, "Task Info": {"Task ID": #, "Index": #, "Attempt": 0, '
        '"Launch Time": 2, "Executor ID": "#", "Host": "a", "Finish Time": #, "Failed": false, '
        '"Killed": false, "Accumulables": []}}\n',
        STARTED,
    ),
    "profiles": numbered(
        '{"Event": "SparkListenerResourceProfileAdded", "Resource Profile Id": #, '
        '"Executor Resource Requests": {"cores": {"Amount": 1}}, "Task Resource Requests": {}}\n',
        STARTED,
    ),
    "properties": numbered(
        '"spark.a#": "b", ', '{"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {', "}}\n"
    ),
}
LOCK = {
    **YAML,
    "parts": numbered("---\nkind: SparkApplication\nmetadata: {name: a#}\nspec: {artifacts: []}\n"),
    "parts of one name": text("---\nkind: SparkApplication\nmetadata: {name: a}\nspec: {artifacts: []}\n"),
    "artifacts": numbered(
        "  - {name: b#}\n", "kind: SparkApplication\nmetadata: {name: a}\nspec:\n  artifacts:\n"
    ),
    "other fields": numbered("  k#: v\n", "kind: SparkApplication\nmetadata: {name: a}\nspec:\n"),
    "below other fields": numbered(
        "    k#: v\n", "kind: SparkApplication\nmetadata: {name: a}\nspec:\n  driver:\n"
    ),
}
CONTEXTS = "- {name: c#, context: {cluster: a, user: b, namespace: n}}\n"
KUBECONFIG = {
    **YAML,
    "contexts": numbered(CONTEXTS, "current-context: c1\ncontexts:\n"),
    "another context": numbered(CONTEXTS, "current-context: other\ncontexts:\n"),
    "a context with a long name": text("c", "current-context: c\ncontexts:\n- {context: {}, name: ", "}\n"),
    "one context": text(CONTEXTS, "current-context: 'c#'\ncontexts:\n"),
    "certificates": text("QUFB", "clusters:\n- {name: a, cluster: {certificate-authority-data: ", "}}\n"),
    "closed lists": lambda size: "a: " + "[" * min(size, 60) + "]" * min(size, 60),
    "merged twice": lambda size: "a0: &a0 {k: v}\n"
    + "".join(f"a{n}: &a{n} {{<<: [*a{n - 1}, *a{n - 1}]}}\n" for n in range(1, min(size, 18))),
    "merged in turn": lambda size: "a0: &a0 {k: v}\n"
    + "".join(f"a{n}: &a{n} {{<<: *a{n - 1}, k{n}: v}}\n" for n in range(1, size)),
}


def tar(size: int) -> io.BytesIO:
    """An archive of so many empty blocks, which no archive has in front."""
    return io.BytesIO(bytes(512 * size))


def unpacked(given: io.BytesIO) -> int:
    """The number of files that are unpacked into a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        return archive.unpack(given, Path(folder), 1)


PARSERS: dict[str, Row] = {
    "documents": Row(of_document(parse), YAML),
    "documents of kubectl": Row(lambda given: parse(given.encode(), "a.yaml", as_kubectl=True), YAML),
    "the configuration": Row(of_document(configuration.read), YAML),
    "the linter's configuration": Row(of_document(read_config), YAML),
    "prices": Row(of_document(prices_of), YAML),
    "--set": Row(
        lambda given: setvalues.parse_set(given, "--set", 1),
        {
            "keys": numbered("a#=b,"),
            "paths": text("a.", "", "=b"),
            "indices": text("[0]", "a", "=b"),
            "lists": text("a,", "a={", "}"),
            "open": text("{", "a="),
            "escapes": text("\\,", "a="),
        },
    ),
    "comments that ignore": Row(
        lambda given: comments.find_ignores(parse(given.encode(), "a.yaml"), "a.yaml"),
        {
            "comments": text("# sparkgen: ignore SG201 -- x\n"),
            "codes": text("SG201, ", "# sparkgen: ignore "),
            "quotes": text('"'),
            "marks": text("#"),
        },
    ),
    "quantities": of_grammar(quantity.parse),
    "cores": of_grammar(cpu.to_cores),
    "memory": of_grammar(memory.to_bytes),
    "durations": of_grammar(duration.to_seconds),
    "factors": of_grammar(factor.parse),
    "schedules": of_grammar(cron.parse),
    "times": of_grammar(timestamp.to_seconds),
    "time zones": of_grammar(timezone.check),
    "whole numbers": of_grammar(whole.whole),
    "event logs": Row(of_file(read_recording, "log"), EVENT_LOG),
    "archives of event logs": Row(of_file(read_recording, "log.zip"), {"parts": zipped}),
    "locks": Row(of_file(locked, "app.lock.yaml"), LOCK),
    "kubeconfigs": Row(of_file(lambda path: choose(Place(path), {}), "config"), KUBECONFIG),
    "scripts": Row(read_script, SHELL),
    "words after redirections": Row(
        read_script,
        {
            "words": lambda size: "> " * size + "a " * size + "\nspark-submit a.py\n",
            "keywords": lambda size: "> " * size + "if " * size + "\nspark-submit a.py\n",
        },
    ),
    "problems of a document": Row(
        lambda given: problems_of(given, examine),
        {"volumes": numbered("  - {name: v#, hostPath: {path: /a, type: bad}}\n", VOLUMES)},
    ),
    "properties to import": Row(read_properties, PROPERTIES),
    "properties of a driver": Row(driver_properties.parse, PROPERTIES),
    "requirements": Row(
        lambda given: [*requirements.faults(given)],
        {
            "lines": numbered("a#==1\n"),
            "continued": text("\\\n", "a==1 "),
            "hashes": text(" --hash=sha256:aa", "a==1"),
            "extras": text("a,", "a[", "]==1"),
            "blanks": text(" ", "a==1"),
            "markers": text(";", "a==1"),
            "addresses": text("https://", "a @ "),
        },
    ),
    "files with secrets": Row(
        secret_files.by_text,
        {"letters": data("a"), "keys": data("aws_secret_access_key "), "prefixes": data("ghp_")},
    ),
    "names of files": Row(secret_files.by_name, {"folders": text("a/"), "points": text(".env.")}),
    "secrets": Row(
        lambda given: secret.is_secret("spark.x.password", given),
        {"addresses": text("://a:"), "words": text("a.b."), "templates": text("${")},
    ),
    "names of secrets": Row(
        lambda given: secret.is_secret(given, "x"), {"words": text("a.b-"), "accounts": text(".a.dfs.")}
    ),
    "challenges": Row(
        challenge,
        {
            "letters": text("a"),
            "pairs": text('a="b",', "Bearer "),
            "escapes": text("\\", 'Bearer a="'),
            "open": text('a="', "Bearer "),
        },
    ),
    "errors of a registry": Row(
        lambda given: registry_errors.message(given.encode()),
        {
            "errors": text('{"message": "a"},', '{"errors": [', "{}]}"),
            "words": text("?a ", '{"errors": [{"message": "', '"}]}'),
            "deep": text("["),
        },
    ),
    "artifacts to fetch": Row(
        lambda given: artifacts({"SPARKGEN_ARTIFACTS": given}),
        {"deep": text("["), "items": text("{},", "[", "{}]"), "points": text("a.", '[{"name":"', '"}]')},
    ),
    "archives": Row(unpacked, {"empty": tar}),
    "requests": Row(
        lambda given: http.parse_head(given.encode()),
        {
            "headers": numbered("a#: b\r\n", "GET / HTTP/1.1\r\n"),
            "blanks": text(" ", "GET / HTTP/1.1\r\na:", "b"),
            "path": text("/a?", "GET /", " HTTP/1.1"),
        },
    ),
    "states of a driver": Row(
        lambda given: protocol.state_in(given.encode()),
        {
            "deep": text("["),
            "keys": numbered('"k#": 1,', "{", '"a": 1}'),
            "digits": text("9", '{"total": ', "}"),
        },
    ),
    "answers of a cluster": Row(decode, {"deep": text("["), "keys": numbered('"k#": {},', "{", '"a": 1}')}),
    "names from a cluster": Row(untrusted.escaped, {"controls": text("\x1b"), "letters": text("a")}),
    "text on a terminal": Row(
        lambda given: readable(given, colours=True),
        {
            "colours": text("\x1b[31m"),
            "commands": text("::error::"),
            "open": text("\x1b["),
            "blanks": text(" "),
            "marks": text("#"),
        },
    ),
    "lines of a log": Row(
        log_line,
        {"colours": text("\x1b[31m"), "hidden": text("\x1b[8ma"), "semicolons": text(";", "\x1b[", "m")},
    ),
    "logs of a driver": Row(driverlog.failure_in, LOG),
    "lines of a driver's log": Row(driverlog.telling_lines, LOG),
    "refusals in a driver's log": Row(
        driverlog.refused_executor,
        {
            "beginnings in one line": lambda number: (
                "KubernetesClientException: Failure executing: POST at: x/pods. Message: " * number
            ),
            "beginnings in lines": lambda number: (
                "KubernetesClientException: Failure executing: POST at: x/pods. Message: \n" * number
            ),
        },
    ),
    "logs of a login": Row(login.login_failed, LOG),
    "logs of an allocator": Row(allocatorlog.hindrances, LOG),
    "failures in an allocator's log": Row(allocatorlog.failure, LOG),
    "executors an allocator wants": Row(allocatorlog.wanted, LOG),
    "losses in an allocator's log": Row(lambda given: allocatorlog.loss(given, 1), LOG),
    "messages of pods": Row(lambda given: pod_reasons.missing(given, "a"), LOG),
    "codes in a text": Row(unmarked, {"codes": text("[A] ")}),
    "hindrances": Row(hindrance_of, {"text": text("[A] ")}),
    "Java's settings": Row(
        lambda given: java.parse(given, "java"), {"lines": text("    java.home = a\n"), "blanks": text(" ")}
    ),
    "variables of a pod": Row(
        lambda given: variables.expanded(given, {"A": "b"}),
        {"references": text("$(A)"), "dollars": text("$"), "open": text("$(")},
    ),
    "YAML to write": Row(
        dump,
        {
            "keys": lambda size: {f"k{index}": [index] for index in range(size)},
            "text": text("a: '\n"),
            "controls": text("\x1b"),
        },
    ),
    "headers of manifests": Row(
        manifest.without_header, {"lines": text("# a\n"), "headers": text("# Generated by sparkgen ")}
    ),
    "differences": Row(
        lambda given: [*trees.changed(json.loads(given), {})],
        {
            "keys": numbered('"k#": 1,', "{", '"a": 1}'),
            "deep": lambda size: '{"a":' * min(size, 300) + "1" + "}" * min(size, 300),
        },
    ),
    "values in a difference": Row(
        words.masked, {"lines": text("+ a: b\n"), "names": text("-  - name: a\n"), "blanks": text(" ", "+")}
    ),
    "code in Markdown": Row(forms.code, {"ticks": text("`"), "runs": text("` ``")}),
    "text in Markdown": Row(forms.escaped, {"marks": text("*_[")}),
    "properties of a document": Row(
        lambda given: effective_properties({"sparkConf": dict.fromkeys(given.split(), "a")}),
        {"names": numbered("spark.a# ")},
    ),
}
CASES = {
    f"{name}: {of}": (row.parse, make) for name, row in PARSERS.items() for of, make in row.inputs.items()
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_twice_the_input_is_twice_the_work(
    case: tuple[Callable[[Any], object], Callable[[int], Any]],
) -> None:
    """At most, with what does not depend on it. What is refused is refused with as little."""
    parser, make = case

    def run(size: int) -> int:
        given = make(size)

        def parsed() -> None:
            with suppress(*REFUSALS):
                parser(given)

        return work(parsed)

    run(3)  # what is done once in a process is done
    before = run(SIZE)
    assert run(2 * SIZE) < MOST_GROWTH * before + 100


@pytest.mark.parametrize("names", [True, False], ids=["applications", "runs of one"])
@pytest.mark.parametrize("pods", [True, False], ids=["with pods", "without pods"])
def test_listed_objects_are_looked_at_a_few_times_each(names: bool, pods: bool) -> None:
    """A neighbour's thousands of runs do not make the others wait."""

    def found(size: int) -> int:
        items = []
        for index in range(size):
            one = objects.job(f"a-{index}", f"a-{index}" if names else "a")
            items += [one, *([objects.driver(one)] if pods else [])]
        cluster = objects.Cluster(*items)
        return work(lambda: find(cluster))

    assert found(2 * SIZE) <= MOST_GROWTH * found(SIZE)


def test_workloads_of_a_queue_are_looked_at_a_few_times_each() -> None:
    """However many of a queue's runs a command shows."""

    def placed(size: int) -> int:
        jobs = [queued_job(name=f"a-{index}") for index in range(size)]
        own = [workload(f"w-{index}", "1", f"uid-a-{index}") for index in range(size)]
        cluster = objects.Cluster(*jobs, *own)
        shown = [run for application in find(cluster).applications for run in application.runs]
        queues = Queues(cluster)
        return work(lambda: [queues.place(run) for run in shown])

    assert placed(2 * SIZE) <= MOST_GROWTH * placed(SIZE)


def test_a_watch_has_events_of_a_limited_size() -> None:
    """Whatever the size of the pieces in which they come; a server without line breaks is none."""
    assert [*reading.events(iter([b'{"a"', b":1}\n\n{", b'"b":2}\n']))] == [{"a": 1}, {"b": 2}]
    with pytest.raises(reading.TooLarge, match="16 MiB"):
        [*reading.events(iter([b"x" * (1 << 20)] * 17))]
