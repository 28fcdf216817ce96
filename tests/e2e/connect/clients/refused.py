"""A session that the server does not let begin: what its user is told."""

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

try:
    SparkSession.builder.getOrCreate().range(1).count()
except PySparkException as error:
    print(error)
