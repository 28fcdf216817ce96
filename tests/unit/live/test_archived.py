"""The log archive of a run: what its workload says is checked before rclone hears it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkgen.errors import SparkgenError
from sparkgen.live.archived import ArchivedLog, archive_of, archived_logs, chosen, content
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


@pytest.fixture
def rclone(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine whose rclone lists and prints the files of a folder."""
    (tmp_path / "rclone").write_text(
        "#!/bin/sh\n"
        "for last; do :; done\n"
        f'case $1 in lsf) cd {tmp_path}/store && find . -type f | sed "s|^./||" ;;\n'
        f'  cat) exec cat "{tmp_path}/store/${{last#archive:*/pi-*/}}" ;; esac\n'
    )
    (tmp_path / "rclone").chmod(0o755)
    for name, text in {
        "pi-x-driver1/spark/20260101T000000Z-000000.log": "old driver\n",
        "pi-x-driver2/spark/20260102T000000Z-000000.log": "new driver, ",
        "pi-x-driver2/spark/20260102T000000Z-000001.log": "second file\n",
        "pi-x-driver2/allocator/20260102T000000Z-000000.log": "allocator\n",
        "pi-x-exec-2/spark/20260102T000000Z-000000.log": "executor 2\n",
        "pi-x-exec-2/evil/20260102T000000Z-000000.log": "not of us\n",
        "pi-x-exec-2/dropped.txt": "not a log\n",
    }.items():
        path = tmp_path / "store" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return {"PATH": f"{tmp_path}:/usr/bin:/bin"}


@pytest.mark.parametrize(
    ("executor", "allocator", "everything", "text"),
    [
        ("", False, False, b"new driver, second file\n"),
        ("", True, False, b"allocator\n"),
        ("2", False, False, b"executor 2\n"),
        ("pi-x-exec-2", False, False, b"executor 2\n"),
        ("3", False, False, b""),
        ("", False, True, b"old driver\nallocator\nnew driver, second file\nexecutor 2\n"),
    ],
)
def test_logs_are_found_and_read(
    rclone: dict[str, str], executor: str, allocator: bool, everything: bool, text: bytes
) -> None:
    """Those of the newest driver, or those that a user names; in the order of time."""
    archive = archive_of(run(PLACE))
    assert archive is not None
    logs = archived_logs(archive, rclone, None)
    wanted = chosen(logs, executor, allocator=allocator, everything=everything)
    assert b"".join(piece for log in wanted for piece in content(archive, log, rclone)) == text


def test_errors_are_sentences(rclone: dict[str, str], tmp_path: Path) -> None:
    """No rclone, a store that refuses, and a file that is gone."""
    archive = archive_of(run(PLACE))
    assert archive is not None
    with pytest.raises(SparkgenError, match="install rclone"):
        archived_logs(archive, {"PATH": "/nowhere"}, None)
    gone = ArchivedLog("pi", "driver", ("pi/spark/gone.log",))
    with pytest.raises(SparkgenError, match=r"cannot read pi/spark/gone\.log"):
        list(content(archive, gone, rclone))
    (tmp_path / "rclone").write_text("#!/bin/sh\necho AccessDenied >&2; exit 1\n")
    with pytest.raises(SparkgenError, match=r"cannot list archive:.*AccessDenied"):
        archived_logs(archive, rclone, None)


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
