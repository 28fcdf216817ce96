"""What a driver of this machine starts with: what pods have, less what is only there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sparkgen import model
from sparkgen.model.application import Application
from sparkgen.runtime.allocator.driver import properties
from sparkgen.shell.client_files import ClientFolder, client_folder, environment_of, files
from sparkgen.shell.unused_fields import unused_fields

HERE = ClientFolder(Path("/run/user/1/x"))
HOME = Path("/home/me/my etl")
"""The document's folder."""


def application(**spec: Any) -> Application:
    """A small application."""
    return model.build(document(**spec))


def document(**spec: Any) -> dict[str, Any]:
    """Its document."""
    base = {
        "type": "Python",
        "sparkVersion": "4.0.1",
        "image": "spark",
        "mainApplicationFile": "local:///a.py",
    }
    return {
        "apiVersion": "sparkgen.dev/v1alpha1",
        "kind": "SparkApplication",
        "metadata": {"name": "pi"},
        "spec": base | spec,
    }


def defaults(made: Application, **given: str) -> dict[str, str]:
    """spark-defaults.conf."""
    found = {name.replace("_", "."): text for name, text in given.items()}
    return properties.parse(files(made, found, HERE, 4000, HOME)["spark-defaults.conf"])


def test_pythons_are_the_images_and_this_machines() -> None:
    """PySpark ships PYSPARK_PYTHON to executors: it is what the document says of the image, never ours."""
    own = {"PATH": "/bin", "VIRTUAL_ENV": "/home/me/venv"}
    assert (
        environment_of(application(), own, HERE).items()
        >= {
            "PYSPARK_PYTHON": "python3",
            "PYSPARK_DRIVER_PYTHON": "/home/me/venv/bin/python",
        }.items()
    )
    jupyter = own | {"PYSPARK_PYTHON": "/home/me/python", "PYSPARK_DRIVER_PYTHON": "jupyter"}
    image = application(sparkConf={"spark.pyspark.python": "/opt/python3.12"})
    assert (
        environment_of(image, jupyter, HERE).items()
        >= {
            "PYSPARK_PYTHON": "/opt/python3.12",
            "PYSPARK_DRIVER_PYTHON": "jupyter",
        }.items()
    )
    assert "spark.pyspark.python" not in defaults(image, spark_pyspark_python="/opt/python3.12")
    variable = application(driver={"env": [{"name": "PYSPARK_PYTHON", "value": "/opt/p"}]})
    assert environment_of(variable, {}, HERE)["PYSPARK_PYTHON"] == "/opt/p"


def test_the_ui_is_for_this_machine_unless_somebody_says_otherwise() -> None:
    """And no variable leads PySpark to a Connect server."""
    found = environment_of(application(), {"SPARK_REMOTE": "sc://x", "A": "b"}, HERE)
    assert found.items() >= {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_PUBLIC_DNS": "localhost", "A": "b"}.items()
    assert "SPARK_REMOTE" not in found
    own = environment_of(application(), {"SPARK_LOCAL_IP": "10.1.2.3"}, HERE)
    assert (own["SPARK_LOCAL_IP"], "SPARK_PUBLIC_DNS" in own) == ("10.1.2.3", False)


def test_what_is_in_pods_only_is_left_out() -> None:
    """A claim for event logs, and a home for packages; a directory that this machine reaches stays."""
    claim = application(eventLog={"dir": "file:///var/log/spark", "claim": "logs"})
    given = {"spark_eventLog_enabled": "true", "spark_jars_ivy": "/tmp/.ivy2"}  # noqa: S108 - as rendered
    assert defaults(claim, **given)["spark.eventLog.enabled"] == "false"
    remote = application(eventLog={"dir": "s3a://logs/"})
    assert defaults(remote, **given)["spark.eventLog.enabled"] == "true"
    assert "spark.jars.ivy" not in defaults(remote, **given)
    ivy = application(sparkConf={"spark.jars.ivy": "/x"})
    assert defaults(ivy, spark_jars_ivy="/x")["spark.jars.ivy"] == "/x"


def test_files_of_the_document_are_served_from_where_they_are() -> None:
    """A driver that names a file of a pod does not start; executors have jars of their own."""
    inside, jars = "/opt/sparkgen/artifacts/code", "local:///opt/sparkgen/artifacts/dependencies/jars"
    given = {
        "spark_files": f"file://{inside}/a.csv,file://{inside}/_parent/shared/b.csv",
        "spark_archives": f"s3a://b/c.zip,file://{inside}/d.zip#d",
        "spark_submit_pyFiles": f"file://{inside}/lib/util.py",
        "spark_jars": f"{jars}/e.jar,local:///opt/f.jar",
    }
    found = defaults(application(), **given)
    assert found["spark.files"] == "file:///home/me/my%20etl/a.csv,file:///home/me/shared/b.csv"
    assert found["spark.archives"] == "s3a://b/c.zip,file:///home/me/my%20etl/d.zip#d"
    assert found["spark.submit.pyFiles"] == "file:///home/me/my%20etl/lib/util.py"
    assert found["spark.jars"] == given["spark_jars"]
    assert found["spark.driver.extraClassPath"] == f"{HERE.jar}:{HOME}/jars/e.jar"


def test_modules_and_packages_of_the_document_come_before_what_python_finds_already() -> None:
    """As in a pod, where the image's come last; without any, the variable is left alone."""
    own = {"PYTHONPATH": "/usr/lib/spark/python"}
    found = environment_of(application(), own, HERE, ("/home/me/etl/lib", "/home/me/.cache/packages"))
    assert found["PYTHONPATH"] == "/home/me/etl/lib:/home/me/.cache/packages:/usr/lib/spark/python"
    assert environment_of(application(), own, HERE)["PYTHONPATH"] == own["PYTHONPATH"]


def test_files_of_the_document_are_there() -> None:
    """Those of Hadoop on the class path; the jar comes before the document's own."""
    made = application(
        hadoopConf={"fs.defaultFS": "hdfs://x"},
        sparkConfFiles={"hive-site.xml": "<x/>"},
        sparkConf={"spark.driver.extraClassPath": "/opt/more.jar"},
    )
    found = files(made, {}, HERE, 4000, HOME)
    assert {"core-site.xml", "hive-site.xml", "log4j2.properties", "metrics.properties"} <= set(found)
    class_path = properties.parse(found["spark-defaults.conf"])["spark.driver.extraClassPath"]
    assert class_path == f"{HERE.jar}:/opt/more.jar"


def test_a_session_logs_in_with_the_ticket_of_its_user() -> None:
    """The keytab is in no pod of a session: who works here has a ticket, which is read again."""
    section = {"principal": "alice@EXAMPLE.COM", "keytab": {"name": "k", "key": "k"}}
    given = {
        "spark_kerberos_principal": "alice@EXAMPLE.COM",
        "spark_kerberos_keytab": "/opt/sparkgen/kerberos/keytab",
    }
    found = defaults(application(kerberos=section), **given)
    assert "spark.kerberos.principal" not in found
    assert "spark.kerberos.keytab" not in found
    assert found["spark.kerberos.renewal.credentials"] == "ccache"


def test_a_folder_needs_a_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In memory where there is one for the user, and else where temporary files go."""
    monkeypatch.setattr("tempfile.gettempdir", lambda: str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with client_folder({"XDG_RUNTIME_DIR": str(tmp_path / "none")}) as found:
        assert found.path.parent == tmp_path / "tmp"
        found.write(found.token, b"x")
        assert found.token.stat().st_mode & 0o777 == 0o600
    assert list((tmp_path / "tmp").iterdir()) == []


def test_fields_without_meaning_are_named_with_what_happens_instead() -> None:
    """Sizes of the driver mean something; its pod does not, nor what would run in it."""
    value = document(driver={"memory": "2g", "env": [], "template": {}}, arguments=["x"], suspend=True)
    assert [".".join(map(str, path)) for path, _ in unused_fields(value)] == [
        "spec.mainApplicationFile",
        "spec.arguments",
        "spec.suspend",
        "spec.driver.template",
        "spec.driver.env",
    ]
