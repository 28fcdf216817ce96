"""Whether the JVMs of driver and executors have mapped the image's archive of classes."""

import os
from pathlib import Path

from pyspark.sql import SparkSession

ARCHIVE = os.environ["SPARKGEN_CLASS_ARCHIVE"]
spark = SparkSession.builder.getOrCreate()


def mapped(_: int) -> bool:
    """Whether the JVM that this Python belongs to, however far up, has it in its memory."""
    process = os.getpid()
    while process > 1:
        folder = Path("/proc", str(process))
        if "java" in (folder / "comm").read_text():
            return ARCHIVE in (folder / "maps").read_text()
        process = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
    raise SystemExit("no JVM is above this Python")


print("driver:", mapped(0), flush=True)
print("executors:", set(spark.sparkContext.parallelize(range(2), 2).map(mapped).collect()), flush=True)
print("sum:", spark.range(100).selectExpr("sum(id)").collect()[0][0], flush=True)
spark.stop()
