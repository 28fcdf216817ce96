package org.apache.spark.scheduler.cluster.sparkgen

import java.util.UUID

import scala.concurrent.Future

import org.apache.spark.SparkContext
import org.apache.spark.deploy.security.HadoopDelegationTokenManager
import org.apache.spark.internal.config.{DECOMMISSION_ENABLED, SCHEDULER_MIN_REGISTERED_RESOURCES_RATIO}
import org.apache.spark.resource.ResourceProfile
import org.apache.spark.rpc.{RpcAddress, RpcCallContext}
import org.apache.spark.scheduler._
import org.apache.spark.scheduler.cluster.{CoarseGrainedSchedulerBackend, SchedulerBackendUtils}
import org.apache.spark.scheduler.cluster.CoarseGrainedClusterMessages.{RegisterExecutor, RemoveExecutor,
  UpdateDelegationTokens}
import org.apache.spark.util.Utils

/**
 * Translates between Spark and the allocator: Spark's calls become changes of the state, which the sender
 * delivers, and the allocator's reports become Spark's calls. Spark calls under its locks: nothing here does I/O.
 */
private[spark] class SparkgenSchedulerBackend(
    scheduler: SparkgenTaskScheduler,
    context: SparkContext,
    settings: Settings,
    slot: StateSlot) // given, because Spark's constructor makes the endpoint, and messages may come at once
  extends CoarseGrainedSchedulerBackend(scheduler, context.env.rpcEnv) {
  import SparkgenSchedulerBackend._

  // The default of Spark's backends for cluster managers that start executors on demand.
  protected override val minRegisteredRatio: Double =
    if (conf.get(SCHEDULER_MIN_REGISTERED_RESOURCES_RATIO).isEmpty) 0.8 else super.minRegisteredRatio

  private val initialTarget = SchedulerBackendUtils.getInitialTargetExecutorNumber(conf)
  private val language = Language.ofCaller()
  private val failure = new ApplicationFailure(context, scheduler, settings.failureGrace)
  private val client = new AllocatorClient(settings, Speaker.of(context.appName))
  private val sender = new Sender(slot, client, settings, failure.stop)
  private val poller = new ReportPoller(slot, client, follow, failure.stop)
  private val losses = new Losses(settings.verdictTimeout, giveUp)
  private val bounds = new ExecutorBounds(context, request)
  private val ofConnectServer = ConnectServer.isCaller()
  private val idleSessions = settings.connectIdleTimeout.map(new IdleSessions(_, IdleSessions.count _, rest))

  // --- life -----------------------------------------------------------------------------------------

  override def start(): Unit = {
    super.start()
    // Spark asks only for changes, and never without dynamic allocation: the beginning has to be said.
    request(Map(ResourceProfile.DEFAULT_RESOURCE_PROFILE_ID -> initialTarget))
    sender.start()
    poller.start()
    idleSessions.foreach(_.start())
  }

  override def stop(): Unit = {
    idleSessions.foreach(_.stop())
    slot.update(_.copy(stopped = true)) // first: an executor that leaves now is no loss
    Utils.tryLogNonFatalError(super.stop())
    if (slot.awaitContact(0) && !slot.awaitAcknowledged(StopMs)) {
      logInfo("The allocator has not acknowledged the end. It removes the executors when this process exits.")
    }
    sender.stop()
    poller.stop()
    losses.stop()
    if (ofConnectServer) {
      ConnectServer.endSoon()
    }
  }

  /** The allocator names the application, because its pods carry the name before this process runs. */
  override def applicationId(): String = slot.current.applicationId

  override def sufficientResourcesRegistered(): Boolean = {
    failure.rethrow() // Spark asks this while it waits in the context's constructor: there the message is heard
    // In a session the first answer may be that another driver is there: so it is waited for, too.
    val known = !settings.inSession || slot.awaitContact(0)
    known && totalRegisteredExecutors.get() >= initialTarget * minRegisteredRatio
  }

  override protected def createTokenManager(): Option[HadoopDelegationTokenManager] =
    Some(new SparkgenTokenManager(conf, context.hadoopConfiguration, driverEndpoint, settings.tokenRetryPause,
      failures => slot.update(_.copy(tokenFailures = failures))))

  // --- what Spark wants -----------------------------------------------------------------------------

  override def doRequestTotalExecutors(wanted: Map[ResourceProfile, Int]): Future[Boolean] = {
    val targets = wanted.map { case (profile, count) => profile.id -> count }
    val profiles = wanted.map { case (profile, _) => profile.id -> ProfileNeeds.of(profile, conf, language) }
    slot.update(_.wanting(targets, profiles, rpHostToLocalTaskCount))
    Future.successful(true)
  }

  override def doKillExecutors(ids: Seq[String]): Future[Boolean] = {
    slot.update(_.killing(ids))
    ids.foreach(removeExecutor(_, ExecutorKilled)) // which tells the executor to stop
    Future.successful(true)
  }

  override def decommissionExecutors(
      executors: Array[(String, ExecutorDecommissionInfo)],
      adjustTargetNumExecutors: Boolean,
      triggeredByExecutor: Boolean): Seq[String] = {
    val ids = super.decommissionExecutors(executors, adjustTargetNumExecutors, triggeredByExecutor)
    slot.update(_.draining(ids))
    ids
  }

  /** Spark asks this as the last thing before it registers an executor: a yes is the registration. */
  override protected def isExecutorExcluded(id: String, host: String): Boolean =
    !slot.modify(_.admitting(id, host))

  override def createDriverEndpoint(): DriverEndpoint = new SparkgenDriverEndpoint

  private class SparkgenDriverEndpoint extends DriverEndpoint {

    private val ofSpark = super.receive
    private val removal: PartialFunction[Any, Unit] = {
      case message @ RemoveExecutor(id, _) =>
        ofSpark(message)
        slot.update(_.killing(Seq(id)))
    }
    private val all = removal.orElse(ofSpark)

    override def receive: PartialFunction[Any, Unit] = all

    /**
     * An executor that has asked for its configuration just before an update, and registers just after it, has heard of
     * neither: it is told the current tokens.
     */
    override def receiveAndReply(call: RpcCallContext): PartialFunction[Any, Unit] = {
      val ofSpark = super.receiveAndReply(call)
      val registration: PartialFunction[Any, Unit] = {
        case message: RegisterExecutor =>
          ofSpark(message)
          Option(currentDelegationTokens).foreach(tokens => message.executorRef.send(UpdateDelegationTokens(tokens)))
      }
      registration.orElse(ofSpark)
    }

    override def onDisconnected(address: RpcAddress): Unit = addressToExecutorId.get(address).foreach { id =>
      if (executorsPendingDecommission.contains(id)) {
        removeExecutor(id, ExecutorDecommission(None))
      } else if (disableExecutor(id)) {
        hold(id)
      }
    }
  }

  // --- what the allocator reports -------------------------------------------------------------------

  private def follow(report: Report): Unit = {
    scheduler.learn(report.nodes)
    val gone = slot.modify { state =>
      val known = report.gone.filter { case (id, _) => state.status(id).exists(_ != Status.Refused) }
      val losses = known.map { case (id, verdict) => (id, verdict, state.status(id), state.host(id)) }
      (state.without(known.keys).refusing(report.refuse), losses)
    }
    gone.foreach { case (id, verdict, status, host) =>
      if (!status.contains(Status.Killed)) { // Spark has not removed it already
        removeExecutor(id, verdict.lossReason(host, settings.filesGoWithPods))
      }
      if (verdict.takesFiles(settings.filesGoWithPods)) {
        forgetFiles(id, host, verdict.message)
      }
    }
    report.bounds.foreach(bounds.follow)
    if (report.hold) {
      decommissionAll()
    }
    removeIdleDraining()
    report.failure.foreach(failure.stop)
  }

  /** No task starts on an executor any more, those that run end first. Spark's target stays as it is. */
  private def decommissionAll(): Unit = {
    val active = getExecutorIds().filter(isExecutorActive).map(_ -> ExecutorDecommissionInfo("The application is held"))
    if (active.nonEmpty) {
      decommissionExecutors(active.toArray, adjustTargetNumExecutors = false, triggeredByExecutor = false)
    }
  }

  /** Without spark.decommission.enabled, an executor does not end by itself when its tasks have ended. */
  private def removeIdleDraining(): Unit = if (!conf.get(DECOMMISSION_ENABLED)) {
    val draining = getExecutorIds().filter(slot.current.status(_).contains(Status.Draining))
    if (draining.nonEmpty) {
      killExecutors(draining, adjustTargetNumExecutors = false, countFailures = false, force = false)
    }
  }

  private def hold(id: String): Unit = {
    val held = slot.modify { state =>
      val next = state.losing(id)
      (next, next.status(id).contains(Status.Lost) && !state.stopped)
    }
    if (held) {
      losses.hold(id)
    }
  }

  private def giveUp(id: String): Unit = if (slot.current.status(id).contains(Status.Lost)) {
    val message = s"The connection to executor $id broke, and the allocator has not reported why within " +
      s"${settings.verdictTimeout / 1000} s"
    val host = if (settings.filesGoWithPods) slot.current.host(id) else None
    removeExecutor(id, ExecutorProcessLost(message, host))
    forgetFiles(id, host, message)
  }

  /**
   * Has Spark compute again what was written on a host. The reason of a loss that was held back does not do it:
   * TaskSchedulerImpl.executorLost hands only the first reason on to the DAGScheduler, LossReasonPending.
   */
  private def forgetFiles(id: String, host: Option[String], message: String): Unit =
    host.foreach(removeWorker(id, _, message))

  /** While nobody has a session no executor is wanted; those there are go, with what Spark would keep them for. */
  private def rest(idle: Boolean): Unit = {
    slot.update(_.copy(idle = idle))
    if (idle && getExecutorIds().nonEmpty) {
      killExecutors(getExecutorIds(), adjustTargetNumExecutors = false, countFailures = false, force = true)
    }
  }

  private def request(targets: Map[Int, Int]): Unit =
    requestTotalExecutors(targets, numLocalityAwareTasksPerResourceProfileId, rpHostToLocalTaskCount)
}

private[spark] object SparkgenSchedulerBackend {
  private val StopMs = 2000L

  def make(scheduler: SparkgenTaskScheduler, context: SparkContext, settings: Settings): SparkgenSchedulerBackend = {
    val applicationId = context.conf.getOption("spark.app.id").getOrElse(s"spark-${UUID.randomUUID()}")
    val state = DriverState(applicationId, Utils.isDynamicAllocationEnabled(context.conf))
    new SparkgenSchedulerBackend(scheduler, context, settings, new StateSlot(state))
  }
}
