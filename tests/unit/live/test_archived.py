"""The log archive of a run: what its workload says is checked before rclone hears it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.live.archived import (
    ArchivedLog,
    Wish,
    archive_of,
    archived_logs,
    chosen,
    content,
    reading,
    recent,
    titles,
)
from sparkgen.live.values import Run, by_spark
from sparkgen.model import build
from sparkgen.resources import render
from sparkgen.usecases.requested_run import renamed

NAMESPACE = "analytics"
PLACE = {"url": "s3://data-logs/spark", "image": "rclone:1"}


def run(archive: dict[str, Any] | None, backend: str = "sparkgen", **env: str) -> Run:
    """A run of a document with this archive. `env`: what somebody has changed in its Job."""
    spec = {
        "type": "Python",
        "sparkVersion": "3.5.8",
        "image": "spark:3.5.8",
        "mainApplicationFile": "local:///app.py",
        "allocator": backend,
        **({} if archive is None else {"logging": {"archive": archive}}),
    }
    document = {"kind": "SparkApplication", "metadata": {"name": "pi", "namespace": NAMESPACE}, "spec": spec}
    (job,) = [one for one in render(build(document)) if one["kind"] == "Job"]
    for container in job["spec"]["template"]["spec"]["initContainers"]:
        for one in container["env"] if container["name"] == "log-archive" else ():
            if one["name"] in env:
                one["value"] = env[one["name"]]
    return Run("pi", NAMESPACE, job["metadata"]["name"], job["metadata"]["name"], job)


def test_the_bucket_and_what_describes_it() -> None:
    """As the document says, for this machine's rclone."""
    found = run({**PLACE, "endpoint": "https://minio.example.com:9000", "region": "eu-central-1"})
    archive = archive_of(found)
    assert archive is not None
    assert archive.folder == f"archive:data-logs/spark/{NAMESPACE}/pi/{found.name}"
    assert archive.variables["RCLONE_CONFIG_ARCHIVE_ENDPOINT"] == "https://minio.example.com:9000"
    assert archive.variables["RCLONE_CONFIG_ARCHIVE_REGION"] == "eu-central-1"


def test_no_archive() -> None:
    """A document without one."""
    assert archive_of(run(None)) is None


def test_a_claim_is_named() -> None:
    """Only a pod can read it."""
    with pytest.raises(SparkgenError, match=f"are in a claim, in the folder {NAMESPACE}/pi/"):
        archive_of(run({"claim": "logs", "image": "rclone:1"}))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("SPARKGEN_LOG_ARCHIVE", "--config=/etc/passwd"),
        ("SPARKGEN_LOG_ARCHIVE", "/etc"),
        ("SPARKGEN_LOG_ARCHIVE", ":sftp,host=evil.example.com:x"),
        ("SPARKGEN_LOG_ARCHIVE", "archive:b/../../x"),
        ("SPARKGEN_RUN", "../../another"),
    ],
)
def test_a_place_that_is_no_bucket_is_refused(name: str, text: str) -> None:
    """Whoever may write a Job chooses no other store, file or option of this machine's rclone."""
    with pytest.raises(SparkgenError, match="does not say in which bucket"):
        archive_of(run(PLACE, **{name: text}))


def test_variables_of_a_cluster_are_few() -> None:
    """No command, and no other kind of store."""
    changed = run(
        {**PLACE, "endpoint": "https://minio.example.com"},
        RCLONE_CONFIG_ARCHIVE_TYPE="sftp",
        RCLONE_CONFIG_ARCHIVE_ENDPOINT="http://user:password@evil",
    )
    archive = archive_of(changed)
    assert archive is not None
    assert {*archive.variables} == {
        "RCLONE_CONFIG_ARCHIVE_PROVIDER",
        "RCLONE_CONFIG_ARCHIVE_ENV_AUTH",
        "RCLONE_CONFIG_ARCHIVE_NO_CHECK_BUCKET",
    }


def test_two_dots_in_a_name_are_no_way_up() -> None:
    """As `validate` says."""
    archive = archive_of(run({**PLACE, "url": "s3://data-logs/a..b"}))
    assert archive is not None
    assert archive.folder.startswith("archive:data-logs/a..b/")


def stored(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """The environment of a machine whose rclone lists and prints these files.

    Of what rclone can filter, it knows `--include` with a pattern in which `*` also matches `/`.
    """
    (folder / "rclone").write_text(
        "#!/bin/sh\n"
        f'echo "$@" >>{folder}/calls\n'
        "for last; do :; done\n"
        f"[ $1 = lsf ] || exec cat {folder}/store/${{last#archive:*/*/*/*/*/}}\n"
        f"cd {folder}/store || exit 1\n"
        'all="$*"\n'
        "case $all in *--dirs-only*) exec ls -p ;; *--include*) only=${all#*--include } ;; esac\n"
        "only=${only%% *}\n"
        'find . -type f -path ".${only:-*}" | sed "s|^./||"\n'
    )
    (folder / "rclone").chmod(0o755)
    for name, text in files.items():
        path = folder / "store" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def read(found: Run, wish: Wish, environment: dict[str, str]) -> bytes:
    """What a user gets."""
    archive = archive_of(found)
    assert archive is not None
    logs = chosen(archived_logs(archive, found, wish, environment, None), wish)
    return b"".join(piece for log in logs for piece in content(archive, log, environment))


@pytest.fixture
def rclone(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine whose rclone lists and prints the files of a folder."""
    name = run(PLACE).name
    return stored(
        tmp_path,
        {
            f"{name}-aaaa1/spark/20260101T000000Z-000000.log": "old driver\n",
            f"{name}-aaaa2/spark/20260102T000000Z-000000.log": "new driver, ",
            f"{name}-aaaa2/spark/20260102T000000Z-000001.log": "second file\n",
            f"{name}-aaaa2/allocator/20260102T000000Z-000000.log": "allocator\n",
            f"{name}-b-exec-2/spark/20260102T000000Z-000000.log": "executor 2\n",
            f"{name}-b-exec-2/evil/20260102T000000Z-000000.log": "not of us\n",
            f"{name}-b-exec-2/dropped.txt": "not a log\n",
        },
    )


@pytest.mark.parametrize(
    ("wish", "text"),
    [
        (Wish(), b"new driver, second file\n"),
        (Wish(allocator=True), b"allocator\n"),
        (Wish("2"), b"executor 2\n"),
        (Wish("NAME-b-exec-2"), b"executor 2\n"),
        (Wish("3"), b""),
        (Wish(everything=True), b"old driver\nallocator\nnew driver, second file\nexecutor 2\n"),
    ],
)
def test_logs_are_found_and_read(rclone: dict[str, str], wish: Wish, text: bytes) -> None:
    """Those of the newest driver, or those that a user names; in the order of time."""
    found = run(PLACE)
    named = replace(wish, executor=wish.executor.replace("NAME", found.name))
    assert read(found, named, rclone) == text


def test_rclone_lists_only_what_is_wanted(rclone: dict[str, str], tmp_path: Path) -> None:
    """User code of another pod may have written more files than can be listed."""
    found = run(PLACE)
    for wish in (Wish(), Wish(allocator=True), Wish("2")):
        read(found, wish, rclone)
    listed = [line for line in (tmp_path / "calls").read_text().splitlines() if line.startswith("lsf")]
    assert [line.split(" --include ")[1].split()[0] for line in listed] == [
        f"/{found.name}-?????/spark/*.log",
        f"/{found.name}-?????/allocator/*.log",
        "/*-exec-2/spark/*.log",
    ]


def firing(minutes: int) -> Run:
    """The run of a CronJob, as its controller names the Job."""
    once = run(PLACE)
    return replace(once, name=f"pi-{minutes}")


def test_a_firing_has_its_own_driver_and_executors(tmp_path: Path) -> None:
    """All firings of a schedule share a folder, and so do their executors' numbers."""
    label = run(PLACE).label
    machine = stored(
        tmp_path,
        {
            "pi-29384640-aaaaa/spark/20261101T010000Z-000000.log": "driver 1, ",
            "pi-29384640-aaaaa/allocator/20261101T010000Z-000000.log": "allocator 1, ",
            f"{label}-0a1b2-exec-1/spark/20261101T010100Z-000000.log": "executor 1, ",
            "pi-29386080-bbbbb/spark/20261102T010000Z-000000.log": "driver 2, ",
            "pi-29386080-bbbbb/allocator/20261102T010000Z-000000.log": "allocator 2, ",
            f"{label}-9a8b7-exec-1/spark/20261102T010100Z-000000.log": "executor 2, ",
        },
    )
    for number, minutes in ((1, 29384640), (2, 29386080)):
        found = firing(minutes)
        assert read(found, Wish(), machine) == f"driver {number}, ".encode()
        assert read(found, Wish(allocator=True), machine) == f"allocator {number}, ".encode()
        assert read(found, Wish("1"), machine) == f"executor {number}, ".encode()
        every = f"allocator {number}, driver {number}, executor {number}, "
        assert sorted(read(found, Wish(everything=True), machine).split(b", ")) == sorted(
            every.encode().split(b", ")
        )


def test_an_application_may_be_called_like_an_executor(tmp_path: Path) -> None:
    """Only a number behind `-exec-` makes one."""
    found = replace(run(PLACE), name="my-exec-job-1f0c9d52", label="my-exec-job-1f0c9d52")
    name = "my-exec-job-1f0c9d52-x7k2p/spark/20261128T185315Z-000000.log"
    assert read(found, Wish(), stored(tmp_path, {name: "driver\n"})) == b"driver\n"
    archive = archive_of(found)
    assert archive is not None
    assert titles(archive, {"PATH": f"{tmp_path}:/usr/bin:/bin"}) == ["driver"]


def test_lines_of_an_allocator_tell_their_time() -> None:
    """Those of others may have any form."""
    after = datetime(2026, 11, 28, 22, tzinfo=UTC)
    told = ["2026-11-01T01:00:00.000Z old\n", '{"a": 1, "time": "2026-11-01T01:00:00.000Z"}\n']
    new = ["2026-11-28T23:00:00.000Z new\n", "no time\n"]
    assert [*recent(ArchivedLog("pi", "allocator", ()), [*told, *new], after)] == new
    assert [*recent(ArchivedLog("pi", "driver", ()), [*told, *new], after)] == [*told, *new]


def test_errors_are_sentences(rclone: dict[str, str], tmp_path: Path) -> None:
    """No rclone, a store that refuses, and a file that is gone."""
    archive = archive_of(run(PLACE))
    assert archive is not None
    with pytest.raises(SparkgenError, match="install rclone"):
        archived_logs(archive, run(PLACE), Wish(), {"PATH": "/nowhere"}, None)
    gone = ArchivedLog("pi", "driver", ("pi/spark/gone.log",))
    with pytest.raises(SparkgenError, match=r"cannot read pi/spark/gone\.log"):
        list(content(archive, gone, rclone))
    (tmp_path / "rclone").write_text("#!/bin/sh\necho AccessDenied >&2; exit 1\n")
    with pytest.raises(SparkgenError, match=r"cannot list archive:.*AccessDenied"):
        archived_logs(archive, run(PLACE), Wish(), rclone, None)
    (tmp_path / "rclone").write_text("#!/bin/sh\nexec cat /dev/zero\n")
    with pytest.raises(SparkgenError, match=r"too many files.*name one executor, or add --since 2h"):
        archived_logs(archive, run(PLACE), Wish(), rclone, None)


def test_the_command_that_reads_names_the_run() -> None:
    """But for the latest, which is read without a name; none without an archive."""
    found = run(PLACE)
    assert reading(found) == "sparkgen logs pi --archived"
    again = reading(replace(found, latest=False), " --executor 3")
    assert again == f"sparkgen logs pi --run {found.name} --archived --executor 3"
    assert not reading(run(None))


def test_spark_as_the_allocator_is_recognized_with_an_archive() -> None:
    """Whose arguments come behind those that keep the log."""
    assert not by_spark(run(PLACE))
    assert by_spark(run(PLACE, backend="spark"))


def test_a_requested_run_has_a_folder_of_its_own() -> None:
    """As `sparkgen run` copies a Job: its logs are not mixed with those of the run that it is a copy of."""
    source = run(PLACE)
    copy = renamed(source.workload["spec"]["template"], source.name, "pi-again")
    again = Run("pi", NAMESPACE, "pi-again", "pi-again", {"kind": "Job", "spec": {"template": copy}})
    archive = archive_of(again)
    assert archive is not None
    assert archive.folder.endswith("/pi-again")
