"""Driver and executors print lines; the driver fails once a file is there.

An argument: the file, in the driver's container.
"""

import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession


def talk(number):
    """Print a line in an executor."""
    print(f"task {number} works", flush=True)


spark = SparkSession.builder.getOrCreate()
spark.sparkContext.parallelize(range(8), 8).foreach(talk)
print("the driver works", flush=True)
while not Path(sys.argv[1]).exists():
    time.sleep(0.5)
print("these are its last words", flush=True)
sys.exit(3)
