"""Event logs as Spark writes them, made for tests: events in, bytes out."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterable, Sequence
from typing import Any

import cramjam
import zstandard

ZERO = 1_700_000_000_000
"""Milliseconds since 1970 at which the applications here begin."""


def at(seconds: float) -> int:
    """A time of the application as the log has it."""
    return ZERO + round(seconds * 1000)


def event(name: str, **fields: Any) -> dict[str, Any]:
    """An event. Underscores in names of fields are spaces."""
    return {
        "Event": f"SparkListener{name}",
        **{key.replace("_", " "): value for key, value in fields.items()},
    }


def start(version: str = "4.0.1", **properties: str) -> list[dict[str, Any]]:
    """The first events of an application."""
    return [
        {"Event": "SparkListenerLogStart", "Spark Version": version},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": dict(properties)},
        {
            "Event": "SparkListenerApplicationStart",
            "App Name": "made",
            "App ID": "app-1",
            "Timestamp": ZERO,
            "User": "somebody",
        },
    ]


def end(seconds: float) -> dict[str, Any]:
    """The application's end."""
    return {"Event": "SparkListenerApplicationEnd", "Timestamp": at(seconds)}


def executor(
    id_: str, seconds: float, cores: int = 1, requested: float | None = None, profile: int = 0
) -> dict[str, Any]:
    """An executor registers."""
    info: dict[str, Any] = {"Host": f"10.0.0.{id_}", "Total Cores": cores, "Resource Profile Id": profile}
    if requested is not None:
        info["Request Time"] = at(requested)
    return {
        "Event": "SparkListenerExecutorAdded",
        "Timestamp": at(seconds),
        "Executor ID": id_,
        "Executor Info": info,
    }


def profile(id_: int, executor: dict[str, float], task: dict[str, float]) -> dict[str, Any]:
    """A resource profile is known to the driver."""
    asked = ({name: {"Amount": amount} for name, amount in side.items()} for side in (executor, task))
    return event("ResourceProfileAdded") | dict(
        zip(
            ("Resource Profile Id", "Executor Resource Requests", "Task Resource Requests"),
            (id_, *asked),
            strict=True,
        )
    )


def stage_run(
    id_: int, rows: Sequence[tuple[str, float, float]], began: float, ended: float, **more: Any
) -> list[dict[str, Any]]:
    """A stage whose tasks all succeed: executor, launch and finish of each."""
    size, parents = len(rows), more.pop("parents", ())
    tasks = (task(id_, index, *row) for index, row in enumerate(rows))
    return [
        stage_submitted(id_, size, began, parents, **more),
        *tasks,
        stage_completed(id_, size, began, ended, parents, **more),
    ]


def block_manager(id_: str, seconds: float) -> dict[str, Any]:
    """A block manager registers: that of an executor, or the driver's."""
    return event("BlockManagerAdded", Timestamp=at(seconds)) | {"Block Manager ID": {"Executor ID": id_}}


def removed(id_: str, seconds: float, reason: str = "idle") -> dict[str, Any]:
    """An executor is gone."""
    return {
        "Event": "SparkListenerExecutorRemoved",
        "Timestamp": at(seconds),
        "Executor ID": id_,
        "Removed Reason": reason,
    }


def stage_info(
    id_: int,
    size: int,
    parents: Sequence[int] = (),
    attempt: int = 0,
    *,
    cached: bool = False,
    profile: int = 0,
    **times: float,
) -> dict[str, Any]:
    """A stage as its events describe it; `times`: submitted and completed."""
    info: dict[str, Any] = {
        "Stage ID": id_,
        "Stage Attempt ID": attempt,
        "Stage Name": f"stage {id_}",
        "Number of Tasks": size,
        "RDD Info": [{"RDD ID": id_, "Storage Level": {"Use Disk": False, "Use Memory": cached}}],
        "Parent IDs": list(parents),
        "Resource Profile Id": profile,
    }
    if "submitted" in times:
        info["Submission Time"] = at(times["submitted"])
    if "completed" in times:
        info["Completion Time"] = at(times["completed"])
    return info


def stage_submitted(
    id_: int, size: int, seconds: float, parents: Sequence[int] = (), **more: Any
) -> dict[str, Any]:
    """A stage begins."""
    info = stage_info(id_, size, parents, submitted=seconds, **more)
    return {"Event": "SparkListenerStageSubmitted", "Stage Info": info, "Properties": {}}


def stage_completed(
    id_: int, size: int, began: float, seconds: float, parents: Sequence[int] = (), **more: Any
) -> dict[str, Any]:
    """A stage ends."""
    info = stage_info(id_, size, parents, submitted=began, completed=seconds, **more)
    return {"Event": "SparkListenerStageCompleted", "Stage Info": info}


def job_start(id_: int, seconds: float, stages: Sequence[int], **properties: str) -> dict[str, Any]:
    """A job begins."""
    return {
        "Event": "SparkListenerJobStart",
        "Job ID": id_,
        "Submission Time": at(seconds),
        "Stage Infos": [],
        "Stage IDs": list(stages),
        "Properties": properties,
    }


def job_end(id_: int, seconds: float) -> dict[str, Any]:
    """A job succeeds."""
    return {
        "Event": "SparkListenerJobEnd",
        "Job ID": id_,
        "Completion Time": at(seconds),
        "Job Result": {"Result": "JobSucceeded"},
    }


def task(
    stage: int,
    index: int,
    executor_id: str,
    launched: float,
    finished: float,
    reason: str = "Success",
    **more: Any,
) -> dict[str, Any]:
    """A task attempt ends; `more`: attempt, spilled, written."""
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Stage Attempt ID": more.get("stage_attempt", 0),
        "Task Type": "ResultTask",
        "Task End Reason": {"Reason": reason},
        "Task Info": {
            "Task ID": stage * 1000 + index,
            "Index": index,
            "Attempt": more.get("attempt", 0),
            "Launch Time": at(launched),
            "Executor ID": executor_id,
            "Host": f"10.0.0.{executor_id}",
            "Locality": "ANY",
            "Speculative": False,
            "Getting Result Time": 0,
            "Finish Time": at(finished),
            "Failed": reason != "Success",
            "Killed": reason == "TaskKilled",
            "Accumulables": [],
        },
        "Task Metrics": {
            "Executor Deserialize Time": 0,
            "Executor Run Time": round((finished - launched) * 1000),
            "Executor CPU Time": round((finished - launched) * 1e9),
            "JVM GC Time": 10,
            "Disk Bytes Spilled": more.get("spilled", 0),
            "Shuffle Write Metrics": {"Shuffle Bytes Written": more.get("written", 0)},
        },
    }


def text(events: Iterable[dict[str, Any]]) -> bytes:
    """The plain log of these events."""
    return b"".join(json.dumps(one, separators=(",", ":")).encode() + b"\n" for one in events)


def small() -> list[dict[str, Any]]:
    """An application of two stages and three tasks on two executors, 10 s long."""
    return [
        *start(**{"spark.executor.instances": "2", "spark.hadoop.fs.s3a.secret.key": "hidden"}),
        executor("1", 1.0, requested=0.25),
        executor("2", 1.5, requested=0.25),
        job_start(0, 2.0, [0, 1]),
        stage_submitted(0, 2, 2.0),
        task(0, 0, "1", 2.0, 4.0, written=100),
        task(0, 1, "2", 2.0, 5.0, written=200, spilled=7),
        stage_completed(0, 2, 2.0, 5.0),
        stage_submitted(1, 1, 5.0, [0]),
        task(1, 0, "1", 5.0, 5.5, "ExceptionFailure"),
        task(1, 0, "1", 5.5, 9.0, attempt=1),
        stage_completed(1, 1, 5.0, 9.0, [0]),
        job_end(0, 9.0),
        removed("2", 9.5),
        end(10.0),
    ]


def lz4_blocks(data: bytes, block: int = 1 << 15) -> bytes:
    """What lz4-java's LZ4BlockOutputStream writes; every third block unpacked, as where nothing is won."""
    packed = b""
    for number, place in enumerate(range(0, len(data), block)):
        part = data[place : place + block]
        raw = number % 3 == 2
        body = part if raw else bytes(cramjam.lz4.compress_block(part, store_size=False))
        packed += struct.pack("<8sBiii", b"LZ4Block", 0x15 if raw else 0x25, len(body), len(part), 0) + body
    return packed + struct.pack("<8sBiii", b"LZ4Block", 0x15, 0, 0, 0)


def snappy_blocks(data: bytes, block: int = 1 << 15) -> bytes:
    """What snappy-java's SnappyOutputStream writes."""
    packed = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
    for place in range(0, len(data), block):
        body = bytes(cramjam.snappy.compress_raw(data[place : place + block]))
        packed += struct.pack(">i", len(body)) + body
    return packed


PACKERS = {
    "": bytes,
    ".gz": gzip.compress,
    ".zstd": zstandard.ZstdCompressor().compress,
    ".lz4": lz4_blocks,
    ".snappy": snappy_blocks,
}
"""Ending of the file's name -> what makes it of a plain log."""
