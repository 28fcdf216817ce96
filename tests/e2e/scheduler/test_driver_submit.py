"""spark-submit does for a driver what it does in a pod of Spark's own Kubernetes backend."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from spark import scheduler, spark_home
from spark.trial_driver import Properties
from sparkgen.spark_versions import COMPILED

REPORTS = """\
import json, os, sys
from pyspark import SparkContext
sc = SparkContext()
found = {
    "files": sorted(os.listdir(".")),
    "inside": os.path.exists("packed/inside.txt"),
    "master": sc.master,
    "arguments": sys.argv[1:],
    "conf": dict(sc.getConf().getAll()),
}
print("REPORT", json.dumps(found))
"""
LEAVES_A_CONTEXT_OPEN = """\
import org.apache.spark.*;
public class Leaves {
  public static void main(String[] args) {
    SparkContext context = new SparkContext(new SparkConf());
    new Thread(() -> {
      while (!context.isStopped()) Thread.onSpinWait();
      System.out.println("the context is stopped");
    }).start();
    System.out.println("main returns");
  }
}
"""
REPORTS_ITS_JARS = """\
import org.apache.spark.*;
public class Jars {
  public static void main(String[] args) {
    SparkContext context = new SparkContext(new SparkConf());
    String[] names = new java.io.File(".").list();
    java.util.Arrays.sort(names);
    String report = "REPORT {'jars': '%s', 'files': '%s'}".replace((char) 39, '"');
    System.out.println(String.format(report, context.conf().get("spark.jars"), String.join(" ", names)));
    context.stop();
  }
}
"""
FILE_SYSTEM = """\
public class MyFs extends org.apache.hadoop.fs.RawLocalFileSystem {
  public String getScheme() { return "my"; }
  public java.net.URI getUri() { return java.net.URI.create("my:///"); }
  protected void checkPath(org.apache.hadoop.fs.Path path) {}
}
"""
POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>myfs</artifactId><version>1.0</version>
</project>
"""

lines = pytest.mark.parametrize("line", COMPILED)


class Folder:
    """An application's working directory and, beside it, the files with which its driver starts."""

    def __init__(self, path: Path, line: str) -> None:
        self.home = spark_home.ensure(COMPILED[line])
        self.scheduler = scheduler.ensure(line)
        self.inputs, self.work, self.session = (path / name for name in ("inputs", "work", "session"))
        for folder in (self.inputs, self.work, self.session):
            folder.mkdir()

    def input(self, name: str, text: str) -> Path:
        """A file of the application."""
        path = self.inputs / name
        path.write_text(text)
        return path

    def jar(self, name: str, source: str) -> Path:
        """A jar with a Java class of the application."""
        classes, jar = self.inputs / "classes", self.inputs / f"{name}.jar"
        java = self.input(f"{name}.java", source)
        command = ["javac", "-proc:none", "--release", "11", "-cp", f"{self.home}/jars/*", "-d"]
        subprocess.run([*command, str(classes), str(java)], check=True, capture_output=True)
        with zipfile.ZipFile(jar, "w") as archive:
            archive.write(classes / f"{name}.class", f"{name}.class")
        return jar

    def run(
        self, conf: Mapping[str, str], *application: object, options: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """The driver, to its end. `options` are those that an image's entrypoint adds."""
        files = Properties(self.session / "spark.properties", self.session / "launch.properties")
        defaults = {
            "spark.master": "local[1]",
            "spark.driver.extraClassPath": str(self.scheduler),
            "spark.driver.memory": "512m",
            "spark.ui.enabled": "false",
        }
        files.write({**defaults, **conf})
        command = files.command(self.home)
        return subprocess.run(
            [*command[:1], *options, *command[1:], *map(str, application)],
            cwd=self.work,
            env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def folder(tmp_path: Path) -> Callable[[str], Folder]:
    """Makes the folder of an application for a Scala line."""
    return lambda line: Folder(tmp_path, line)


def report(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What the program reports."""
    assert ended.returncode == 0, ended.stderr
    text = next(text for text in ended.stdout.splitlines() if text.startswith("REPORT "))
    found: dict[str, Any] = json.loads(text.removeprefix("REPORT "))
    return found


@lines
def test_files_are_in_the_working_directory(folder: Callable[[str], Folder], line: str) -> None:
    """Files, archives under their names, jars and py-files; the context gets sparkgen's master."""
    made = folder(line)
    inside = made.input("inside.txt", "hi\n")
    with tarfile.open(made.inputs / "pack.tgz", "w:gz") as archive:
        archive.add(inside, "inside.txt")
    with zipfile.ZipFile(made.inputs / "some.jar", "w") as jar:
        jar.writestr("a.txt", "a")
    conf = {
        "spark.files": f"file://{made.input('settings.conf', 'rate=7')}",
        "spark.archives": f"file://{made.inputs}/pack.tgz#packed",
        "spark.jars": f"file://{made.inputs}/some.jar",
        "spark.submit.pyFiles": f"file://{made.input('helper.py', '')}",
    }
    found = report(made.run(conf, made.input("main.py", REPORTS), "--x", "1"))
    assert found["files"] == ["helper.py", "packed", "settings.conf", "some.jar"]
    assert (found["inside"], found["master"], found["arguments"]) == (True, "local[1]", ["--x", "1"])


@lines
def test_the_main_jar_is_among_the_jars(folder: Callable[[str], Folder], line: str) -> None:
    """Executors get it with them: it is the last of `spark.jars`, and lies in the working directory."""
    made = folder(line)
    with zipfile.ZipFile(made.inputs / "some.jar", "w") as jar:
        jar.writestr("a.txt", "a")
    main = made.jar("Jars", REPORTS_ITS_JARS)
    found = report(made.run({"spark.jars": f"file://{made.inputs}/some.jar"}, "--class", "Jars", main))
    assert found["files"] == "Jars.jar some.jar"
    jars = [text.rpartition("/")[2] for text in found["jars"].split(",")]
    assert list(dict.fromkeys(jars)) == ["some.jar", "Jars.jar"]  # Spark 3.5 itself adds the last one again


@lines
def test_options_of_an_entrypoint_come_first(folder: Callable[[str], Folder], line: str) -> None:
    """They beat the file of properties, as on spark-submit's own command line; nothing else is added."""
    made = folder(line)
    main = made.input("main.py", REPORTS)
    entrypoint = ["--conf", "spark.executorEnv.POD=x", "--conf", "spark.app.name=entrypoint"]
    ended = made.run({"spark.executorEnv.POD": "y", "spark.app.name": "mine"}, main, options=entrypoint)
    found = report(ended)["conf"]
    assert (found["spark.executorEnv.POD"], found["spark.kubernetes.submitInDriver"]) == ("x", "true")
    assert found["spark.app.name"] == "mine"
    assert "spark.sparkgen.propertiesFile" not in found


@lines
def test_a_context_that_main_leaves_open_is_stopped(folder: Callable[[str], Folder], line: str) -> None:
    """A thread that goes on keeps the process, but no executor: the context is stopped before."""
    made = folder(line)
    ended = made.run({}, "--class", "Leaves", made.jar("Leaves", LEAVES_A_CONTEXT_OPEN))
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-2:] == ["main returns", "the context is stopped"]


@lines
def test_exit_codes(folder: Callable[[str], Folder], line: str) -> None:
    """Python's exit code is the driver's; a class that no jar has is told as spark-submit tells it."""
    made = folder(line)
    assert made.run({}, made.input("main.py", "import sys\nsys.exit(3)\n")).returncode == 3
    jar = made.inputs / "empty.jar"
    with zipfile.ZipFile(jar, "w") as content:
        content.writestr("a.txt", "a")
    ended = made.run({}, "--class", "org.example.Missing", jar)
    assert ended.returncode == 101
    assert "Failed to load class org.example.Missing" in ended.stderr


@lines
def test_packages_are_there_before_the_main_file(folder: Callable[[str], Folder], line: str) -> None:
    """A file system that a package brings fetches the main file."""
    made = folder(line)
    package = made.inputs / "repository" / "org" / "example" / "myfs" / "1.0"
    package.mkdir(parents=True)
    made.jar("MyFs", FILE_SYSTEM).rename(package / "myfs-1.0.jar")
    (package / "myfs-1.0.pom").write_text(POM)
    made.input("main.py", REPORTS)
    conf = {
        "spark.jars.packages": "org.example:myfs:1.0",
        "spark.jars.repositories": f"file://{made.inputs}/repository",
        "spark.jars.ivy": str(made.session / "ivy"),
        "spark.hadoop.fs.my.impl": "MyFs",
    }
    found = report(made.run(conf, f"my://{made.inputs}/main.py"))
    assert "org.example_myfs-1.0.jar" in " ".join(found["files"])
