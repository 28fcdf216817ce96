package org.apache.spark.scheduler.cluster.sparkgen

import scala.util.control.NonFatal

import org.apache.spark.{ExecutorAllocationManager, SparkContext}
import org.apache.spark.internal.Logging

/**
 * Keeps the bounds of Spark's dynamic allocation as the reviewed tuning has them while the application runs.
 * ExecutorAllocationManager reads its bounds from the configuration once, into private fields.
 *
 * @param request tells Spark's backend the targets, by resource profile id
 */
private[spark] final class ExecutorBounds(context: SparkContext, request: Map[Int, Int] => Unit) extends Logging {
  private var applied: Option[Bounds] = None
  private var warned = false

  /** Applies `bounds` if they are new. Does nothing yet while the context is still being made. */
  def follow(bounds: Bounds): Unit =
    if (!applied.contains(bounds) && !warned) {
      context.executorAllocationManager.foreach { manager =>
        try {
          val changed = apply(manager, bounds)
          applied = Some(bounds)
          if (changed) {
            logInfo(s"Executor bounds are now ${describe(bounds)}.")
          }
        } catch {
          case NonFatal(problem) =>
            warned = true
            logWarning(s"This version of Spark cannot change executor bounds while it runs ($problem): they stay as " +
              "they were when the application started.")
        }
      }
    }

  /** The manager's monitor is held as its own methods hold it: it is always taken before the backend's. */
  private def apply(manager: ExecutorAllocationManager, bounds: Bounds): Boolean = manager.synchronized {
    val (minimum, maximum) = (bounds.minimum.getOrElse(0), bounds.maximum.getOrElse(Int.MaxValue))
    val changed = set(manager, "minNumExecutors", minimum) | set(manager, "maxNumExecutors", maximum)
    val targets = manager.numExecutorsTargetPerResourceProfileId
    val clamped = targets.toMap.map { case (id, target) => id -> math.min(math.max(target, minimum), maximum) }
    if (changed && clamped != targets.toMap) {
      targets ++= clamped
      request(clamped)
    }
    changed
  }

  private def set(manager: ExecutorAllocationManager, name: String, value: Int): Boolean = {
    val field = classOf[ExecutorAllocationManager].getDeclaredField(name)
    field.setAccessible(true)
    val changed = field.getInt(manager) != value
    field.setInt(manager, value)
    changed
  }

  private def describe(bounds: Bounds): String =
    s"${bounds.minimum.getOrElse(0)} to ${bounds.maximum.map(_.toString).getOrElse("unbounded")}"
}
