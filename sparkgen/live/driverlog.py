"""What the end of a driver's log says about its failure. Pure.

The words are those of Spark's SparkSubmit and DependencyUtils, of the JVM (UnsupportedClassVersionError),
of Python and of R. The scheduler jar's messages begin with `sparkgen: `; what the allocator has told it, of
the application or of a lost executor, begins with its code (`codes.marked`).

User code writes to that log, too. A pattern that skips a part of a line begins with an atomic group: each
line is read once, and not once for every place where the pattern may begin.
"""

from __future__ import annotations

import re

from sparkgen.codes import Hindrance, unmarked
from sparkgen.live.hindrances import MEMORY, executor_memory, stopped
from sparkgen.live.login import login_failed
from sparkgen.live.pod_reasons import refusal
from sparkgen.live.reason import MAX_DETAIL, Reason, detail
from sparkgen.model.connect import MAIN_CLASS

JAVA_OF_CLASS_FILE = 44
"""A class file of version 65 is Java 21's (Java Virtual Machine Specification, 4.1)."""

_JAVA = re.compile(
    r"UnsupportedClassVersionError: (\S+) has been compiled by a more recent version of the Java Runtime "
    r"\(class file version (\d{1,4})\.\d+\), this version of the Java Runtime only recognizes class file "
    r"versions up to (\d{1,4})\.\d+"
)
_OURS = re.compile(
    r"(?:^(?>.*? ERROR ).*?|SparkgenException: |Error: )sparkgen: (.+)",
    re.MULTILINE,
)
_LOST = re.compile(r"^(?>.*?ExecutorLostFailure \().*?Reason: (.+)", re.MULTILINE)
_TASK_HEAP = re.compile(
    r"^(?>.*?(?:Lost task|stage failure:) ).*?java\.lang\.OutOfMemoryError: (.+)", re.MULTILINE
)
_HEAP = re.compile(
    r'^(?:Exception in thread "[^"]*" |Terminating due to |Caused by: )?java\.lang\.OutOfMemoryError: (.+)',
    re.MULTILINE,
)
_NO_CLASS = re.compile(r"Failed to load class ([\w.$]+?)\.?$|ClassNotFoundException: ([\w.$]+)", re.MULTILINE)
_NO_MAIN_JAR = re.compile(r"Local jar (\S+) does not exist, skipping")
_NO_MAIN_FILE = re.compile(r"can't open file '([^']+)'|Fatal error: cannot open file '([^']+)'")
_NOT_COPIED = re.compile(
    r"^Exception in thread (?>.*?(?:NoSuchFile|FileNotFound)Exception: )(\S++).*+\n"
    r"(?:\tat (?!org\.apache\.spark\.deploy).*+\n)*+"
    r"\tat org\.apache\.spark\.deploy\.SparkSubmit\.\S*prepareSubmitEnvironment",
    re.MULTILINE,
)
"""A file that spark-submit does not find in the image while it copies the application's files."""
_NO_FILE = re.compile(
    r"Path does not exist: (\S+?)[.;,]?(?:\s|$)|FileNotFoundException: (?:File )?(\S+)|"
    r"NoSuchFileException: (\S+)|FileNotFoundError: \[Errno 2\] No such file or directory: '([^']+)'",
)
_SCALA = re.compile(r"^(?>.*?(?:NoSuchMethodError|NoClassDefFoundError):? ).*scala[./]", re.MULTILINE)
_ERROR = re.compile(
    r'^(?:Exception in thread "[^"]*" |Caused by: )?((?:[\w$]+\.)*\w*(?:Error|Exception|Failure)(?::| ).+)$',
    re.MULTILINE,
)
_REFUSING = "KubernetesClientException: Failure executing: POST at: "
_REFUSED = re.compile(rf"{_REFUSING}\S+/pods\. Message: (.+?)\.?(?: Received status:|$)")
"""What Spark's own backend logs when the API server refuses an executor's pod (OperationSupport).

Without the status if the client adds a message of its own, as that of Spark 3.5 does in a pod.
"""
_MOST_LINES = 20
_FEW_LINES = 5
_BEGINS = re.compile(r"Traceback \(most recent call last\):|Exception in thread ")
_INFORMS = re.compile(r"\S+ \S+ (?:INFO|DEBUG|TRACE) ")
_SPARK_ERROR = re.compile(r"^(?:\S+ \S+ )?(?:ERROR|Error:) (.+)$", re.MULTILINE)


def failure_in(log: str) -> Reason | None:
    """Returns why the driver's program failed, from the end of its log; None if the log does not show it."""
    known = _java(log) or _ours(log) or _executors(log) or _memory(log) or login_failed(log)
    return known or _files(log) or _program(log)


def refused_executor(log: str) -> Reason | None:
    """Returns why the API server has refused the last executor's pod, by the log of Spark's own backend."""
    for line in reversed(log.split("\n")):
        begin = line.rfind(_REFUSING)  # the last one: a program may print a line of many
        if begin >= 0 and (found := _REFUSED.match(line, begin)):
            return refusal(found[1], "executor")
    return None


def telling_lines(log: str) -> list[str]:
    """Returns the most useful lines at the end of a driver's log: the last error with its trace.

    If no line looks like an error: the last lines, without Spark's lines of the levels INFO, DEBUG and TRACE.
    """
    lines = log.splitlines()
    errors = [n for n, line in enumerate(lines) if _ERROR.match(line) or _SPARK_ERROR.match(line)]
    if errors:
        last = errors[-1]
        first = max(last - _MOST_LINES + 1, 0)
        begins = [n for n in range(first, last + 1) if _BEGINS.match(lines[n])]
        telling = lines[begins[-1] if begins else last : last + 1]
    else:
        telling = [line for line in lines if line.strip() and not _INFORMS.match(line)][-_FEW_LINES:]
    return [line if len(line) <= MAX_DETAIL else f"{line[: MAX_DETAIL - 3]}..." for line in telling]


def _java(log: str) -> Reason | None:
    match = _JAVA.search(log)
    if match is None:
        return None
    wants, has = (int(version) - JAVA_OF_CLASS_FILE for version in match.group(2, 3))
    name = match[1].replace("/", ".")
    return Reason(
        "java",
        f"{name} was compiled for Java {wants}, but the image has Java {has}",
        f"set spec.image to an image with Java {wants}, or compile for Java {has}",
    )


def _ours(log: str) -> Reason | None:
    match = _OURS.search(log)
    return stopped(Hindrance(*unmarked(match[1]))) if match else None


def _executors(log: str) -> Reason | None:
    if match := _TASK_HEAP.search(log):
        return executor_memory(f"a task's java.lang.OutOfMemoryError: {match[1]}")
    match = _LOST.search(log)
    if match is None:
        return None
    code, said = unmarked(match[1])
    if code in MEMORY:
        return executor_memory(said.partition("Driver stacktrace")[0])
    cause = f"a task failed because its executors were lost too often ({detail(said)})"
    return Reason("executors-lost", cause, "find out why they ended: sparkgen logs NAME --allocator")


def _memory(log: str) -> Reason | None:
    if match := _HEAP.search(log):
        cause = f"the driver's Java heap was full ({detail(match[1])})"
        return Reason("driver-memory", cause, "raise spec.driver.memory, or collect less data in the driver")
    return None


def _files(log: str) -> Reason | None:
    step = "fix spec.mainApplicationFile, or add the file to spec.image"
    if match := _NO_MAIN_FILE.search(log):
        return Reason("missing-file", f"the image has no file {match[1] or match[2]}", step)
    if match := _NOT_COPIED.search(log):
        step = "fix its path (spec.mainApplicationFile, spec.deps), or add the file to spec.image"
        return Reason("missing-file", f"the image has no file {match[1]}", step)
    if match := _NO_CLASS.search(log):
        if jar := _NO_MAIN_JAR.search(log):
            return Reason("missing-file", f"the image has no file {jar[1]}", step)
        name = match[1] or match[2]
        if name == MAIN_CLASS:
            return Reason(
                "main-class",
                f"Spark's Connect server is neither in the image nor in the document ({name})",
                "add its package to spec.deps.packages, or its jar to spec.image (sparkgen rule SG301)",
            )
        return Reason(
            "main-class",
            f"no jar of the application has the class {name}",
            "fix spec.mainClass, or add the jar that has it (spec.mainApplicationFile, spec.deps.jars)",
        )
    if match := _NO_FILE.search(log):
        name = next(group for group in match.groups() if group)
        step = (
            "fix the path, or mount the volume that has the file (spec.volumes, and volumeMounts of driver "
            "and executor)"
        )
        return Reason("missing-file", f"there is no file {name}", step)
    if match := _SCALA.search(log):
        step = "build the application for the image's Scala version, and set spec.scalaVersion"
        line = detail(_line(log, match.start()))
        return Reason("scala", f"the application and the image have different Scala versions ({line})", step)
    return None


def _program(log: str) -> Reason | None:
    """Returns the last error in the log as the reason; None if there is none."""
    errors = [*_ERROR.finditer(log)] or [*_SPARK_ERROR.finditer(log)]
    return Reason("program", f"the program failed ({detail(errors[-1][1])})") if errors else None


def _line(text: str, position: int) -> str:
    return text[text.rfind("\n", 0, position) + 1 :].partition("\n")[0]
