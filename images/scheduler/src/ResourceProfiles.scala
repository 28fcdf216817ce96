package org.apache.spark.scheduler.cluster.sparkgen

import scala.util.control.NonFatal

import org.apache.spark.resource.ResourceProfileManager

/**
 * Lets applications use resource profiles.
 *
 * ResourceProfileManager accepts a second profile only from masters that Spark knows, and remembers in private
 * fields which one it has. Executors come here as they do from Kubernetes, so it is told that it is there.
 */
private[spark] object ResourceProfiles {
  private val FieldName = "isK8s"

  /** Stops the application when this Spark cannot be told: a half-working scheduler would be worse. */
  def allow(manager: ResourceProfileManager): Unit =
    try {
      val field = classOf[ResourceProfileManager].getDeclaredField(FieldName)
      field.setAccessible(true)
      field.setBoolean(manager, true)
    } catch {
      case NonFatal(problem) => throw new SparkgenException(
        s"sparkgen: this version of Spark (${org.apache.spark.SPARK_VERSION}) is not supported: resource profiles " +
          s"cannot be allowed ($problem). Use a version that sparkgen lists as tested, or a newer sparkgen.")
    }
}
