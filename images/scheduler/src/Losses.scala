package org.apache.spark.scheduler.cluster.sparkgen

import java.util.concurrent.{Executors, ThreadFactory, TimeUnit}

/**
 * Bounds how long a loss is held back: `expire(id)` is called when the verdict on `id` has not come in time.
 * Whoever is called must look whether it has come meanwhile.
 */
private[spark] final class Losses(timeoutMs: Long, expire: String => Unit) {
  private val timer = Executors.newSingleThreadScheduledExecutor(new ThreadFactory {
    override def newThread(body: Runnable): Thread = Threads.daemon("sparkgen-losses")(body.run())
  })

  def hold(id: String): Unit =
    timer.schedule(new Runnable { override def run(): Unit = expire(id) }, timeoutMs, TimeUnit.MILLISECONDS)

  def stop(): Unit = timer.shutdownNow()
}
