"""Prints, as JSON, what driver and executors import from the image, and Spark's variables of an executor."""

import importlib
import importlib.util
import json
import os

from pyspark.sql import SparkSession


def look(_):
    """What this process has."""
    modules = [importlib.import_module(name) for name in ("rates", "module_of_a_folder", "zipped")]
    return {
        "modules": [module.VALUE for module in modules],
        "sibling": importlib.util.find_spec("sibling") is not None,
        "libraries": os.environ.get("LD_LIBRARY_PATH"),
        "executor": os.environ.get("SPARK_EXECUTOR_ID"),
        "attributes": [
            os.environ.get(f"SPARK_EXECUTOR_ATTRIBUTE_{name}") for name in ("APP_ID", "EXECUTOR_ID")
        ],
    }


context = SparkSession.builder.getOrCreate().sparkContext
driver = look(0)["modules"]
(executor,) = context.parallelize(range(1), 1).map(look).collect()
print(json.dumps({"id": context.applicationId, "driver": driver, "executor": executor}), flush=True)
