"""The job of `make bench-sessions`: a session with a small shuffle, when it was opened, and its result there.

Prints a line of JSON, in seconds of Unix time. With an address in SPARK_REMOTE it waits until somebody
listens there, and not longer: so no pause between two attempts of a client is measured.
"""

import json
import os
import socket
import sys
import time
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

if remote := urlsplit(os.environ.get("SPARK_REMOTE", "")).netloc:
    host, _, port = remote.partition(":")
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            break
        except OSError:
            time.sleep(0.02)

opening = time.time()
spark = SparkSession.builder.getOrCreate()
groups = spark.range(0, 100_000, 1, 4).selectExpr("id % 7 AS k").groupBy("k").count().collect()
result = time.time()
if sorted(row.k for row in groups) != list(range(7)):
    sys.exit(f"wrong result: {groups}")
print(json.dumps({"opening": opening, "result": result}), flush=True)
spark.stop()
