"""A shuffle whose map output is used twice, with a pause between that lasts until a file appears.

An argument: the file, in the driver's container.
"""

import sys
import time
from operator import add
from pathlib import Path

from pyspark.sql import SparkSession

context = SparkSession.builder.getOrCreate().sparkContext
sums = context.parallelize(range(1000), 4).map(lambda number: (number % 5, number)).reduceByKey(add, 4)
print("first:", sums.values().sum(), flush=True)
while not Path(sys.argv[1]).exists():
    time.sleep(0.5)
print("second:", sums.values().sum(), flush=True)
context.stop()
