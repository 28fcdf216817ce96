package org.apache.spark.scheduler.cluster.sparkgen

import org.apache.hadoop.util.ShutdownHookManager

import org.apache.spark.internal.Logging

/**
 * Ends the process of Spark's Connect server some time after its SparkContext has stopped.
 *
 * The server's main method waits for its gRPC server alone. Without a context that would go on listening, and fail
 * every query: nobody would start the next one.
 */
private[spark] object ConnectServer extends Logging {
  private val Main = "org.apache.spark.sql.connect.service.SparkConnectServer"
  private val ExitCode = 1
  /** Until the process ends: clients ask why their queries have failed. Who comes in that time is refused in vain. */
  private val HeardMs = 2000L

  /** Whether Spark's Connect server makes the context: ask in the thread that runs its constructor. */
  def isCaller(): Boolean = Thread.currentThread.getStackTrace.exists(_.getClassName.stripSuffix("$") == Main)

  /** Ends the process soon, unless it is ending already; returns at once. */
  def endSoon(): Unit = Threads.daemon("sparkgen-connect-server-end") {
    Thread.sleep(HeardMs)
    if (!ShutdownHookManager.get.isShutdownInProgress) {
      logError("The SparkContext of this Connect server has stopped: ending its process, so that the next one serves.")
      System.exit(ExitCode)
    }
  }.start()
}
