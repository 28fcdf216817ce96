"""The events that a recording is made from, with the fields that it needs: Spark's JsonProtocol, 3.4 to 4.x.

The decoder skips all other fields, which makes it fast: of the three kilobytes of a task's event, it decodes
some two hundred bytes.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 31)]
Number = Annotated[int, msgspec.Meta(ge=-(1 << 53), le=1 << 53)]
"""Milliseconds, nanoseconds or bytes: a larger number is no time or size, and its line counts as broken."""
Optional = Number | None


class Event(msgspec.Struct, rename=None, gc=False):
    """The field of every event."""

    name: str = msgspec.field(name="Event")


class LogStart(msgspec.Struct, gc=False):
    """SparkListenerLogStart, with the version of Spark that wrote the log."""

    version: str = msgspec.field(name="Spark Version")


class ApplicationStart(msgspec.Struct, gc=False):
    """SparkListenerApplicationStart."""

    name: str = msgspec.field(name="App Name")
    time: Number = msgspec.field(name="Timestamp")
    id: str | None = msgspec.field(name="App ID", default=None)
    attempt: str | None = msgspec.field(name="App Attempt ID", default=None)


class ApplicationEnd(msgspec.Struct, gc=False):
    """SparkListenerApplicationEnd."""

    time: Number = msgspec.field(name="Timestamp")


class Environment(msgspec.Struct, gc=False):
    """SparkListenerEnvironmentUpdate."""

    properties: dict[str, str] = msgspec.field(name="Spark Properties")


class ExecutorInfo(msgspec.Struct, gc=False):
    """An executor as it registered. Times in milliseconds since 1970; `requested` since Spark 3.4."""

    host: str = msgspec.field(name="Host")
    cores: Count = msgspec.field(name="Total Cores")
    profile: Count = msgspec.field(name="Resource Profile Id", default=0)
    requested: Optional = msgspec.field(name="Request Time", default=None)


class ExecutorAdded(msgspec.Struct, gc=False):
    """SparkListenerExecutorAdded."""

    time: Number = msgspec.field(name="Timestamp")
    id: str = msgspec.field(name="Executor ID")
    info: ExecutorInfo = msgspec.field(name="Executor Info")


class ExecutorRemoved(msgspec.Struct, gc=False):
    """SparkListenerExecutorRemoved."""

    time: Number = msgspec.field(name="Timestamp")
    id: str = msgspec.field(name="Executor ID")
    reason: str = msgspec.field(name="Removed Reason", default="")


class Amount(msgspec.Struct, gc=False):
    """The amount of a resource that an executor or a task of a profile requests."""

    amount: float = msgspec.field(name="Amount", default=0.0)


class ResourceProfileAdded(msgspec.Struct, gc=False):
    """SparkListenerResourceProfileAdded, since Spark 3.1."""

    id: Count = msgspec.field(name="Resource Profile Id")
    executor: dict[str, Amount] = msgspec.field(name="Executor Resource Requests", default_factory=dict)
    task: dict[str, Amount] = msgspec.field(name="Task Resource Requests", default_factory=dict)


class BlockManagerId(msgspec.Struct, gc=False):
    """The executor of a block manager."""

    executor: str = msgspec.field(name="Executor ID")


class BlockManagerAdded(msgspec.Struct, gc=False):
    """SparkListenerBlockManagerAdded."""

    id: BlockManagerId = msgspec.field(name="Block Manager ID")
    time: Number = msgspec.field(name="Timestamp")


class StorageLevel(msgspec.Struct, gc=False):
    """Where an RDD is kept."""

    disk: bool = msgspec.field(name="Use Disk", default=False)
    memory: bool = msgspec.field(name="Use Memory", default=False)


class RddInfo(msgspec.Struct, gc=False):
    """An RDD of a stage."""

    id: Number = msgspec.field(name="RDD ID")
    level: StorageLevel = msgspec.field(name="Storage Level")


class StageInfo(msgspec.Struct, gc=False):
    """A stage, as jobs and its own events describe it."""

    id: Number = msgspec.field(name="Stage ID")
    attempt: Count = msgspec.field(name="Stage Attempt ID", default=0)
    name: str = msgspec.field(name="Stage Name", default="")
    tasks: Count = msgspec.field(name="Number of Tasks", default=0)
    parents: list[Number] = msgspec.field(name="Parent IDs", default_factory=list)
    rdds: list[RddInfo] = msgspec.field(name="RDD Info", default_factory=list)
    submitted: Optional = msgspec.field(name="Submission Time", default=None)
    completed: Optional = msgspec.field(name="Completion Time", default=None)
    failure: str | None = msgspec.field(name="Failure Reason", default=None)
    profile: Count = msgspec.field(name="Resource Profile Id", default=0)


class StageEvent(msgspec.Struct, gc=False):
    """SparkListenerStageSubmitted and SparkListenerStageCompleted."""

    info: StageInfo = msgspec.field(name="Stage Info")


class JobProperties(msgspec.Struct, gc=False):
    """The properties of a job that tell where it comes from."""

    execution: str | None = msgspec.field(name="spark.sql.execution.id", default=None)
    batch: str | None = msgspec.field(name="streaming.sql.batchId", default=None)
    stream: str | None = msgspec.field(name="sql.streaming.queryId", default=None)
    pool: str | None = msgspec.field(name="spark.scheduler.pool", default=None)


class JobStart(msgspec.Struct, gc=False):
    """SparkListenerJobStart. Spark 1.2 wrote no time."""

    id: Number = msgspec.field(name="Job ID")
    stages: list[Number] = msgspec.field(name="Stage IDs")
    time: Optional = msgspec.field(name="Submission Time", default=None)
    properties: JobProperties | None = msgspec.field(name="Properties", default=None)


class JobResult(msgspec.Struct, gc=False):
    """How a job ended."""

    result: str = msgspec.field(name="Result", default="JobSucceeded")


class JobEnd(msgspec.Struct, gc=False):
    """SparkListenerJobEnd. Spark 1.2 wrote no time."""

    id: Number = msgspec.field(name="Job ID")
    result: JobResult = msgspec.field(name="Job Result")
    time: Optional = msgspec.field(name="Completion Time", default=None)


class EndReason(msgspec.Struct, gc=False):
    """Why a task ended."""

    reason: str = msgspec.field(name="Reason")


class TaskInfo(msgspec.Struct, gc=False):
    """A task attempt. Times in milliseconds since 1970."""

    index: Count = msgspec.field(name="Index")
    launched: Number = msgspec.field(name="Launch Time")
    finished: Number = msgspec.field(name="Finish Time")
    executor: str = msgspec.field(name="Executor ID")
    attempt: Count = msgspec.field(name="Attempt", default=0)
    locality: str = msgspec.field(name="Locality", default="")
    speculative: bool = msgspec.field(name="Speculative", default=False)
    killed: bool = msgspec.field(name="Killed", default=False)


class ShuffleRead(msgspec.Struct, gc=False):
    """Bytes of a task's shuffle read."""

    remote: Number = msgspec.field(name="Remote Bytes Read", default=0)
    local: Number = msgspec.field(name="Local Bytes Read", default=0)


class ShuffleWrite(msgspec.Struct, gc=False):
    """Bytes of a task's shuffle write."""

    written: Number = msgspec.field(name="Shuffle Bytes Written", default=0)


class InputMetrics(msgspec.Struct, gc=False):
    """Bytes that a task read."""

    read: Number = msgspec.field(name="Bytes Read", default=0)


class TaskMetrics(msgspec.Struct, gc=False):
    """The resources that a task used: milliseconds and bytes; CPU times in nanoseconds."""

    deserialize: Number = msgspec.field(name="Executor Deserialize Time", default=0)
    run: Number = msgspec.field(name="Executor Run Time", default=0)
    cpu: Number = msgspec.field(name="Executor CPU Time", default=0)
    deserialize_cpu: Number = msgspec.field(name="Executor Deserialize CPU Time", default=0)
    gc_time: Number = msgspec.field(name="JVM GC Time", default=0)
    peak: Number = msgspec.field(name="Peak Execution Memory", default=0)
    spilled: Number = msgspec.field(name="Disk Bytes Spilled", default=0)
    shuffle_read: ShuffleRead | None = msgspec.field(name="Shuffle Read Metrics", default=None)
    shuffle_write: ShuffleWrite | None = msgspec.field(name="Shuffle Write Metrics", default=None)
    input: InputMetrics | None = msgspec.field(name="Input Metrics", default=None)


class MemoryPeaks(msgspec.Struct, gc=False):
    """The peaks of an executor's memory, in bytes; 0 if not measured."""

    heap: Number = msgspec.field(name="JVMHeapMemory", default=0)
    off_heap: Number = msgspec.field(name="JVMOffHeapMemory", default=0)
    jvm_rss: Number = msgspec.field(name="ProcessTreeJVMRSSMemory", default=0)
    python_rss: Number = msgspec.field(name="ProcessTreePythonRSSMemory", default=0)


class TaskEnd(msgspec.Struct, gc=False):
    """SparkListenerTaskEnd."""

    stage: Number = msgspec.field(name="Stage ID")
    stage_attempt: Count = msgspec.field(name="Stage Attempt ID")
    reason: EndReason = msgspec.field(name="Task End Reason")
    info: TaskInfo = msgspec.field(name="Task Info")
    metrics: TaskMetrics | None = msgspec.field(name="Task Metrics", default=None)
    peaks: MemoryPeaks | None = msgspec.field(name="Task Executor Metrics", default=None)


class StageExecutorMetrics(msgspec.Struct, gc=False):
    """SparkListenerStageExecutorMetrics."""

    id: str = msgspec.field(name="Executor ID")
    peaks: MemoryPeaks = msgspec.field(name="Executor Metrics")


PREFIX = "SparkListener"
KINDS: dict[str, type[msgspec.Struct]] = {
    "LogStart": LogStart,
    "ApplicationStart": ApplicationStart,
    "ApplicationEnd": ApplicationEnd,
    "EnvironmentUpdate": Environment,
    "BlockManagerAdded": BlockManagerAdded,
    "ResourceProfileAdded": ResourceProfileAdded,
    "ExecutorAdded": ExecutorAdded,
    "ExecutorRemoved": ExecutorRemoved,
    "StageSubmitted": StageEvent,
    "StageCompleted": StageEvent,
    "JobStart": JobStart,
    "JobEnd": JobEnd,
    "TaskEnd": TaskEnd,
    "StageExecutorMetrics": StageExecutorMetrics,
}
"""Name of an event, without `SparkListener` -> its fields. All other events are skipped."""
_DECODERS = {f"{PREFIX}{name}".encode(): msgspec.json.Decoder(kind) for name, kind in KINDS.items()}
_ANY = msgspec.json.Decoder(Event)
_START = b'{"Event":"'
MOST_COMMAS = 1_500_000
"""The most commas of an event that is decoded: each may end a value that takes a hundred bytes of memory.

Spark writes more than twenty bytes for each comma, so the longest line has fewer.
"""


class BrokenEvent(Exception):
    """A line is no event, or an event without a required field."""


def decode(line: bytes) -> tuple[bytes, msgspec.Struct] | None:
    """Name and fields of the event in a line; None for an event that is not needed. Raises BrokenEvent."""
    try:
        if line.startswith(_START):
            name = line[len(_START) : line.index(b'"', len(_START))]
        else:
            name = _ANY.decode(line).name.encode()
        decoder = _DECODERS.get(name)
        if decoder is not None:
            if line.count(b",") > MOST_COMMAS:
                raise BrokenEvent(f"the event has more than {MOST_COMMAS:,} values")
            return name, decoder.decode(line)
        if not line.rstrip().endswith(b"}"):
            raise BrokenEvent("the line is truncated")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise BrokenEvent(str(error)) from error
    return None
