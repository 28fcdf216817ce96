package org.apache.spark.scheduler.cluster.sparkgen

/** How long to wait before the next attempt: 0.1 s after the first failure, doubled up to 5 s. */
private[spark] object Pauses {
  private val FirstMs = 100L
  private val LongestMs = 5000L

  /** Milliseconds after `failures` failures in a row (1 and more). */
  def after(failures: Int): Long = math.min(FirstMs << math.min(failures - 1, 10), LongestMs)
}
