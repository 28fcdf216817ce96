package org.apache.spark.examples

import scala.math.random

import org.apache.spark.sql.SparkSession

/** Pi by throwing darts: `SparkPi [slices]` prints "Pi is roughly 3.14...", as Spark's own example does. */
object SparkPi {
  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder().appName("Spark Pi").getOrCreate()
    val slices = if (args.nonEmpty) args(0).toInt else 2
    val darts = math.min(100000L * slices, Int.MaxValue).toInt
    val hits = spark.sparkContext
      .parallelize(1 until darts, slices)
      .map { _ =>
        val x = random() * 2 - 1
        val y = random() * 2 - 1
        if (x * x + y * y <= 1) 1 else 0
      }
      .reduce(_ + _)
    println(s"Pi is roughly ${4.0 * hits / (darts - 1)}")
    spark.stop()
  }
}
