package org.apache.spark.scheduler.cluster.sparkgen

/**
 * Compares the Spark of a driver outside the cluster with that of its executors: those of one minor version understand
 * each other.
 *
 * As ScalaLine, it must itself run on the wrong Scala line.
 */
private[spark] object SparkVersion {
  // `final` and without a type, the compiler copies it, as AllocatorAddress.Scheme.
  final val OfExecutors = "spark.sparkgen.sparkVersion"

  /** A message for the user when they cannot work together; null when they can, or `executors` is empty. */
  def problem(running: String, executors: String): String =
    if (executors.isEmpty || minor(running).equals(minor(executors))) {
      null
    } else {
      "sparkgen: this driver runs Spark " + running + ", but its executors run Spark " + executors + ", which is not " +
        "compatible. Use Spark " + executors + " for the driver (pip install pyspark==" + executors + "), or change " +
        "spec.sparkVersion and spec.image in the document."
    }

  /** "4.0" of "4.0.1" and of "4.0.1-vendor.2". */
  private def minor(version: String): String = {
    val second = version.indexOf('.', version.indexOf('.') + 1)
    if (second < 0) version else version.substring(0, second)
  }
}
