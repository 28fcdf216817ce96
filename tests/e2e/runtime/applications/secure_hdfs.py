"""Writes below a folder of HDFS and reads it again; says who the driver is, and how executors could log in.

secure_hdfs.py FOLDER [--of-others FILE] [--twice NUMBER] [--until FILE] [--for SECONDS]

`--twice`: by the function Twice of a jar. `--until`: of the driver; what was said is there to be looked at.
A round that fails is said, and the next one begins.
"""

import os
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql.types import LongType

folder, *options = sys.argv[1:]
named = dict(zip(options[::2], options[1::2], strict=True))
spark = SparkSession.builder.getOrCreate()
sc = spark.sparkContext
user = sc._jvm.org.apache.hadoop.security.UserGroupInformation.getCurrentUser()
real = user.getRealUser()
print("user:", user.getShortUserName(), "for:", real.getShortUserName() if real else None, flush=True)


def look(_: int) -> tuple[bool, list[str], list[str]]:
    """Whether the driver's folder is here, variables that name a login, and ticket caches."""
    names = [name for name in os.environ if name.startswith(("KRB5", "HADOOP_TOKEN", "HADOOP_PROXY"))]
    caches = [path.name for path in Path("/tmp").glob("krb5cc*")]  # noqa: S108 - where kinit writes
    return Path("/opt/sparkgen/kerberos").exists(), names, caches


print("executors:", sc.parallelize(range(2), 2).map(look).collect(), flush=True)


def round_trip(number: int) -> int:
    """Write numbers and read them."""
    path = f"{folder}/numbers-{number}"
    sc.parallelize(range(1000), 2).saveAsTextFile(path)
    return int(sc.textFile(path, 2).map(int).sum())


print("sum:", round_trip(0), flush=True)
spark.range(100).write.parquet(f"{folder}/table")
spark.read.parquet(f"{folder}/table").createOrReplaceTempView("numbers")
print("even:", spark.sql("SELECT count(*) FROM numbers WHERE id % 2 = 0").collect()[0][0], flush=True)
if "--of-others" in named:
    try:
        print("read:", sc.textFile(named["--of-others"]).count(), flush=True)
    except Exception as error:  # noqa: BLE001 - what Java throws has many names here
        print("refused:", "AccessControlException" in str(error), flush=True)
if "--twice" in named:
    spark.udf.registerJavaFunction("twice", "Twice", LongType())
    doubled = spark.range(int(named["--twice"]), int(named["--twice"]) + 1).selectExpr("twice(id)")
    print("twice:", doubled.collect()[0][0], flush=True)
while "--until" in named and not Path(named["--until"]).exists():
    time.sleep(0.2)
until = time.monotonic() + float(named.get("--for", 0))
rounds = 0
while time.monotonic() < until:
    rounds += 1
    began = time.time()
    try:
        print(f"round {rounds}: {round_trip(rounds)} begun {began:.0f}", flush=True)
    except Exception as error:  # noqa: BLE001 - as above
        said = " ".join(str(error).split())[:600]
        print(f"round {rounds} failed: begun {began:.0f} ended {time.time():.0f}: {said}", flush=True)
    time.sleep(3)
print("rounds:", rounds, flush=True)
spark.stop()
