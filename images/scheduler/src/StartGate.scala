package org.apache.spark.scheduler.cluster.sparkgen

import org.apache.spark.scheduler.cluster.CoarseGrainedClusterMessages.LaunchedExecutor

/**
 * Keeps tasks waiting until enough executors have registered, instead of the driver's thread.
 *
 * Spark's own backends make the context's constructor wait, so that a first stage does not crowd onto the first
 * executor. What the program does next rarely needs executors, though: it makes a session, reads schemas, plans.
 * So the program goes on, and executors that have come are offered no task before the gate opens: Spark counts
 * their cores as free from `LaunchedExecutor` on, and that message is what the gate keeps. Once open, it stays so.
 *
 * @param holds whether it does: otherwise the constructor waits, as in Spark
 */
private[spark] final class StartGate(val holds: Boolean) {
  private var kept = Vector.empty[Any] // of the endpoint's thread
  @volatile private var opened = !holds

  def isOpen: Boolean = opened

  /** Those messages that Spark shall handle now, in their order; `enough` says whether the gate may open. */
  def through(message: Any, enough: => Boolean): Seq[Any] = {
    message match {
      case launched: LaunchedExecutor => kept :+= launched
      case _ => // an offer of what is free: nothing is, yet, and the messages that are kept bring the offers
    }
    if (enough) {
      opened = true
      val all = kept
      kept = Vector.empty
      all
    } else {
      Nil
    }
  }
}
