"""Small logs that would be large, or slow, when they are read."""

from __future__ import annotations

import gzip
import io
import random
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import cramjam
import pytest
import zstandard

from sparkgen.eventlog import codecs, events, files, gather, lines, read_recording
from sparkgen.eventlog.errors import EventLogError
from tests.unit.bounds.work import work

from . import event_log as made

LONG = "x" * 100_000


def small_with(*events: dict[str, Any]) -> bytes:
    """The small application and more of its events."""
    return made.text([*made.small()[:-1], *events, made.end(10.0)])


def test_a_file_of_many_members_and_tiny_blocks_is_the_same_log(tmp_path: Path) -> None:
    """A member, or a block, of a few bytes each: none is copied again for those that follow."""
    log = made.text(made.small())
    whole = read_recording(str(_written(tmp_path / "plain", log)))
    members = b"".join(gzip.compress(log[place : place + 3]) for place in range(0, len(log), 3))
    blocks = b"".join(
        struct.pack("<8sBiii", b"LZ4Block", 0x15, len(part), len(part), 0) + part
        for part in (log[place : place + 3] for place in range(0, len(log), 3))
    )
    for name, packed in (("log.gz", members), ("log.lz4", blocks)):
        found = read_recording(str(_written(tmp_path / name, packed)))
        assert (found.stages, found.executors) == (whole.stages, whole.executors)


def test_a_compressed_log_in_an_archive_is_not_compressed_again(tmp_path: Path) -> None:
    """Zeros between members take the reader of gzip long, and an archive next to nothing."""
    packed = gzip.compress(made.text(made.small()))
    for name, padding, refused in (("log.gz", 0, False), ("padded.gz", 1 << 20, True)):
        archive = tmp_path / f"{name}.zip"
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as written:
            written.writestr(name, packed + b"\0" * padding)
        if refused:
            with pytest.raises(EventLogError, match=r"padded\.gz is no compressed log"):
                read_recording(str(archive))
        else:
            assert read_recording(str(archive)).reading.broken == 0


def test_a_log_that_unpacks_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in it; one that is like itself, as logs are, is read."""
    monkeypatch.setattr(files, "UNPACKED_ALWAYS", 1 << 20)
    bomb = zstandard.ZstdCompressor().compress(made.text(made.start()) + b"\n" * (8 << 20))
    with pytest.raises(EventLogError, match="unpacks to more than 500 times its size"):
        read_recording(str(_written(tmp_path / "bomb.zstd", bomb)))
    usual = zstandard.ZstdCompressor().compress(
        small_with(*(made.task(1, 0, "1", n, n + 1) for n in range(9000)))
    )
    assert read_recording(str(_written(tmp_path / "log.zstd", usual))).reading.broken == 0


def test_an_archive_that_unpacks_without_end_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what it says of itself: no more is ever unpacked."""
    monkeypatch.setattr(files, "UNPACKED_ALWAYS", 1 << 20)
    with zipfile.ZipFile(tmp_path / "log.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("app-1", b"\n" * (8 << 20))
    with pytest.raises(EventLogError, match="unpacks to more than 500 times its size"):
        read_recording(str(tmp_path / "log.zip"))


def test_a_compressed_log_in_an_archive_is_measured_by_the_archive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the two may unpack to 500 times its size, and both together to 250,000 times."""
    monkeypatch.setattr(files, "UNPACKED_ALWAYS", 1 << 20)
    part = gzip.compress(b"\n" * (1 << 16))
    noise = b"".join(gzip.compress(bytes([number]) * 40) for number in range(50))
    packed = gzip.compress(made.text(made.start())) + (part + noise) * 200
    with zipfile.ZipFile(tmp_path / "log.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("app-1.gz", packed)
    assert 500 * len(packed) > 13 << 20, "the file alone would do"
    with pytest.raises(EventLogError, match="is no compressed log"):
        read_recording(str(tmp_path / "log.zip"))


@pytest.mark.parametrize(
    "event",
    [
        made.task(1, 0, "1", 5.0, 6.0),
        made.executor("9", 1.0),
        made.removed("9", 1.0),
        made.stage_submitted(7, 1, 1.0, range(20)),
        {
            **made.stage_submitted(7, 1, 1.0),
            "Stage Info": made.stage_info(7, 1, submitted=1.0)
            | {"RDD Info": [{"RDD ID": 1, "Storage Level": {"Use Memory": True}}] * 20},
        },
        made.job_start(7, 1.0, range(20)),
        made.job_end(7, 1.0),
        {"Event": "SparkListenerStageExecutorMetrics", "Executor ID": "9", "Executor Metrics": {}},
        {
            "Event": "SparkListenerEnvironmentUpdate",
            "Spark Properties": {f"spark.app.{number}": "" for number in range(20)},
        },
    ],
    ids=lambda event: event["Event"],
)
def test_more_than_a_replay_can_do_is_refused(
    event: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each kind of event counts, with the lists in it: memory has a bound."""
    monkeypatch.setattr(gather, "MOST_KEPT", 60)
    read_recording(str(_written(tmp_path / "few", small_with(event))))
    with pytest.raises(EventLogError, match="too large for a replay"):
        read_recording(str(_written(tmp_path / "many", small_with(*[event] * 60))))


def with_text(text: str, number: int) -> list[dict[str, Any]]:
    """Events of each kind that keeps a text, with an own one."""
    text = f"{text}{number}"
    info = made.stage_info(100 + number, 1, submitted=1.0) | {"Stage Name": text}
    return [
        made.executor(text, 1.0),
        made.removed(text, 1.0),
        {**made.stage_submitted(100 + number, 1, 1.0), "Stage Info": info},
        made.job_start(100 + number, 1.0, [], **{"spark.sql.execution.id": text}),
        {**made.job_end(100 + number, 1.0), "Job Result": {"Result": text}},
        made.task(1, 0, text, 5.0, 6.0),
        made.profile(100 + number, {text: 1.0}, {}),
        {"Event": "SparkListenerStageExecutorMetrics", "Executor ID": text, "Executor Metrics": {}},
        {"Event": "SparkListenerEnvironmentUpdate", "Spark Properties": {f"spark.app.{text}": ""}},
    ]


@pytest.mark.parametrize("kind", range(9), ids=[event["Event"] for event in with_text("", 0)])
def test_texts_are_counted_in_bytes(kind: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One emoji makes each character of its text four bytes long."""
    monkeypatch.setattr(gather, "MOST_TEXT", 10_000)
    for text, refused in (("x" * 190, False), ("x" * 180 + "\U0001f600", True)):
        log = _written(tmp_path / "log", small_with(*(with_text(text, number)[kind] for number in range(20))))
        if refused:
            with pytest.raises(EventLogError, match="take more than 0 MiB of memory"):
                read_recording(str(log))
        else:
            read_recording(str(log))


def test_an_event_that_repeats_a_stage_keeps_one_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stage has an event at its start and one at its end."""
    monkeypatch.setattr(gather, "MOST_TEXT", 10_000)
    event = with_text("x" * 190, 0)[2]
    assert read_recording(str(_written(tmp_path / "log", small_with(*[event] * 100)))).reading.broken == 0


def test_a_list_is_counted_before_it_is_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line of numbers takes ten times its length of memory; in an event that is skipped, nothing."""
    monkeypatch.setattr(events, "MOST_COMMAS", 100)
    for event, broken in (
        (made.job_start(7, 1.0, range(80)), 0),
        (made.job_start(7, 1.0, range(200)), 1),
        ({"Event": "Other", "Numbers": list(range(200))}, 0),
    ):
        found = read_recording(str(_written(tmp_path / "log", small_with(event))))
        assert found.reading.broken == broken
        assert ("more than 100 values" in found.reading.first_broken) == bool(broken)


def test_more_short_lines_than_spark_writes_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that are not needed cost time as well; long ones may be any number."""
    monkeypatch.setattr(lines, "LINES_ALWAYS", 50)
    short, usual = (b'{"Event":"x"%s}\n' % (b" " * spaces) for spaces in (0, 90))
    for line, refused in ((short, True), (usual, False)):
        log = _written(tmp_path / "log", small_with() + line * 1000)
        if refused:
            with pytest.raises(EventLogError, match=r"log is not a Spark event log: .* lines have only"):
                read_recording(str(log))
        else:
            assert read_recording(str(log)).reading.lines > 1000


def test_tasks_that_a_log_only_claims_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replay makes up tasks of completed stages whose ends are missing, and a log can claim billions."""
    claims = (made.stage_completed(7, 1_000, 1.0, 2.0), made.stage_completed(7, 2**31 - 1, 1.0, 2.0))
    few = read_recording(str(_written(tmp_path / "few", small_with(claims[0]))))
    assert {stage.id: stage.size for stage in few.stages}[7] == 1_000
    with pytest.raises(EventLogError, match="lacks the ends of 2,147,483,647 tasks of completed stages"):
        read_recording(str(_written(tmp_path / "many", small_with(claims[1]))))
    monkeypatch.setattr(gather, "MOST_KEPT", 1_000)
    with pytest.raises(EventLogError, match="too large for a replay"):
        read_recording(str(tmp_path / "few"))


def test_a_later_attempt_claims_what_the_first_one_lacks(tmp_path: Path) -> None:
    """The first attempt failed, so that its tasks count only because another attempt was completed."""
    failed = made.stage_completed(7, 2**31 - 1, 1.0, 2.0)
    failed["Stage Info"]["Failure Reason"] = "lost"
    log = _written(tmp_path / "log", small_with(failed))
    assert {stage.id: stage.size for stage in read_recording(str(log)).stages}[7] == 2**31 - 1
    later = made.stage_completed(7, 1, 3.0, 4.0, attempt=1)
    with pytest.raises(EventLogError, match="lacks the ends of"):
        read_recording(str(_written(log, small_with(failed, later))))


def test_of_a_text_without_end_the_beginning_is_kept(tmp_path: Path) -> None:
    """Names, reasons and properties of megabytes each."""
    events = made.small()
    events[1]["Spark Properties"] |= {"spark.app.name": LONG, "spark.executor.memory": LONG}
    events[2] |= {"App Name": LONG, "App ID": LONG}
    events[5]["Properties"] |= {"spark.sql.execution.id": LONG, "streaming.sql.batchId": LONG}
    events[-2] |= {"Removed Reason": LONG}
    for place in (6, 9):
        events[place]["Stage Info"] |= {"Stage Name": LONG, "Failure Reason": LONG}
    for event in events:
        if "Executor ID" in event:
            event["Executor ID"] += LONG
        if "Task Info" in event:
            event["Task Info"]["Executor ID"] += LONG
    found = read_recording(str(_written(tmp_path / "log", made.text(events))))
    assert len(repr(found)) < 50_000
    assert len(found.executors) == 2, "they are told apart"


def test_a_file_of_rubbish_is_left_soon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that is no event costs time, and a file of millions of them is no log."""
    monkeypatch.setattr(lines, "MOST_BROKEN", 50)
    assert read_recording(str(_written(tmp_path / "few", b"x\n" * 50 + small_with()))).reading.broken == 50
    with pytest.raises(EventLogError, match=r"over 50 lines are unreadable, the first at .*many:1: "):
        read_recording(str(_written(tmp_path / "many", b"x\n" * 51 + small_with())))


def test_empty_lines_cost_nothing_each(tmp_path: Path) -> None:
    """200 KiB of gzip are 200 million of them: what is done for a line is not done for these."""
    calls = 0

    def count(_frame: FrameType, _event: str, _argument: Any) -> None:
        nonlocal calls
        calls += 1

    log = _written(
        tmp_path / "log", made.text(made.start()) + b"\n" * (1 << 20) + made.text(made.small()[1:])
    )
    read_recording(str(log))
    sys.setprofile(count)
    try:
        found = read_recording(str(log))
    finally:
        sys.setprofile(None)
    assert found.task_seconds == pytest.approx(9.0)
    assert calls < 20_000


def broken_gzip(text: bytes) -> bytes:
    """The text, and a block of a type that does not exist."""
    packer = zlib.compressobj(9, wbits=31)
    return packer.compress(text) + packer.flush(zlib.Z_FULL_FLUSH) + b"\xff" * 9


def broken_zstd(text: bytes) -> bytes:
    """The text, with a wrong checksum."""
    packed = zstandard.ZstdCompressor(write_checksum=True).compress(text)
    return packed[:-1] + bytes([packed[-1] ^ 1])


@pytest.mark.parametrize(
    ("broken", "ending"), [(broken_gzip, "gz"), (broken_zstd, "zstd")], ids=["gzip", "zstd"]
)
def test_a_break_costs_work_by_what_is_packed(
    broken: Callable[[bytes], bytes], ending: str, tmp_path: Path
) -> None:
    """A kilobyte may unpack to a mebibyte: its bytes are no steps, in none of the files of a rolling log."""
    with zipfile.ZipFile(tmp_path / "log.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            f"eventlog_v2_app/events_1_a.{ending}", broken(made.text(made.small()[:-1]) + b"\n" * 1_000_000)
        )
        for number in (2, 3):
            archive.writestr(f"eventlog_v2_app/events_{number}_a.{ending}", broken(b"\n" * (1 << 20)))
    found = []
    assert work(lambda: found.append(read_recording(str(tmp_path / "log.zip")))) < 200_000
    assert found[0].task_seconds == pytest.approx(9.0)
    assert found[0].reading.cut_off == 3


@pytest.mark.parametrize(
    ("broken", "codec"), [(broken_gzip, "gz"), (broken_zstd, "zstd")], ids=["gzip", "zstd"]
)
@pytest.mark.parametrize("size", [0, 1, 40_000, codecs.CHUNK - 1, codecs.CHUNK, 3 * codecs.CHUNK + 5])
@pytest.mark.parametrize("kind", ["noise", "zeros"])
def test_all_before_a_break_is_kept_once(
    broken: Callable[[bytes], bytes], codec: str, size: int, kind: str
) -> None:
    """Whatever its size, and however much a packed byte has."""
    text = random.Random(size).randbytes(size) if kind == "noise" else bytes(size)  # noqa: S311
    found: list[bytes] = []
    with pytest.raises(codecs.BrokenStream):
        found.extend(codecs.chunks(io.BytesIO(broken(text)), codec))
    assert b"".join(found) == text


def test_a_block_of_lz4_has_no_more_than_it_has() -> None:
    """A few bytes that claim 64 MiB are no zeros."""
    packed = bytes(cramjam.lz4.compress_block(b"some text", store_size=False))
    for size, sound in ((9, True), (10, False), (codecs.LARGEST_BLOCK, False)):
        file = io.BytesIO(struct.pack("<8sBiii", b"LZ4Block", 0x25, len(packed), size, 0) + packed)
        if sound:
            assert b"".join(codecs.chunks(file, "lz4")) == b"some text"
            continue
        with pytest.raises(codecs.BrokenStream, match="a block is shorter than it says"):
            next(codecs.chunks(file, "lz4"))


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
