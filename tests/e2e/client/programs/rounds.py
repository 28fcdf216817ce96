"""A small job a second, until a line comes; it says when Spark has stopped."""

import os
import select
import sys
import time

from pyspark.sql import SparkSession

context = SparkSession.builder.getOrCreate().sparkContext
context.setLogLevel("ERROR")
print(f"driver: {os.getpid()}", flush=True)
number = 0
while not select.select([sys.stdin], [], [], 0)[0]:
    number += 1
    try:
        total = context.parallelize(range(100), 4).map(lambda value: value * value).sum()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is shown
        print(f"stopped: {type(error).__name__}", flush=True)
        sys.exit(3)
    print(f"round {number}: {total}", flush=True)
    time.sleep(1)
print("end", flush=True)
