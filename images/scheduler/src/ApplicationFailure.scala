package org.apache.spark.scheduler.cluster.sparkgen

import java.util.concurrent.atomic.AtomicReference

import scala.util.control.NonFatal

import org.apache.hadoop.util.ShutdownHookManager

import org.apache.spark.SparkContext
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.TaskSchedulerImpl

/**
 * Ends an application that cannot go on, so that its process exits with a code other than 0, whatever user code
 * does: running jobs fail with the message, the context is stopped, and a driver that then neither ends (it waits
 * for something else) nor fails (it caught the exception) is ended after a grace time.
 *
 * @param graceMs None: in a session. The process goes on, as its user may make another context in it; when that one
 *                has not failed, the exit code is the user's own.
 */
private[spark] final class ApplicationFailure(context: SparkContext, scheduler: TaskSchedulerImpl, graceMs: Option[Long])
  extends Logging {
  import ApplicationFailure._

  latest.set(this)

  private val reason = new AtomicReference[String]

  /** Throws what has ended the application, if anything has. */
  def rethrow(): Unit = Option(reason.get).foreach(text => throw new SparkgenException(text))

  /** Ends the application, once; returns at once. */
  def stop(message: String): Unit = {
    val text = s"sparkgen: $message"
    if (reason.compareAndSet(null, text)) {
      logError(text)
      exitWithFailure()
      Threads.daemon("sparkgen-failure")(end(text)).start()
    }
  }

  private def end(text: String): Unit = {
    try scheduler.error(text) catch {
      case NonFatal(_) => // it throws when no job runs that could be told
    }
    Thread.sleep(HeardMs)
    context.stopInNewThread()
    graceMs.foreach { grace =>
      Thread.sleep(grace)
      logError(s"The application should have stopped ${grace / 1000} s ago, but is still running: killing it. $text")
      System.exit(ExitCode)
    }
  }

  private def isLast: Boolean = graceMs.isDefined || (latest.get eq this)

  /** The last of Hadoop's hooks, which close file systems, and of Spark's, which run within them. */
  private def exitWithFailure(): Unit =
    try {
      ShutdownHookManager.get.addShutdownHook(
        new Runnable { override def run(): Unit = if (isLast) Runtime.getRuntime.halt(ExitCode) }, LastPriority)
    } catch {
      case _: IllegalStateException => // the JVM is ending already
    }
}

private[spark] object ApplicationFailure {
  /** Of the context that was made last. */
  private val latest = new AtomicReference[ApplicationFailure]
  private val ExitCode = 1
  private val LastPriority = 0
  /** Until the context is stopped, so that jobs, and a constructor of the context, fail with the message first. */
  private val HeardMs = 1000L
}
