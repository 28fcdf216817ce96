package org.apache.spark.scheduler.cluster.sparkgen

import org.apache.spark.SparkConf

/**
 * Whether the driver listens where its executors connect. If another program has taken the port, Spark takes the next
 * one in silence (spark.port.maxRetries), and executors would connect to that program.
 */
private[spark] object DriverPort {
  /** The port that executors know, set where other programs of the machine can take it before Spark does. */
  val Expected = "spark.sparkgen.driver.port"
  private val Actual = "spark.driver.port" // SparkEnv sets it to the port that it has got

  /** Throws SparkgenException if the driver listens at another port. */
  def check(conf: SparkConf): Unit =
    for (expected <- conf.getOption(Expected); actual <- conf.getOption(Actual) if actual != expected) {
      throw new SparkgenException(
        s"sparkgen: another program took port $expected of this machine, where executors connect to the driver, and " +
          s"Spark listens at port $actual. Stop the other driver of this program (SparkContext.stop), or start again " +
          "with another port.")
    }
}
