package org.apache.spark.scheduler.cluster.sparkgen

import java.util.concurrent.TimeUnit

import org.apache.spark.internal.Logging

/**
 * The thread that delivers the state: whenever it has changed, and every 10 s anyway, until it is acknowledged.
 *
 * @param fail stops the application with a message
 */
private[spark] final class Sender(
    slot: StateSlot,
    client: AllocatorClient,
    settings: Settings,
    fail: String => Unit) extends Logging {
  import Sender._

  private var answered = false
  private var missedAt = 0L
  private var failures = 0
  @volatile private var ended = false

  private val thread = Threads.daemon("sparkgen-sender")(while (!ended) step())

  def start(): Unit = thread.start()

  def stop(): Unit = {
    ended = true
    thread.interrupt()
  }

  private def step(): Unit = {
    val numbered = slot.awaitNews(HeartbeatMs)
    client.putState(numbered) match {
      case Answer.Ok(body) => delivered(math.min(numbered.revision, body.path("revision").asLong(0)))
      case Answer.NoNews => delivered(numbered.revision)
      case Answer.Refused(message) =>
        ended = true
        fail(message)
      case Answer.Unreachable(why) => missed(why)
    }
  }

  private def delivered(revision: Long): Unit = {
    if (!answered) {
      logInfo(s"The allocator at ${settings.address} answers.")
    } else if (failures > 0) {
      logInfo(s"The allocator at ${settings.address} is back.")
    }
    answered = true
    failures = 0
    slot.acknowledge(revision)
  }

  private def missed(why: String): Unit = {
    failures += 1
    if (failures == 1) {
      missedAt = System.nanoTime()
    }
    if (answered && failures == 1) {
      logWarning(s"The allocator at ${settings.address} does not answer ($why). Jobs continue with the current " +
        "executors; none is added until it answers.")
    }
    val waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - missedAt)
    val patience = if (answered) settings.sessionTimeout else Some(settings.allocatorTimeout)
    if (patience.exists(waited >= _)) {
      ended = true
      fail(if (answered) givenUp(waited / 1000, why) else neverAnswered(waited / 1000, why))
    } else {
      Thread.sleep(Pauses.after(failures))
      slot.sendAgain()
    }
  }

  private def neverAnswered(seconds: Long, why: String): String =
    s"no allocator has answered at ${settings.address.url} for $seconds s ($why). Read the log of the container " +
      "'allocator' in the driver's pod. If you started this driver with `sparkgen shell`, keep that command running, " +
      s"because the connection goes through it. To wait longer, set ${Settings.AllocatorTimeout}."

  private def givenUp(seconds: Long, why: String): String =
    s"the allocator at ${settings.address} could not be reached for $seconds s ($why). By now it has given up this driver " +
      "and removed its executors. Stop this SparkContext (`spark.stop()`), and create a new one; if `sparkgen shell` " +
      s"no longer runs, start it again first. To wait longer, set ${Settings.SessionTimeout}."
}

private[spark] object Sender {
  private val HeartbeatMs = 10000L
}
