package org.apache.spark.scheduler.cluster.sparkgen

import java.util.concurrent.TimeUnit

import scala.util.Try

import org.apache.spark.internal.Logging
import org.apache.spark.util.Utils

/**
 * Tells when a Connect server in this driver has had no session for a time, and when it has one again.
 *
 * Spark keeps executors with cached or shuffled data, and the end of a session frees neither.
 *
 * @param timeoutMs how long there is no session before that counts as idle
 * @param sessions  how many sessions there are now; None while that is not known, which never counts as idle
 * @param rest      is told at each look whether it is idle
 */
private[spark] final class IdleSessions(timeoutMs: Long, sessions: () => Option[Int], rest: Boolean => Unit)
  extends Logging {
  import IdleSessions._

  private val thread = Threads.daemon("sparkgen-idle-sessions")(watch())

  def start(): Unit = thread.start()

  def stop(): Unit = thread.interrupt()

  private def watch(): Unit = {
    var busyAt = System.nanoTime()
    var idle = false
    while (true) {
      Thread.sleep(LookMs)
      val none = sessions().contains(0)
      if (!none) {
        busyAt = System.nanoTime()
      }
      val now = none && TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - busyAt) >= timeoutMs
      if (now != idle) {
        idle = now
        logInfo(if (now) s"No session for ${timeoutMs / 1000} s: removing all executors." else "A session started.")
      }
      Utils.tryLogNonFatalError(rest(idle))
    }
  }
}

private[spark] object IdleSessions {
  private val LookMs = 1000L
  private val Service = "org.apache.spark.sql.connect.service.SparkConnectService$"

  /**
   * How many sessions the Connect server of this JVM has; None where there is none, or its version keeps them elsewhere.
   *
   * By reflection: before Spark 4 the server is in a package of its own, which this jar is not compiled with. Since
   * 4.0 a session manager lists them; 3.5 has a cache of its own, which drops those that have expired when it is asked.
   */
  def count(): Option[Int] = Try {
    val service = Utils.classForName[AnyRef](Service).getField("MODULE$").get(null)
    val methods = service.getClass.getDeclaredMethods
    methods.find(_.getName == "sessionManager") match {
      case Some(find) => call(find.invoke(service), "listActiveSessions").asInstanceOf[scala.collection.Iterable[_]].size
      case None =>
        val find = methods.find(_.getName.endsWith("userSessionMapping")).get
        find.setAccessible(true)
        val cache = find.invoke(service)
        call(cache, "cleanUp")
        call(cache, "size").asInstanceOf[Long].toInt
    }
  }.toOption

  private def call(target: AnyRef, name: String): AnyRef = {
    val method = target.getClass.getMethod(name)
    method.setAccessible(true)
    method.invoke(target)
  }
}
