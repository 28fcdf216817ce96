package org.apache.spark.scheduler.cluster.sparkgen

import java.nio.file.{Path, Paths}

import org.apache.spark.SparkConf

/**
 * What the configuration says to the scheduler. Times are milliseconds.
 *
 * @param allocatorTimeout how long an allocator that has never answered is waited for
 * @param verdictTimeout   how long a lost executor waits for the cluster's word on why
 * @param failureGrace     how long user code has to end by itself after the application has failed; None: for ever,
 *                         as in a session, where a person goes on in the same process
 * @param filesGoWithPods  whether the shuffle service that Spark counts on is in the executor's own pod, so that
 *                         what an executor has written goes with it
 * @param sessionTimeout   after so long an allocator that has answered before and cannot be reached has given up this
 *                         driver, one of several that come and go; None: it waits for its only driver
 * @param tokenRetryPause  how long after the first failed attempt to renew tokens the next one is made
 * @param connectIdleTimeout after so long without a session of its Connect server all executors go; None: as Spark says
 */
private[spark] final case class Settings(
    address: AllocatorAddress,
    tokenFile: Path,
    allocatorTimeout: Long,
    verdictTimeout: Long,
    failureGrace: Option[Long],
    filesGoWithPods: Boolean,
    onMismatch: OnMismatch,
    tokenRetryPause: Long,
    sessionTimeout: Option[Long] = None,
    connectIdleTimeout: Option[Long] = None) {

  /** Whether this driver is one of several at its allocator, one after the other. */
  def inSession: Boolean = sessionTimeout.isDefined
}

private[spark] object Settings {
  private val Prefix = "spark.sparkgen."
  private val FailureGraceMs = 30000L
  val TokenFile: String = Prefix + "tokenFile"
  val AllocatorTimeout: String = Prefix + "allocatorTimeout"
  val VerdictTimeout: String = Prefix + "verdictTimeout"
  val FailureGrace: String = Prefix + "failureGrace"
  val ShuffleServiceMode: String = Prefix + "shuffleService.mode"
  val OnMismatchKey: String = Prefix + "allocation.onMismatch"
  val TokenRetryPause: String = Prefix + "tokens.retryPause"
  val SessionTimeout: String = Prefix + "session.timeout"
  val ConnectIdleTimeout: String = Prefix + "connect.idleTimeout"

  /** The settings of `conf`; SparkgenException when one is missing or not understood. */
  def read(conf: SparkConf, masterUrl: String): Settings = Settings(
    address = AllocatorAddress.parse(masterUrl),
    tokenFile = Paths.get(conf.getOption(TokenFile).getOrElse(throw new SparkgenException(
      s"sparkgen: $TokenFile is not set. The allocator writes it into the properties of the session: start the " +
        "driver with them (spark-submit --properties-file /opt/sparkgen/session/spark.properties)."))),
    allocatorTimeout = conf.getTimeAsMs(AllocatorTimeout, "2m"),
    verdictTimeout = conf.getTimeAsMs(VerdictTimeout, "15s"),
    failureGrace = time(conf, FailureGrace).orElse(if (conf.contains(SessionTimeout)) None else Some(FailureGraceMs)),
    filesGoWithPods = conf.getOption(ShuffleServiceMode).contains("sidecar"),
    onMismatch = OnMismatch.parse(conf.get(OnMismatchKey, "fail")),
    tokenRetryPause = conf.getTimeAsMs(TokenRetryPause, "10s"),
    sessionTimeout = time(conf, SessionTimeout),
    connectIdleTimeout = time(conf, ConnectIdleTimeout))

  private def time(conf: SparkConf, property: String): Option[Long] =
    conf.getOption(property).map(_ => conf.getTimeAsMs(property))
}

/** What happens when the running configuration contradicts the reviewed one. */
private[spark] sealed trait OnMismatch

private[spark] object OnMismatch {
  case object Fail extends OnMismatch
  case object Warn extends OnMismatch

  def parse(text: String): OnMismatch = text match {
    case "fail" => Fail
    case "warn" => Warn
    case other =>
      throw new SparkgenException(s"sparkgen: ${Settings.OnMismatchKey} must be fail or warn, not $other.")
  }
}

/** Where the allocator listens: always the loopback address of the driver's own pod or machine, in practice. */
private[spark] final case class AllocatorAddress(hostAndPort: String) {
  def url: String = s"http://$hostAndPort"
  override def toString: String = hostAndPort
}

private[spark] object AllocatorAddress {
  // `final` and without a type, the compiler copies it: Spark asks by it before the Scala line is checked.
  final val Scheme = "sparkgen://"
  private val HostAndPort = """([\w.-]+|\[[0-9a-fA-F:.]+\]):\d{1,5}""".r.pattern

  def parse(masterUrl: String): AllocatorAddress = {
    val rest = masterUrl.substring(Scheme.length)
    if (!HostAndPort.matcher(rest).matches) {
      throw new SparkgenException(s"sparkgen: the master must be sparkgen://HOST:PORT, not $masterUrl.")
    }
    AllocatorAddress(rest)
  }
}
