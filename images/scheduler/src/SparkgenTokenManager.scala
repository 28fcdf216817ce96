package org.apache.spark.scheduler.cluster.sparkgen

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration

import org.apache.spark.SparkConf
import org.apache.spark.deploy.security.HadoopDelegationTokenManager
import org.apache.spark.internal.Logging
import org.apache.spark.internal.config.{CREDENTIALS_RENEWAL_INTERVAL_RATIO, CREDENTIALS_RENEWAL_RETRY_WAIT}
import org.apache.spark.rpc.RpcEndpointRef
import org.apache.spark.security.HadoopDelegationTokenProvider

/**
 * Spark's manager of delegation tokens, with a renewal that goes on after a failure of a service.
 *
 * @param retryPause after the first failure; milliseconds
 * @param heard      called with what cannot be renewed, whenever that changes
 */
private[spark] class SparkgenTokenManager(
    conf: SparkConf,
    hadoopConf: Configuration,
    endpoint: RpcEndpointRef,
    retryPause: Long,
    heard: Seq[TokenFailure] => Unit)
  extends HadoopDelegationTokenManager(SparkgenTokenManager.impatient(conf), hadoopConf, endpoint) {
  import SparkgenTokenManager._

  private var guarded = Seq.empty[GuardedTokenProvider]
  private val watch = Threads.daemon("sparkgen-tokens") {
    while (true) {
      Thread.sleep(LookMs)
      guarded.foreach(_.look(System.currentTimeMillis))
    }
  }

  // Without renewal they are asked once, and nobody asks again.
  if (renewalEnabled) {
    replaceProviders(this) { provider =>
      val guard = new GuardedTokenProvider(provider, pause, conf.get(CREDENTIALS_RENEWAL_INTERVAL_RATIO), () => tell())
      guarded = guarded :+ guard
      guard
    }
  }

  override def start(): Array[Byte] = {
    watch.start()
    super.start()
  }

  override def stop(): Unit = {
    watch.interrupt()
    super.stop()
  }

  private def tell(): Unit = heard(guarded.flatMap(_.failure).sortBy(_.service))

  private def pause(failures: Int): Long = math.min(retryPause << math.min(failures - 1, Doublings), LongestMs)
}

private[spark] object SparkgenTokenManager extends Logging {
  private val FieldName = "delegationTokenProviders"
  private val LongestMs = 300000L
  private val Doublings = 20
  private val LookMs = 1000L
  /** After a login that failed. Spark's default of an hour is more than the last quarter of many a token's time. */
  private val LoginRetryWait = "1m"

  private def impatient(conf: SparkConf): SparkConf =
    conf.clone.setIfMissing(CREDENTIALS_RENEWAL_RETRY_WAIT.key, LoginRetryWait)

  /** Puts others in the place of a manager's providers. Spark loads them itself, and keeps them in a private field. */
  private def replaceProviders(manager: HadoopDelegationTokenManager)(
      other: HadoopDelegationTokenProvider => HadoopDelegationTokenProvider): Unit =
    try {
      val field = classOf[HadoopDelegationTokenManager].getDeclaredField(FieldName)
      field.setAccessible(true)
      val providers = field.get(manager).asInstanceOf[Map[String, HadoopDelegationTokenProvider]]
      field.set(manager, providers.map { case (name, provider) => name -> other(provider) })
    } catch {
      case NonFatal(problem) =>
        logWarning(s"Tokens are renewed as Spark ${org.apache.spark.SPARK_VERSION} does it: if a service is down at a renewal, " +
          s"renewal stops ($problem).")
    }
}
