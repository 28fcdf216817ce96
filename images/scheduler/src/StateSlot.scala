package org.apache.spark.scheduler.cluster.sparkgen

import java.util.concurrent.TimeUnit

/** A state and its number; numbers count from 1. */
private[spark] final case class Numbered(state: DriverState, revision: Long)

/**
 * Holds the one current state, between Spark's threads, which change it, and the sender, which delivers it.
 *
 * Spark's threads hold Spark's locks while they are here: a change is a pure function, and nothing waits but
 * the sender.
 */
private[spark] final class StateSlot(initial: DriverState) {
  private var state = initial
  private var revision = 1L
  private var acknowledged = 0L
  private var sendAnyway = false

  def current: DriverState = synchronized(state)

  /** Changes the state, and returns what `change` says beside it. */
  def modify[A](change: DriverState => (DriverState, A)): A = synchronized {
    val (next, result) = change(state)
    if (next != state) {
      state = next
      revision += 1
      notifyAll()
    }
    result
  }

  def update(change: DriverState => DriverState): Unit = modify(state => (change(state), ()))

  /** Has the state sent again, though it has been acknowledged: the allocator may have been restarted. */
  def sendAgain(): Unit = synchronized {
    sendAnyway = true
    notifyAll()
  }

  /** Waits until there is something to send, `milliseconds` at most; the current state in either case. */
  def awaitNews(milliseconds: Long): Numbered = synchronized {
    waitUntil(milliseconds)(sendAnyway || revision > acknowledged)
    sendAnyway = false
    Numbered(state, revision)
  }

  def acknowledge(delivered: Long): Unit = synchronized {
    acknowledged = math.max(acknowledged, delivered)
    notifyAll()
  }

  /** Waits until the current state has been acknowledged; whether it has. */
  def awaitAcknowledged(milliseconds: Long): Boolean = synchronized {
    waitUntil(milliseconds)(acknowledged >= revision)
  }

  /** Waits until any state has been acknowledged: then the allocator knows this driver. */
  def awaitContact(milliseconds: Long): Boolean = synchronized {
    waitUntil(milliseconds)(acknowledged > 0)
  }

  private def waitUntil(milliseconds: Long)(condition: => Boolean): Boolean = {
    val deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(milliseconds)
    var left = milliseconds
    while (!condition && left > 0) {
      wait(left)
      left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())
    }
    condition
  }
}
