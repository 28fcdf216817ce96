package org.apache.spark.scheduler.cluster.sparkgen

import java.time.Instant
import java.time.temporal.ChronoUnit

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.security.Credentials
import org.apache.hadoop.security.token.Token

import org.apache.spark.SparkConf
import org.apache.spark.internal.Logging
import org.apache.spark.security.HadoopDelegationTokenProvider

/**
 * A provider of tokens whose failure is tried again.
 *
 * Spark's providers write a warning and give nothing when their service is away, and Spark takes that for "never has to
 * be renewed": it asks again in millions of years, and executors that come later get no tokens at all. This one says
 * that it has to be asked again soon, and gives what it gave last meanwhile. `look` notices that it is not asked.
 *
 * @param retry  how long Spark is to wait after so many failures in a row; milliseconds
 * @param ratio  the part of a token's time after which Spark asks for the next one
 * @param heard  called when it has failed, or works again
 */
private[spark] final class GuardedTokenProvider(
    provider: HadoopDelegationTokenProvider,
    retry: Int => Long,
    ratio: Double,
    heard: () => Unit) extends HadoopDelegationTokenProvider with Logging {
  import GuardedTokenProvider._

  private var last = new Credentials
  private var expiresAt: Option[Long] = None
  /** When Spark has to ask for the next ones. */
  private var due: Option[Long] = None
  @volatile private var failing: Option[TokenFailure] = None

  override def serviceName: String = provider.serviceName

  override def delegationTokensRequired(conf: SparkConf, hadoopConf: Configuration): Boolean =
    provider.delegationTokensRequired(conf, hadoopConf)

  /** Why there are no new ones, while there are none. */
  def failure: Option[TokenFailure] = failing

  /** Tokens into `creds`; when Spark has to ask again by its own reckoning, milliseconds since 1970. */
  override def obtainDelegationTokens(hadoopConf: Configuration, conf: SparkConf, creds: Credentials): Option[Long] =
    synchronized {
      val fresh = new Credentials
      val (next, problem) = try {
        (provider.obtainDelegationTokens(hadoopConf, conf, fresh), None)
      } catch {
        case NonFatal(found) => (None, Some(found))
      }
      creds.addAll(last)
      creds.addAll(fresh)
      if (problem.isDefined || next.isEmpty && (expiresAt.isDefined || (names(last) -- names(fresh)).nonEmpty)) {
        failed(problem)
      } else {
        obtained(fresh, next)
      }
    }

  /** Tells of a failure when it is past the time at which Spark had to ask: where no login works, it asks nobody. */
  def look(now: Long): Unit = synchronized {
    for (end <- expiresAt; time <- due if failing.isEmpty && now > time + math.min(LatestMs, (end - time) / 4)) {
      logWarning(s"No new tokens of $serviceName: they were due at ${utc(time)}, and no login works to request " +
        s"them; Spark has logged the reason. ${untilThen(end)}")
      change(Some(TokenFailure(serviceName, time, 1, expiresAt)))
    }
  }

  private def obtained(fresh: Credentials, next: Option[Long]): Option[Long] = {
    failing.foreach { was => logInfo(s"Got new tokens of $serviceName; there were none since ${utc(was.since)}.") }
    last = fresh
    expiresAt = next
    due = next.map { end =>
      val now = System.currentTimeMillis
      now + ((end - now) * ratio).toLong
    }
    change(None)
    next
  }

  private def failed(problem: Option[Throwable]): Option[Long] = {
    val now = System.currentTimeMillis
    val failure = failing match {
      case Some(before) => before.copy(attempts = before.attempts + 1)
      case None => TokenFailure(serviceName, now, 1, expiresAt)
    }
    val left = expiresAt.map(end => math.max((end - now) / 2, retry(1)))
    val pause = (Seq(retry(failure.attempts)) ++ left).min
    logWarning(s"No new tokens of $serviceName: attempt ${failure.attempts} failed" +
      problem.fold("; Spark has logged the reason above this line")(found => s" ($found)") +
      expiresAt.fold(".")(end => s". ${untilThen(end)}") + s" Retrying in ${pause / 1000} s.")
    change(Some(failure))
    Some(now + (pause / ratio).toLong)
  }

  private def change(now: Option[TokenFailure]): Unit = if (failing != now) {
    failing = now
    heard()
  }
}

private[spark] object GuardedTokenProvider {
  /** How much later than it was due a renewal may begin: the renewals of other services take their time. */
  private val LatestMs = 30000L

  private def utc(milliseconds: Long): String = Instant.ofEpochMilli(milliseconds).truncatedTo(ChronoUnit.SECONDS).toString

  /** In words that are still true when the time has passed. */
  private def untilThen(end: Long): String = s"The current tokens expire at ${utc(end)}, and tasks fail from then on."

  /** Which tokens there are: by their service, as each renewal gives new ones of the same. */
  private def names(creds: Credentials): Set[String] =
    creds.getAllTokens.toArray.map { case token: Token[_] => s"${token.getKind} ${token.getService}" }.toSet
}
