package org.apache.spark.scheduler.cluster.sparkgen

/** Threads that keep no JVM alive, and end quietly when they are interrupted. */
private[spark] object Threads {

  def daemon(name: String)(body: => Unit): Thread = {
    val thread = new Thread(new Runnable {
      override def run(): Unit =
        try body catch {
          case _: InterruptedException =>
        }
    }, name)
    thread.setDaemon(true)
    thread
  }
}
