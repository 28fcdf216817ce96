"""A stream that never ends: rows from a clock, counted batch by batch."""

from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()


def tell(batch: object, number: int) -> None:
    """Say that a batch is done."""
    print(f"batch {number}: {spark.sparkContext.applicationId}", flush=True)


rows = spark.readStream.format("rate").option("rowsPerSecond", 1).load()
rows.writeStream.foreachBatch(tell).trigger(processingTime="1 second").start().awaitTermination()
