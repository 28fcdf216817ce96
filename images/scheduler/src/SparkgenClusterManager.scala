package org.apache.spark.scheduler.cluster.sparkgen

import org.apache.spark.{SparkContext, SparkException}
import org.apache.spark.scheduler.{ExternalClusterManager, SchedulerBackend, TaskScheduler, TaskSchedulerImpl}

/** Makes Spark know masters of the form `sparkgen://HOST:PORT`. Spark finds it through META-INF/services. */
private[spark] class SparkgenClusterManager extends ExternalClusterManager {

  override def canCreate(masterUrl: String): Boolean = masterUrl.startsWith(AllocatorAddress.Scheme)

  override def createTaskScheduler(context: SparkContext, masterUrl: String): TaskScheduler = {
    var problem = SparkVersion.problem(context.version, context.conf.get(SparkVersion.OfExecutors, ""))
    if (problem == null) {
      problem = ScalaLine.problem()
    }
    if (problem != null) { // SparkgenException is a Scala class: on the wrong line it may not even load
      throw new SparkException(problem)
    }
    ResourceProfiles.allow(context.resourceProfileManager)
    new SparkgenTaskScheduler(context)
  }

  override def createSchedulerBackend(
      context: SparkContext,
      masterUrl: String,
      scheduler: TaskScheduler): SchedulerBackend = {
    DriverPort.check(context.conf)
    val settings = Settings.read(context.conf, masterUrl)
    Mismatch.check(context.conf, settings.onMismatch)
    Mismatch.checkPatch(context.version, context.conf)
    SparkgenSchedulerBackend.make(scheduler.asInstanceOf[SparkgenTaskScheduler], context, settings)
  }

  override def initialize(scheduler: TaskScheduler, backend: SchedulerBackend): Unit =
    scheduler.asInstanceOf[TaskSchedulerImpl].initialize(backend)
}
