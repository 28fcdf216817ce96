package org.apache.spark.examples

import org.apache.spark.sql.SparkSession

/** Counts the words of the file that the first argument names, as the Java example of this name does. */
object JavaWordCount {
  def main(args: Array[String]): Unit = {
    val spark = SparkSession.builder.appName("JavaWordCount").getOrCreate()
    val words = spark.read.textFile(args(0)).rdd.flatMap(_.split(" ")).map((_, 1))
    words.reduceByKey(_ + _).collect().foreach { case (word, count) => println(s"$word: $count") }
    spark.stop()
  }
}
