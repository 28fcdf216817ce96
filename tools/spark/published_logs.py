"""The event logs that Spark's own tests read: they lie in the tests' jar of each release.

Ivy, which comes with Spark, brings the jar from where Spark looks by itself.
"""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from common import progress
from common.cachedir import ToolError, cache_root, environment, key, publish
from common.command import run
from spark import spark_home
from sparkgen.spark_versions import NEWEST

JAR = ("spark-core_2.13", "4.0.1")
"""Module and version whose tests hold the logs."""
FOLDER = "spark-events/"
_MODULE = """<ivy-module version="2.0" xmlns:m="http://ant.apache.org/ivy/maven">
  <info organisation="sparkgen" module="event-logs"/>
  <configurations><conf name="default"/></configurations>
  <dependencies>
    <dependency org="org.apache.spark" name="{0}" rev="{1}" transitive="false" conf="default->master">
      <artifact name="{0}" type="jar" ext="jar" m:classifier="tests"/>
    </dependency>
  </dependencies>
</ivy-module>
"""


def ensure() -> Path:
    """The folder of the logs; ToolError when the jar cannot be had."""
    return publish(cache_root(environment()) / "event-logs" / key(*JAR), _fetch)


def _fetch(target: Path) -> None:
    progress.say(f"fetching the event logs of Spark's own tests ({' '.join(JAR)}, once)")
    ivy, module = target / "ivy", target / "ivy.xml"
    module.write_text(_MODULE.format(*JAR), "utf-8")
    (program,) = (spark_home.ensure(NEWEST.version) / "jars").glob("ivy-*.jar")
    command = ["java", "-jar", str(program), "-ivy", str(module), "-cache", str(ivy)]
    failed = f"the tests' jar of {' '.join(JAR)} cannot be fetched"
    said = run(*command, "-retrieve", f"{target}/[artifact].[ext]", failed=failed)
    jar = target / f"{JAR[0]}.jar"
    if not jar.exists():
        raise ToolError(f"{failed}:\n{said[-2000:]}")
    with zipfile.ZipFile(jar) as entries:
        for name in entries.namelist():
            if name.startswith(FOLDER) and not name.endswith("/"):
                (target / Path(name).name).write_bytes(entries.read(name))
    jar.unlink()
    module.unlink()
    shutil.rmtree(ivy)
