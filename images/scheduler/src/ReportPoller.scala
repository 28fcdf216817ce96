package org.apache.spark.scheduler.cluster.sparkgen

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging

/**
 * The thread that waits for the allocator's reports.
 *
 * @param receive takes each new report
 * @param fail    stops the application with a message
 */
private[spark] final class ReportPoller(
    slot: StateSlot,
    client: AllocatorClient,
    receive: Report => Unit,
    fail: String => Unit) extends Logging {
  import ReportPoller._

  private var last: Option[Report] = None
  private var failures = 0
  @volatile private var ended = false

  private val thread = Threads.daemon("sparkgen-report-poller") {
    while (!ended && !slot.awaitContact(ContactMs)) {}
    while (!ended) {
      try step() catch {
        case NonFatal(problem) =>
          logWarning("Could not apply a report from the allocator", problem)
          Thread.sleep(AfterFaultMs)
      }
    }
  }

  def start(): Unit = thread.start()

  def stop(): Unit = {
    ended = true
    client.close()
    thread.interrupt()
  }

  private def step(): Unit = client.getReport(last.fold("")(_.tag)) match {
    case Answer.Ok(body) =>
      reached()
      follow(Some(Report.read(body)))
    case Answer.NoNews =>
      reached()
      follow(last) // what could not be done the first time, as while the context was still being made
    case Answer.Refused(message) =>
      if (!ended) {
        ended = true
        fail(message)
      }
    case Answer.Unreachable(_) => missed()
  }

  private def follow(report: Option[Report]): Unit = {
    last = report
    if (!ended) {
      report.foreach(receive)
    }
  }

  /** After a break the allocator may be another process, which knows nothing of this driver yet. */
  private def reached(): Unit = if (failures > 0) {
    failures = 0
    slot.sendAgain()
  }

  /** The sender tells the user, and tries with the state: this thread only waits. */
  private def missed(): Unit = if (!ended) {
    failures += 1
    if (failures == 1) {
      slot.sendAgain()
    }
    Thread.sleep(Pauses.after(failures))
  }
}

private[spark] object ReportPoller {
  private val ContactMs = 1000L
  private val AfterFaultMs = 5000L
}
