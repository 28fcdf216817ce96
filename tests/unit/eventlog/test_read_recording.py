"""Event logs to recordings: every form in which Spark writes them, whole or broken off."""

from __future__ import annotations

import json
import random
import tracemalloc
import zipfile
from pathlib import Path

import pytest
import zstandard

from sparkgen.eventlog import EventLogError, read_recording
from sparkgen.eventlog.recording import FAILED, SUCCEEDED, Recording
from tests.unit.eventlog import event_log as made


def write(path: Path, data: bytes) -> str:
    """The path of a file with these bytes."""
    path.write_bytes(data)
    return str(path)


@pytest.fixture
def recording(tmp_path: Path) -> Recording:
    """That of the small application."""
    return read_recording(write(tmp_path / "app-1", made.text(made.small())))


def test_times_are_seconds_since_the_application_began(recording: Recording) -> None:
    """And what the log sums up to is known."""
    assert recording.wall == 10.0
    assert recording.executor_seconds == pytest.approx(9.0 + 8.0)
    assert recording.task_seconds == pytest.approx(2.0 + 3.0 + 0.5 + 3.5)
    assert [(e.id, e.added, e.requested, e.removed) for e in recording.executors] == [
        ("1", 1.0, 0.25, None),
        ("2", 1.5, 0.25, 9.5),
    ]


def test_an_executor_without_its_registration_is_there_from_its_first_task_on(tmp_path: Path) -> None:
    """Spark drops events under load, and some platforms write none: time before it was not paid for."""
    events = [one for one in made.small() if one["Event"] != "SparkListenerExecutorAdded"]
    read = read_recording(write(tmp_path / "app-1", made.text(events)))
    first = {
        place: min(
            time
            for stage in read.stages
            for time, at in zip(stage.tasks.launched, stage.tasks.executor, strict=True)
            if at == place
        )
        for place in range(len(read.executors))
    }
    assert [executor.added for executor in read.executors] == list(first.values())
    assert all(first.values())


def test_stages_know_their_parents_and_tasks_their_ends(recording: Recording) -> None:
    """A failed attempt is a row of its own."""
    first, second = recording.stages
    assert (first.parents, second.parents) == ((), (0,))
    assert list(second.tasks.outcome) == [FAILED, SUCCEEDED]
    assert list(first.tasks.written) == [100, 200]
    assert list(first.tasks.spilled) == [0, 7]
    assert recording.jobs[0].stages == (0, 1)
    assert recording.jobs[0].succeeded


def test_a_job_without_times_begins_and_ends_with_what_happened_last(tmp_path: Path) -> None:
    """Spark 1.2 wrote none."""
    events = made.small()
    for event in events:
        if event["Event"] in ("SparkListenerJobStart", "SparkListenerJobEnd"):
            event.pop("Submission Time", None)
            event.pop("Completion Time", None)
    read = read_recording(write(tmp_path / "app-1", made.text(events)))
    assert read.reading.broken == 0
    (job,) = read.jobs
    assert (job.submitted, job.completed) == (1.5, 9.0)


def test_the_driver_is_up_when_its_block_manager_registers(tmp_path: Path) -> None:
    """That of an executor says nothing of it."""
    events = [*made.start(), made.block_manager("1", 2.0), made.block_manager("driver", 3.5), made.end(9.0)]
    assert read_recording(write(tmp_path / "app-1", made.text(events))).driver_up == 3.5


def test_properties_that_may_hold_a_secret_are_not_kept(recording: Recording) -> None:
    """What is kept is named by its beginning."""
    assert recording.properties == {"spark.executor.instances": "2"}


@pytest.mark.parametrize("ending", made.PACKERS)
@pytest.mark.parametrize("name", ["app-1", "renamed"])
def test_every_codec_gives_the_same(tmp_path: Path, recording: Recording, ending: str, name: str) -> None:
    """By the ending of the name, or by the first bytes where there is none."""
    data = made.PACKERS[ending](made.text(made.small()))
    found = read_recording(write(tmp_path / (f"app-1{ending}" if name == "app-1" else name), data))
    assert (found.stages, found.executors) == (recording.stages, recording.executors)


@pytest.mark.parametrize("ending", made.PACKERS)
def test_large_logs_of_every_codec_go_through_many_blocks(tmp_path: Path, ending: str) -> None:
    """Lines go over the borders of blocks."""
    noise = random.Random(1)  # noqa: S311 - the same at every run
    filler = [made.event("Other", Text=noise.randbytes(300).hex()) for _ in range(3000)]
    events = [*made.small()[:5], *filler, *made.small()[5:]]
    found = read_recording(write(tmp_path / f"app{ending}", made.PACKERS[ending](made.text(events))))
    assert found.reading.lines == len(events)
    assert found.reading.broken == 0
    assert found.task_seconds == pytest.approx(9.0)


@pytest.mark.parametrize("ending", made.PACKERS)
def test_a_log_that_breaks_off_gives_what_is_there(tmp_path: Path, ending: str) -> None:
    """As a driver leaves it that was killed; nothing is raised, and it is told."""
    noise = random.Random(1)  # noqa: S311 - the same at every run
    filler = [made.event("Other", Text=noise.randbytes(300).hex()) for _ in range(2000)]
    data = made.PACKERS[ending](made.text([*made.small()[:-2], *filler]))
    found = read_recording(write(tmp_path / f"app{ending}.inprogress", data[: len(data) - 1000]))
    assert not found.finished
    assert found.wall == 9.0
    assert found.task_seconds == pytest.approx(9.0)
    assert found.reading.broken + found.reading.cut_off > 0


def test_a_rolling_directory_is_read_in_the_order_of_its_numbers(
    tmp_path: Path, recording: Recording
) -> None:
    """2 before 10, whatever their names; what is no log is left alone."""
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    events = made.small()
    (folder / "appstatus_app-1").touch()
    for number, part in {1: events[:4], 2: events[4:9], 10: events[9:]}.items():
        write(folder / f"events_{number}_app-1.zstd", made.PACKERS[".zstd"](made.text(part)))
    found = read_recording(str(folder))
    assert (found.stages, found.jobs) == (recording.stages, recording.jobs)
    assert found.reading.files == 3


def test_a_compacted_file_stands_for_all_before_it(tmp_path: Path) -> None:
    """Spark leaves older files there until it removes them."""
    folder = tmp_path / "eventlog_v2_app-1"
    folder.mkdir()
    events = made.small()
    write(folder / "events_1_app-1", made.text(events[:9]))
    write(folder / "events_2_app-1", b"")
    write(folder / "events_2_app-1.compact", made.text(events[:3]))
    write(folder / "events_3_app-1", made.text([made.end(10.0)]))
    found = read_recording(str(folder))
    assert found.task_seconds == 0
    assert found.wall == 10.0


@pytest.mark.parametrize("rolling", [False, True])
def test_a_history_servers_archive_is_read_as_the_log_in_it(
    tmp_path: Path, recording: Recording, rolling: bool
) -> None:
    """It has the log's name, and for a rolling log its directory."""
    events = made.small()
    parts = {"app-1.zstd": events}
    if rolling:
        numbered = {2: events[4:9], 10: events[9:], 1: events[:4]}
        parts = {f"eventlog_v2_app-1/events_{n}_app-1.zstd": part for n, part in numbered.items()}
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, made.PACKERS[".zstd"](made.text(part)))
    found = read_recording(str(tmp_path / "logs.zip"))
    assert (found.stages, found.jobs, found.executors) == (
        recording.stages,
        recording.jobs,
        recording.executors,
    )


def test_an_archive_of_several_attempts_is_refused_in_words(tmp_path: Path) -> None:
    """Each of them is an application of its own."""
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        for attempt in (1, 2):
            archive.writestr(f"app-1_{attempt}", made.text(made.small()))
    with pytest.raises(EventLogError, match=r"2 event logs, one per attempt; unpack it"):
        read_recording(str(tmp_path / "logs.zip"))


def test_a_damaged_archive_gives_what_is_there(tmp_path: Path) -> None:
    """A byte that changed is found at the file's end, by its sum."""
    file = tmp_path / "logs.zip"
    events = [*made.small()[:-1], *[made.event("Other", Text="x" * 1000)] * 2000, made.end(10.0)]
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("app-1", made.text(events))
    file.write_bytes(file.read_bytes().replace(b"10.0.0.1", b"10.0.0.9"))
    found = read_recording(str(file))
    assert found.task_seconds == pytest.approx(9.0)
    assert (found.finished, found.reading.cut_off) == (False, 1)


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b'{"Event":"SparkListenerTaskEnd","Stage ID":"zero"}',
        b'{"Event":"SparkListenerJobEnd"}',
        b'{"Event":7}',
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"Event":"SparkListenerTaskStart","Sta',
    ],
)
def test_a_broken_line_is_counted_and_named(tmp_path: Path, line: bytes) -> None:
    """The rest is read all the same."""
    source = write(tmp_path / "app-1", line + b"\n" + made.text(made.small()))
    found = read_recording(source)
    assert found.reading.broken == 1
    assert found.reading.first_broken.startswith(f"{source}:1: ")
    assert found.task_seconds == pytest.approx(9.0)


def test_events_and_fields_that_nobody_knows_are_no_fault(tmp_path: Path) -> None:
    """A newer Spark has more of both."""
    events = [{**one, "New Field": [1, {"a": None}]} for one in made.small()]
    spaced = b"".join(json.dumps(one).encode() + b"\n" for one in [made.event("Invented", X=1), *events])
    found = read_recording(write(tmp_path / "app-1", spaced))
    assert found.reading.broken == 0
    assert found.task_seconds == pytest.approx(9.0)


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("empty", b"", "is not a Spark event log"),
        ("text", b"hello\n", "1 broken, the first at"),
        ("app.lzf", b"ZV", "compressed with lzf"),
    ],
)
def test_what_is_no_log_is_refused_in_words(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    """With what was found instead."""
    with pytest.raises(EventLogError, match=message):
        read_recording(write(tmp_path / name, data))


def test_what_is_not_there_is_refused_in_words(tmp_path: Path) -> None:
    """With what to name."""
    with pytest.raises(EventLogError, match="does not exist"):
        read_recording(str(tmp_path / "nothing"))
    with pytest.raises(EventLogError, match="contains no event log"):
        read_recording(str(tmp_path))


def test_a_block_that_claims_to_be_huge_is_not_unpacked(tmp_path: Path) -> None:
    """A header may say anything."""
    huge = b"LZ4Block" + bytes([0x25]) + b"\xff\xff\xff\x7f" * 2 + b"\0" * 8
    with pytest.raises(EventLogError, match="is not a Spark event log"):
        read_recording(write(tmp_path / "app.lz4", huge))
    with pytest.raises(EventLogError, match="is not a Spark event log"):
        read_recording(
            write(tmp_path / "app.snappy", b"\x82SNAPPY\0" + b"\0" * 8 + b"\0\0\0\x05\xff\xff\xff\xff\x7f")
        )


def test_memory_does_not_grow_with_what_is_not_needed(tmp_path: Path) -> None:
    """Forty megabytes of other events, packed into little, take a few megabytes to pass."""
    filler = made.text([made.event("Other", Text="x" * 2000)]) * 20_000
    source = write(tmp_path / "app.zstd", made.PACKERS[".zstd"](made.text(made.small()) + filler))
    tracemalloc.start()
    try:
        read_recording(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 12 << 20


@pytest.mark.parametrize("ending", [".gz", ".zstd"])
def test_of_a_file_with_a_damaged_tail_all_before_it_is_kept(tmp_path: Path, ending: str) -> None:
    """A byte that changed, or rubbish after the last block, costs nothing of what could be unpacked."""
    data = bytearray(made.PACKERS[ending](made.text(made.small()[:-1])))
    if ending == ".zstd":
        packer = zstandard.ZstdCompressor().compressobj()
        data = bytearray(packer.compress(made.text(made.small()[:-1])))
        data += packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) + b"\xff" * 500
    else:
        data = bytearray(data[:-8]) + b"\0" * 8
    found = read_recording(write(tmp_path / f"app{ending}", bytes(data)))
    assert found.task_seconds == pytest.approx(9.0)
    assert (found.finished, found.reading.cut_off, found.reading.broken) == (False, 1, 0)


ODD_NAMES = {
    "slashes": "//a",
    "absolute": "/app-1",
    "dot": "./app-1",
    "doubled": "eventlog_v2_x//events_1_x",
    "deep": "a/" * 20_000 + "x",
}


@pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
def test_an_archive_with_odd_names_is_read_or_refused(tmp_path: Path, name: str) -> None:
    """`zipfile.Path` goes round without end for a name that begins with slashes."""
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        archive.writestr(name, made.text(made.small()))
    if name == ODD_NAMES["deep"]:
        with pytest.raises(EventLogError, match="contains no event log"):
            read_recording(str(tmp_path / "logs.zip"))
    else:
        assert read_recording(str(tmp_path / "logs.zip")).task_seconds == pytest.approx(9.0)


@pytest.mark.parametrize("names", [["/"], ["./"], []])
def test_an_archive_without_a_file_is_no_log(tmp_path: Path, names: list[str]) -> None:
    """Whatever its folders are called."""
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    with pytest.raises(EventLogError, match="contains no event log"):
        read_recording(str(tmp_path / "logs.zip"))


@pytest.mark.parametrize("number", ["9" * 200, "\u0663"])
def test_a_number_that_no_rolling_log_has_is_no_file_of_it(tmp_path: Path, number: str) -> None:
    """Spark counts from 1, in ASCII."""
    write(tmp_path / f"events_{number}_x", made.text(made.small()))
    with pytest.raises(EventLogError, match="contains no event log"):
        read_recording(str(tmp_path))


def test_an_archive_whose_packed_bytes_are_damaged_gives_what_is_there(tmp_path: Path) -> None:
    """As deflate finds it, in the middle of the file."""
    file = tmp_path / "logs.zip"
    noise = random.Random(1)  # noqa: S311 - the same at every run
    filler = [made.event("Other", Text=noise.randbytes(300).hex()) for _ in range(9000)]
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("app-1", made.text([*made.small()[:-1], *filler]))
    data = bytearray(file.read_bytes())
    data[len(data) * 3 // 4 : len(data) * 3 // 4 + 3000] = b"\xff" * 3000
    file.write_bytes(data)
    found = read_recording(str(file))
    assert found.task_seconds == pytest.approx(9.0)
    assert found.reading.cut_off == 1


def changed_archive(file: Path, place: int, data: bytes, method: int = zipfile.ZIP_STORED) -> str:
    """An archive with some bytes of its directory changed, from the beginning of the log's entry on."""
    with zipfile.ZipFile(file, "w", method) as archive:
        archive.writestr("app-1", made.text(made.small()))
    written = bytearray(file.read_bytes())
    begin = written.index(b"PK\x01\x02") + place
    written[begin : begin + len(data)] = data
    file.write_bytes(written)
    return str(file)


@pytest.mark.parametrize(
    ("place", "data", "method"),
    [
        (6, b"\x63\x00", zipfile.ZIP_STORED),
        (8, b"\x00\x08" + bytes(36) + b"\xff", zipfile.ZIP_STORED),
        (10, b"\x63\x00", zipfile.ZIP_STORED),
        (0, b"", zipfile.ZIP_LZMA),
        (0, b"", zipfile.ZIP_BZIP2),
    ],
    ids=["version", "name", "unknown method", "LZMA", "bzip2"],
)
def test_an_archive_that_python_cannot_read_is_refused_in_words(
    tmp_path: Path, place: int, data: bytes, method: int
) -> None:
    """Of a later version, with a name that is no UTF-8, or packed by a method that no history server uses."""
    with pytest.raises(EventLogError, match=r"cannot read .*logs\.zip"):
        read_recording(changed_archive(tmp_path / "logs.zip", place, data, method))


def test_an_encrypted_archive_is_refused_in_words(tmp_path: Path) -> None:
    """The bit that says so is set in both of its headers."""
    file = tmp_path / "logs.zip"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("app-1", made.text(made.small()))
    data = bytearray(file.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    file.write_bytes(data)
    with pytest.raises(EventLogError, match="unpack the archive first"):
        read_recording(str(file))


def test_lines_are_numbered_with_the_empty_ones(tmp_path: Path) -> None:
    """Over the borders of what is read at once, too."""
    text = made.text(made.small())
    source = write(tmp_path / "app", b"\n" * ((1 << 20) - 3) + b"\n\nnot json\n\n" + text.rstrip(b"\n"))
    found = read_recording(source)
    assert found.reading.first_broken.startswith(f"{source}:{1 << 20}: ")
    assert found.reading.lines == len(made.small()) + 1
    assert found.finished
