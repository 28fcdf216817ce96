"""Turns jobs of Amazon EMR on EKS (`aws emr-containers start-job-run`) into words of a spark-submit command.

Source: the API's StartJobRun. Options take precedence over the properties of its classification
spark-defaults, as they do over those of spark-defaults.conf.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sparkgen.document import Node
from sparkgen.errors import Path, Position
from sparkgen.importing.commands import Word
from sparkgen.importing.entry import Entry, Outcome
from sparkgen.importing.properties import FileProperty
from sparkgen.importing.submit_options import VARIABLE

DRIVER, SUBMIT = "jobDriver", "sparkSubmitJobDriver"
_OVERRIDES, _APPLICATION = "configurationOverrides", "applicationConfiguration"
_PARAMETERS, _ARGUMENTS, _FILE = "sparkSubmitParameters", "entryPointArguments", "entryPoint"
_LOST: Mapping[Path, tuple[str, str]] = {
    ("virtualClusterId",): (
        "EMR maps it to a namespace, which the import cannot see",
        "set `metadata.namespace`",
    ),
    ("executionRoleArn",): (
        "EMR gives this role to the pods",
        "bind the role to a service account, and set it in `serviceAccount` of driver and executor",
    ),
    ("releaseLabel",): (
        "EMR chooses the image by it",
        "set an image with this Spark version (--image IMAGE)",
    ),
    ("retryPolicyConfiguration",): (
        "it tells EMR to start a failed driver again",
        "set `restartPolicy: {type: OnFailure, onFailureRetries: ...}`",
    ),
    ("tags",): ("tags are for AWS", "set `metadata.labels`"),
    (_OVERRIDES, "monitoringConfiguration"): (
        "EMR collects logs, and keeps event logs",
        "set `eventLog.dir`, and collect the pods' logs with a tool of your cluster",
    ),
}
_UNKNOWN = ("import does not know this field of a job", "find its purpose, and set that by hand")
_CLASSIFICATION = (
    "EMR makes a configuration file of this classification",
    "move Hadoop's and Hive's properties to `hadoopConf`, and log levels to `logging`",
)
_SCHEME = (
    "`s3://` works only in EMR's images",
    "write `s3a://`, and add hadoop-aws to `deps.packages` or the image",
)
_NESTED = ("the import does not read nested configurations", "move its properties to `sparkConf`")


class Unreadable(Exception):
    """Raised if a job has no spark-submit command that import can read. The text is the reason."""


@dataclass(slots=True)
class Job:
    """A job as a spark-submit command: its words, its default properties, and the entries of other fields."""

    name: str = ""
    words: tuple[Word, ...] = ()
    defaults: list[FileProperty] = field(default_factory=list)
    entries: list[Entry] = field(default_factory=list)


def job_of(root: Node, variables: Collection[str] = ()) -> Job:
    """Returns the job in the fields of a request. Raises `Unreadable` if it runs no spark-submit.

    `variables`: the shell's expansions in its texts, as written.
    """
    driver = root.find((DRIVER, SUBMIT))
    if driver is None or not driver.is_mapping:
        raise Unreadable(f"it has no {SUBMIT}: import reads no other job driver")
    unknown = (
        replace(word, variables=tuple(name for name in variables if name in word.text))
        for word in _words(driver)
    )
    job = Job(words=tuple(unknown))
    for path, node in _parts(root):
        if path == ("name",):
            job.name = node.text
        elif path == ("clientToken",):
            _tell(job, path, node, Outcome.NEEDLESS, "it keeps EMR from starting a job twice", "")
        elif path == (_OVERRIDES, _APPLICATION):
            _configurations(job, path, node, variables)
        elif path[:2] == (DRIVER, SUBMIT) and path[2] in (_FILE, _ARGUMENTS):
            _own_scheme(job, path, node)
        elif path != (DRIVER, SUBMIT, _PARAMETERS):
            _tell(job, path, node, Outcome.LOST, *_LOST.get(path, _UNKNOWN))
    return job


def _own_scheme(job: Job, path: Path, node: Node) -> None:
    """Report paths that start with `s3://`: other images have another file system for it."""
    if node.text.startswith("s3://"):
        _tell(job, path, node, Outcome.CHANGED, *_SCHEME)
    for index, item in enumerate(node.items):
        _own_scheme(job, (*path, index), item)


def _parts(root: Node) -> Iterator[tuple[Path, Node]]:
    """Yields the fields of a request and of its sections, each with its path."""
    for key, node in root.entries.items():
        if key not in (_OVERRIDES, DRIVER):
            yield (key,), node
        for name, section in node.entries.items() if key in (_OVERRIDES, DRIVER) else ():
            if name != SUBMIT:
                yield (key, name), section
            yield from (
                ((key, name, last), child) for last, child in section.entries.items() if name == SUBMIT
            )


def _tell(job: Job, path: Path, node: Node, outcome: Outcome, reason: str, step: str) -> None:
    job.entries.append(Entry(outcome, path, node.position, (), reason, step))


def _words(driver: Node) -> Iterator[Word]:
    parameters = driver.entries.get(_PARAMETERS)
    if parameters is not None and parameters.value is not None:
        try:
            texts = shlex.split(parameters.text)
        except ValueError:
            raise Unreadable(f"{_PARAMETERS} has a quote that is not closed") from None
        yield from (_word(text, parameters.position) for text in texts)
    file = driver.entries.get(_FILE)
    if file is None or not file.text:
        raise Unreadable(f"its {SUBMIT} has no {_FILE}")
    yield _word(file.text, file.position)
    arguments = driver.entries.get(_ARGUMENTS)
    for node in arguments.items if arguments is not None else ():
        yield _word(node.text, node.position)


def _word(text: str, place: Position) -> Word:
    return Word(text, place.line, place.column)


def _configurations(job: Job, path: Path, node: Node, variables: Collection[str]) -> None:
    """Add the properties of the classification spark-defaults; report all other classifications."""
    for index, item in enumerate(node.items):
        place = (*path, index)
        classification = item.find(("classification",))
        properties = item.find(("properties",))
        if classification is None or classification.text != "spark-defaults":
            _tell(job, place, item, Outcome.LOST, *_CLASSIFICATION)
            continue
        if nested := item.find(("configurations",)):
            _tell(job, (*place, "configurations"), nested, Outcome.LOST, *_NESTED)
        for name, value in properties.entries.items() if properties is not None else ():
            job.defaults.append(FileProperty(name, value.text, value.position.line))
            for unknown in (one for one in variables if one in value.text):
                reason = VARIABLE.format(unknown)
                _tell(
                    job,
                    (*place, "properties", name),
                    value,
                    Outcome.CHANGED,
                    reason,
                    "replace it by its value",
                )
