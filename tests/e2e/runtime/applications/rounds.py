"""Waves of work with pauses in which executors become idle and go: each wave needs new ones.

An argument: a file in the driver's container, after whose appearance the application ends.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
wave = 0
while not Path(sys.argv[1]).exists():
    wave += 1
    print(f"wave {wave}: {spark.sparkContext.parallelize(range(4), 2).sum()}", flush=True)
    time.sleep(4)
spark.stop()
