"""Jars of this machine: a main class in Scala, a library in Java, in driver and executors."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cluster.handle import Cluster
from cluster.images import TESTED_VERSIONS
from cluster.registry import Registry
from common import progress
from spark import spark_home
from sparkgen.local.scala import Compiler, compile_jar, write_jar

sys.path.insert(0, str(Path(__file__).parent))

from project import Project

pytestmark = pytest.mark.own_cluster
OLD, NEW = TESTED_VERSIONS

MAIN = """
import org.apache.spark.SparkFiles
import org.apache.spark.sql.SparkSession

case class Order(country: String, told: String)

object Orders {
  def read(name: String): String = scala.io.Source.fromFile(name).mkString.trim
  def files: String = read(SparkFiles.get("numbers.csv")) + " " + read(SparkFiles.get("data/inner.txt"))

  def main(arguments: Array[String]): Unit = {
    val spark = SparkSession.builder.getOrCreate()
    println("driver " + Country.of("de") + " " + files)
    val orders = spark.sparkContext.parallelize(1 to 4, 4)
      .map(_ => Order(Country.of("fr"), files + " " + read("numbers.csv") + " " + read("data/inner.txt")))
      .collect()
    orders.distinct.foreach(order => println("executor " + order.country + " " + order.told))
    spark.stop()
  }
}
"""
LIBRARY = """
public class Country {
    public static String of(String code) {
        return code.equals("de") ? "Germany" : "France";
    }
}
"""


def compiled(folder: Path, version: str) -> None:
    """The two jars of a project: `target/orders.jar`, and `jars/country.jar`, for every Java of Spark's."""
    sources = folder / "src"
    sources.mkdir(parents=True)
    (sources / "Country.java").write_text(LIBRARY)
    (sources / "Orders.scala").write_text(MAIN)
    javac = ["javac", "--release", "11", "-d", str(sources), str(sources / "Country.java")]
    subprocess.run(javac, check=True, capture_output=True)
    for name in ("jars", "target"):
        (folder / name).mkdir(exist_ok=True)
    write_jar(folder / "jars/country.jar", {"Country.class": (sources / "Country.class").read_bytes()})
    home = spark_home.ensure(version)
    compiler = Compiler(version, spark_home.release(home).scala, lambda: home, spark_home.java)
    # The compiler reads the Java source for what it declares, and makes no class of it.
    both = [sources / "Orders.scala", sources / "Country.java"]
    compile_jar(folder / "target/orders.jar", both, compiler, progress.Steps(), {})


@pytest.mark.parametrize(("version", "mount"), [(OLD, "fetch"), (NEW, "fetch"), (NEW, "image")])
def test_a_jar_runs_from_this_machine(
    version: str, mount: str, tmp_path: Path, registry: Registry, cluster: Cluster, restricted: str
) -> None:
    """The main class is in the main file, and a class that executors need, too, in `deps.jars`.

    Executors have files and an archive where `SparkFiles` looks, and in their working directory.
    """
    project = Project(tmp_path / "project", registry, cluster, restricted)
    compiled(project.folder, version)
    project.write(
        version,
        mount,
        type="Scala",
        mainClass="Orders",
        mainApplicationFile="./target/orders.jar",
        deps={
            "jars": ["./jars/country.jar"],
            "files": ["./conf/numbers.csv"],
            "archives": ["./data.zip#data"],
        },
    )
    project.push()
    application = project.deploy()
    assert application.wait() == "Complete", application.story()
    assert project.told(application) == ["driver Germany 42 inner", "executor France 42 inner 42 inner"]
