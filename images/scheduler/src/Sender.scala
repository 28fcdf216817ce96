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

  private val startedAt = System.nanoTime()
  private var answered = false
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
    if (answered && failures == 1) {
      logWarning(s"The allocator at ${settings.address} does not answer ($why). Jobs go on with the executors there " +
        "are; until it answers again, none is added.")
    }
    val waited = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedAt)
    if (!answered && waited >= settings.allocatorTimeout) {
      ended = true
      fail(s"no allocator has answered at ${settings.address.url} for ${waited / 1000} s ($why). It is the container " +
        s"'allocator' of the driver's pod: read its log. The wait is set by ${Settings.AllocatorTimeout}.")
    } else {
      Thread.sleep(Pauses.after(failures))
      slot.sendAgain()
    }
  }
}

private[spark] object Sender {
  private val HeartbeatMs = 10000L
}
