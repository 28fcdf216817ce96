"""How driver and executors are started, and what is told of a failure."""

from __future__ import annotations

import io
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sparkgen import contract
from sparkgen.local import folders, launch, tasks
from sparkgen.local.folders import Folders
from sparkgen.local.java import Java
from sparkgen.local.launch import Setting
from sparkgen.local.output import Output
from sparkgen.local.path_mapping import PathMapping, parse_maps
from sparkgen.local.ports import choose, is_free
from sparkgen.local.spark import Spark
from sparkgen.local.status import Tasks
from sparkgen.model import build


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    """A Spark, a Java, and a user with some variables."""
    home = tmp_path / "spark"
    (home / "python" / "lib").mkdir(parents=True)
    (home / "app.py").touch()
    mine = {"PATH": "/bin", "PYTHONPATH": "/mine", "SPARK_HOME": "/other", "HADOOP_CONF_DIR": "/other"}
    return Setting(
        spark=Spark(home, "3.5.8", "2.12", "here"),
        java=Java(Path("/java"), 17, "here"),
        places=PathMapping(home, tmp_path),
        folders=Folders(tmp_path / "work", tmp_path / "logs"),
        environment={**mine, "PYSPARK_PYTHON": "/mine/python"},
        hadoop=False,
    )


def _application(**spec: Any) -> Any:
    every = {"type": "Python", "sparkVersion": "3.5.8", "image": "x", **spec}
    return build({"kind": "SparkApplication", "metadata": {"name": "a"}, "spec": every})


def test_the_driver_is_spark_submit_with_local_places(setting: Setting, tmp_path: Path) -> None:
    """The file is found here, arguments follow it, and the user's own Spark has no say."""
    application = _application(mainApplicationFile="local:///opt/spark/app.py", arguments=["1", "--x"])
    container = {"env": [{"name": "MODE", "value": "fast"}]}
    start = launch.driver(application, container, setting, Path("/p"))
    home = tmp_path / "spark"
    submit = (f"{home}/bin/spark-submit", "--properties-file", "/p", "--deploy-mode", "client")
    assert start.command == (*submit, f"{home}/app.py", "1", "--x")
    variables = start.environment
    assert variables["SPARK_HOME"] == str(home)
    assert variables["JAVA_HOME"] == "/java"
    assert variables["SPARK_LOCAL_IP"] == "127.0.0.1"
    assert variables["PYTHONPATH"] == f"{home}/python:/mine"
    assert (variables["MODE"], variables["PYSPARK_PYTHON"]) == ("fast", "/mine/python")
    assert contract.ENV_HADOOP_CONF_DIR not in variables


def test_the_user_to_act_as(setting: Setting) -> None:
    """Driver and executor get it as in a cluster."""
    application = _application(mainApplicationFile="local:///opt/spark/app.py", proxyUser="alice")
    command = launch.driver(application, {}, setting, Path("/p")).command
    assert command[command.index("--proxy-user") + 1] == "alice"
    assert command.index("--proxy-user") < len(command) - 2


def test_a_class_without_a_file_is_on_the_class_path(setting: Setting) -> None:
    """As SparkLauncher says it."""
    start = launch.driver(_application(type="Scala", mainClass="org.A"), {}, setting, Path("/p"))
    assert start.command[-3:] == ("--class", "org.A", "spark-internal")


def test_an_executor_is_its_pods_script(setting: Setting) -> None:
    """With the variables of its container, the secret, and folders of its own."""
    secret = {"secretKeyRef": {"name": "run-a", "key": "secret"}}
    env = [
        {"name": contract.ENV_EXECUTOR_ID, "value": "7"},
        {"name": contract.ENV_AUTH_SECRET, "valueFrom": secret},
        {"name": contract.ENV_SPARK_CONF_DIR, "value": contract.CONF_DIR},
        {"name": contract.ENV_LOCAL_DIRS, "value": contract.SCRATCH_DIR},
    ]
    containers = [{"name": "other"}, {"name": contract.EXECUTOR_CONTAINER, "env": env}]
    pod = {"metadata": {"name": "exec-7", "namespace": "d"}, "spec": {"containers": containers}}
    start = launch.executor(pod, setting, {("run-a", "secret"): "s3"})
    folders = setting.folders
    assert start.command == ("bash", str(folders.conf / "executor.sh"))
    assert start.environment[contract.ENV_EXECUTOR_ID] == "7"
    assert start.environment[contract.ENV_AUTH_SECRET] == "s3"
    assert start.environment[contract.ENV_SPARK_CONF_DIR] == str(folders.conf)
    assert Path(start.environment[contract.ENV_LOCAL_DIRS]).is_dir()


def test_paths_of_the_image_are_found_here(setting: Setting, tmp_path: Path) -> None:
    """Modules, single files and native libraries lie where --map says."""
    (tmp_path / "lib").mkdir()
    (tmp_path / "rates.py").touch()
    places = PathMapping(setting.spark.home, tmp_path, parse_maps([f"/opt/etl={tmp_path}"]))
    names = (contract.ENV_PYTHON_PATH, contract.ENV_PYTHON_FILES, contract.ENV_LIBRARY_PATH)
    values = ("/opt/etl/lib:/opt/gone", "/opt/etl/rates.py", "/opt/etl/lib")
    env = [{"name": name, "value": text} for name, text in zip(names, values, strict=True)]
    container = {"name": contract.EXECUTOR_CONTAINER, "env": env}
    pod = {"metadata": {"name": "exec-7", "namespace": "d"}, "spec": {"containers": [container]}}
    found = launch.executor(pod, replace(setting, places=places), {}).environment
    assert found["PYTHONPATH"].endswith(f":{tmp_path}/lib:/opt/gone:/mine")
    assert found["SPARKGEN_PYTHON_FILES"] == f"{tmp_path}/rates.py"
    assert found["SPARK_EXECUTOR_LIBRARY_PATH"] == f"{tmp_path}/lib"


@pytest.mark.parametrize(
    ("variables", "python"),
    [
        ({"PYSPARK_PYTHON": "/a/python", "VIRTUAL_ENV": "/v"}, "/a/python"),
        ({"VIRTUAL_ENV": "/v", "PATH": "/bin:/usr/bin"}, "/v/bin/python"),
    ],
)
def test_user_code_runs_with_the_users_python(variables: dict[str, str], python: str) -> None:
    """What is asked for, then what is active."""
    assert launch.python(variables) == python


def test_a_failure_is_explained_by_errors_or_by_what_was_printed(tmp_path: Path) -> None:
    """Spark's chatter explains nothing; Python's traceback comes with the output."""
    lines: list[bytes] = []
    output = Output(lines.append)
    output.follow(io.BytesIO(b"working\nTraceback: no"))
    assert lines == [b"working\n", b"Traceback: no\n"]
    log = tmp_path / "driver.log"
    log.write_text("26/01/01 10:00:00 INFO A: well\n26/01/01 10:00:00 WARN A: native-hadoop\n")
    assert output.explanation(log) == ["working", "Traceback: no"]
    log.write_text("26/01/01 10:00:00 INFO A: well\nException in thread main\n\tat A.b\n")
    assert output.explanation(log) == ["Exception in thread main", "\tat A.b"]
    assert output.explanation(tmp_path / "none") == ["working", "Traceback: no"]


def test_ports_are_chosen_free() -> None:
    """One that somebody listens on is passed over; too few are an error."""
    import socket  # noqa: PLC0415

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert not is_free(port)
        assert port not in choose(1, [port, *range(20000, 20100)])
        with pytest.raises(OSError, match="no 1 free ports"):
            choose(1, [port])


def test_tasks_are_summed_over_executors() -> None:
    """Those that are gone have done theirs; a driver that does not answer says nothing."""
    every = [
        {"activeTasks": 2, "completedTasks": 5, "failedTasks": 1, "isActive": True},
        {"activeTasks": 1, "completedTasks": 7, "failedTasks": 0, "isActive": False},
    ]
    assert tasks.parse(every) == Tasks(2, 12, 1)
    (port,) = choose(1, range(20100, 20200))
    assert tasks.ask(port, "a") is None


def test_only_the_user_reads_the_files_of_a_run(tmp_path: Path) -> None:
    """Logs have what the program prints, and `work` has the secret, whatever the umask is."""
    before = os.umask(0)
    try:
        made = folders.make("app-1", {"SPARKGEN_CACHE": str(tmp_path)})
    finally:
        os.umask(before)
    assert [stat.S_IMODE(path.stat().st_mode) for path in (made.work, made.logs)] == [0o700, 0o700]
    shutil.rmtree(made.work)
