"""Counts orders per country: a module and a table that lie beside this script are on every executor, too."""

from cleaning import cleaned
from pyspark.sql import SparkSession

ORDERS = [("1", " de"), ("2", "FR "), ("3", "de"), ("4", "xx")]


def main() -> None:
    """Clean the orders on the executors, and print how many there are for each country."""
    spark = SparkSession.builder.appName("orders").getOrCreate()
    found = spark.sparkContext.parallelize(ORDERS, 2).mapPartitions(cleaned).countByValue()
    for country, count in sorted(found.items()):
        print(f"{country}: {count}", flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
